"""A request as it arrived, read as far as every part of the provider needs it."""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from ..wire import codec
from .routes import Route, endpoint_of

CREDENTIALS: dict[str, str] = {
    "x-api-key": "<api key>",
    "authorization": "<authorization>",
    "proxy-authorization": "<proxy authorization>",
    "cookie": "<cookie>",
    "set-cookie": "<cookie>",
}
"""Headers never kept, and the word kept instead."""


class Request(msgspec.Struct, kw_only=True):
    """One HTTP request in full. `path` is the API's own, without a session's prefix and without the query."""

    method: str
    path: str
    headers: dict[str, str]
    """Lower-case names; several headers of one name are joined with commas."""
    raw: bytes = b""
    query: str = ""
    body: Any = None
    """The decoded JSON; None where there is none."""
    not_json: str | None = None
    """Why the body cannot be decoded."""
    keep_alive: bool = True
    """The connection stays open after the answer."""
    version: str = "1.1"
    """Of HTTP."""
    early: bool = False
    """It is answered before its body was read."""
    route: Route | None = None
    """What its path was taken apart into."""

    @property
    def endpoint(self) -> str:
        """What the request is for: a name of `routes.ENDPOINTS`, or `unknown`."""
        return endpoint_of(self.path).name

    @property
    def retry(self) -> int:
        """How often the client tried before."""
        text = self.headers.get("x-stainless-retry-count", "")
        return int(text) if text.isascii() and text.isdigit() else 0

    @property
    def wants_stream(self) -> bool:
        """Whether the reply is to be streamed."""
        return isinstance(self.body, dict) and self.body.get("stream") is True

    def decode(self) -> None:
        """Read the body, where there is one."""
        if not self.raw or self.body is not None or self.not_json is not None:
            return
        try:
            self.body = codec.loads(self.raw)
        except codec.NotJsonError as error:
            self.not_json = str(error)

    def kept_headers(self) -> dict[str, str]:
        """The headers as a history may keep them."""
        return {name: _kept(name, value) for name, value in self.headers.items()}


def credential(headers: dict[str, str]) -> str | None:
    """The API key or token of a request, in either of its two headers."""
    if key := headers.get("x-api-key"):
        return key
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def proxy_user(headers: dict[str, str]) -> str:
    """The name in the credentials for a proxy; empty where there are none."""
    scheme, _, token = headers.get("proxy-authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(token).decode().partition(":")[0]
    except ValueError:
        return ""


def _kept(name: str, value: str) -> str:
    if name == "authorization" and value[:7].lower() == "bearer ":
        return "<bearer token>"
    return CREDENTIALS.get(name, value)
