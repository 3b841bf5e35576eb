"""Can this process reach its own loopback? If a plugin keeps it from that: which, and what lets it in."""

from __future__ import annotations

import http.client
import socket
import sys
from types import TracebackType
from urllib.parse import urlsplit

_LETS_THROUGH = {
    "pytest_socket": (
        "pytest-socket blocks it. Let the loopback through with --allow-hosts=127.0.0.1 in place of "
        "--disable-socket, or for this test with @pytest.mark.allow_hosts(['127.0.0.1'])"
    ),
    "pytest_recording": (
        "pytest-recording blocks it. Let the loopback through with --allowed-hosts=127.0.0.1, or for this "
        "test with @pytest.mark.block_network(allowed_hosts=['127.0.0.1'])"
    ),
    "vcr": (
        "a cassette is in the way. Let the loopback through with ignore_localhost: `vcr_config` returning "
        "{'ignore_localhost': True}, or vcr.VCR(ignore_localhost=True)"
    ),
}


class Unreachable(Exception):  # noqa: N818 - it reads as what it says
    """The fake provider cannot be reached from here; the message says why and what lets it through."""


def check_sockets() -> None:
    """Make a socket. Raises `Unreachable` where that is blocked.

    To be asked before an event loop is made: one that gets no sockets is left half made, and warns when it is
    collected.
    """
    try:
        socket.socket().close()
    except Exception as error:
        raise unreachable(error) from error


def check_reachable(url: str) -> None:
    """Connect to `url` as a test's client would. Raises `Unreachable`."""
    if _a_cassette_would_record(url):
        raise Unreachable(_message("vcr"))
    place = urlsplit(url)
    try:
        with socket.socket() as bare:  # one that `http.client` makes would stay open where this is blocked
            bare.settimeout(5)
            bare.connect((place.hostname or "", place.port or 80))
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=5)
        try:
            connection.request("GET", "/v1/models")
            connection.getresponse().read()
        finally:
            connection.close()
    except Exception as error:
        raise unreachable(error) from error


def unreachable(error: BaseException) -> Unreachable:
    """What `error`, met while starting the fake provider or connecting to it, comes to."""
    for module in _modules_of(error):
        for package in _LETS_THROUGH:
            if module.partition(".")[0] == package:
                return Unreachable(_message(package))
    return Unreachable(f"loop-harness cannot be reached on the loopback: {type(error).__name__}: {error}")


def _message(package: str) -> str:
    return f"loop-harness serves on 127.0.0.1, and {_LETS_THROUGH[package]}."


def _modules_of(error: BaseException) -> list[str]:
    """Names of the modules whose code the error came through, the innermost first."""
    names: list[str] = []
    cause: BaseException | None = error
    while cause is not None:
        trace: TracebackType | None = cause.__traceback__
        found: list[str] = []
        while trace is not None:
            found.append(str(trace.tb_frame.f_globals.get("__name__", "")))
            trace = trace.tb_next
        names += reversed(found)
        cause = cause.__cause__ or cause.__context__
    return names


def _a_cassette_would_record(url: str) -> bool:
    """A recording cassette lets requests pass and keeps them: nothing fails, and the file is spoilt.

    vcrpy is not imported for this: where it is not loaded, no cassette is in use.
    """
    cassette = getattr(http.client.HTTPConnection, "cassette", None)
    requests = sys.modules.get("vcr.request")
    if cassette is None or requests is None:
        return False
    request = requests.Request("GET", f"{url}/v1/models", None, {})
    return cassette.filter_request(request) is not None
