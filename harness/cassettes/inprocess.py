"""Recording and replaying in a Python process: vcrpy catches what its clients ask, the rest is as elsewhere.

vcrpy knows how to get between a program and its HTTP client. What is kept, compared and found is ours, so
that a cassette is the same whichever way it was recorded and is replayed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import msgspec
from vcr.cassette import Cassette as VcrCassette  # type: ignore[import-untyped]
from vcr.persisters.filesystem import CassetteNotFoundError  # type: ignore[import-untyped]
from vcr.record_mode import RecordMode  # type: ignore[import-untyped]

from .. import clock
from .model import Interaction
from .model import Request as Asked
from .pacing import patches, taken
from .player import Player
from .read import interaction_of
from .recorder import Recorder
from .replaying import kept_headers

LOOPBACK = ("localhost", "127.0.0.1", "::1")


class _Nowhere:
    """vcrpy neither reads nor writes a file."""

    @staticmethod
    def load_cassette(*_: Any, **__: Any) -> Any:
        raise CassetteNotFoundError

    @staticmethod
    def save_cassette(*_: Any, **__: Any) -> None:
        """It is written elsewhere."""


class Recorded(VcrCassette):  # type: ignore[misc]
    """Hands every exchange to a recorder. `problem` says what kept one from being recorded."""

    problem: Exception | None = None

    def begin(self, recorder: Recorder) -> None:
        """Record from now on."""
        self._recorder = recorder
        self._began = clock.now()

    def append(self, request: Any, response: Any) -> None:
        """Record one. Nothing is raised: it would be raised in the code that is recorded."""
        if self.problem is not None:
            return
        try:
            self._recorder.add(self._interaction(request, response))
        except Exception as error:  # noqa: BLE001
            self.problem = error

    def can_play_response_for(self, _: Any) -> bool:
        """Everything is asked anew."""
        return False

    def _interaction(self, request: Any, response: Any) -> Interaction:
        asked = {"method": request.method, "uri": request.uri, "headers": _lists(request.headers)}
        found = interaction_of(asked | {"body": request.body_bytes or b""}, response)
        arrived = taken()
        if arrived is None or arrived.raw != response["body"]["string"]:
            return found
        paced = arrived.response()
        # vcrpy hears of an exchange when it is over.
        took = (paced.head_at or 0.0) + (paced.pieces[-1].at if paced.pieces else 0.0)
        return msgspec.structs.replace(
            found, response=paced, asked_at=max(0.0, clock.now() - self._began - took)
        )


class Played(VcrCassette):  # type: ignore[misc]
    """Answers everything from a player, and lets nothing else through."""

    def begin(self, player: Player) -> None:
        """Answer from now on."""
        self._player = player

    def can_play_response_for(self, request: Any) -> bool:
        """Also what was not recorded is answered: with an error that says so."""
        return bool(self.filter_request(request))

    def play_response(self, request: Any) -> Any:
        """The answer, as vcrpy has it from a file."""
        headers = [(name, str(value)) for name, value in request.headers.items()]
        asked = Asked(
            method=request.method, uri=request.uri, headers=headers, body=_bytes(request.body_bytes)
        )
        response = self._player.ask(asked.method, asked.uri, asked.headers, asked.body).response
        found = _lists(dict.fromkeys(name for name, _ in kept_headers(response)))
        for name in found:
            found[name] = [value for each, value in kept_headers(response) if each == name]
        found["content-length"] = [str(len(response.body))]
        return {
            "status": {"code": response.status, "message": response.reason},
            "headers": found,
            "body": {"string": response.body},
        }


@contextmanager
def recorded(recorder: Recorder) -> Iterator[Recorded]:
    """While this lasts, everything that is asked goes to its server and to the recorder."""
    with (
        _quietly(),
        Recorded.use(
            path=str(recorder.path), persister=_Nowhere, record_mode=RecordMode.ALL, custom_patches=patches()
        ) as cassette,
    ):
        cassette.begin(recorder)
        yield cassette


@contextmanager
def played(player: Player) -> Iterator[None]:
    """While this lasts, everything is answered by the player."""
    with (
        _quietly(),
        Played.use(
            path=str(player.path),
            persister=_Nowhere,
            record_mode=RecordMode.NONE,
            before_record_request=_passing_over(player),
        ) as cassette,
    ):
        cassette.begin(player)
        yield


def _passing_over(player: Player) -> Callable[[Any], Any]:
    """Whom vcrpy does not hear: servers of this machine, unless one was recorded."""
    if any(host in LOOPBACK for host in player.hosts):
        return lambda request: request
    return lambda request: None if urlsplit(request.uri).hostname in LOOPBACK else request


@contextmanager
def _quietly() -> Iterator[None]:
    """Whole responses and addresses are logged by vcrpy, before anything is redacted."""
    logger = logging.getLogger("vcr")
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(before)


def _lists(headers: Any) -> dict[str, list[str]]:
    return {name: [value] for name, value in headers.items()}


def _bytes(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else bytes(body or b"")
