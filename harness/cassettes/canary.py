"""The last look at what is about to be written: a file in which a known secret survived is not written.

It knows nothing of how secrets are redacted, only what they are, and looks for them in every form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import unquote, unquote_plus

from .edits import unescaped
from .fragments import joined
from .model import Interaction
from .secrets import forms


class LeakError(Exception):
    """A known secret survived. The message says which and where, and never the secret itself."""


class Canary:
    """Looks for secrets. `known` maps each to what a message may call it."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = known
        self._forms: dict[str, tuple[str, ...]] = {}

    def check(self, interaction: Interaction) -> None:
        """Raise `LeakError` where a secret is in the interaction, in whatever form."""
        for where, text in _texts(interaction):
            for secret, name in self._known.items():
                if secret not in self._forms:
                    self._forms[secret] = tuple(forms(secret))
                if any(form in text for form in self._forms[secret]):
                    raise LeakError(
                        f"{name} is in {where} of {interaction.request.method} {_path(interaction)} still, "
                        "so it is not written; redact it by a pattern or a function"
                    )


def _path(interaction: Interaction) -> str:
    return interaction.request.uri.partition("?")[0].rpartition("@")[2]


def _texts(interaction: Interaction) -> Iterator[tuple[str, str]]:
    request, response = interaction.request, interaction.response
    yield "the address", request.uri
    yield "the address", unquote(request.uri)
    for side, headers, body in (
        ("request", request.headers, request.body),
        ("response", response.headers, response.body),
    ):
        yield f"the headers of the {side}", "\n".join(f"{name}: {value}" for name, value in headers)
        for text in _readings(body.decode("utf-8", "surrogateescape")):
            yield f"the body of the {side}", text


def _readings(body: str) -> Iterator[str]:
    """The body as it is, and as anybody may read it."""
    yield body
    if "%" in body:
        yield unquote_plus(body)
    yield from _unescaped(body)
    if "data:" in body:
        for part in joined(body):
            yield part.text
            yield from _unescaped(part.text)


def _unescaped(text: str) -> Iterator[str]:
    """The text with its escapes read, once and, for JSON in JSON, once more."""
    for _ in range(2):
        if "\\" not in text:
            return
        text = unescaped(text)
        yield text
