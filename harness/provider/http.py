"""HTTP/1.1 as the provider speaks it: heads, hosts, encodings, limits. No sockets."""

from __future__ import annotations

import functools
import http
import ipaddress
import zlib
from collections.abc import Iterable, Sequence

from ..wire.codec import dumps
from ..wire.errors import TEXTS, error_body

MAX_BODY = 32 * 1024 * 1024
"""Bytes of a request body, before and after decompression, where the address has no limit of its own."""

LIMITS: dict[str, int] = {"/v1/messages/batches": 256 * 1024 * 1024, "/v1/files": 500 * 1024 * 1024}
"""How an address ends that takes more, and how much."""

MAX_HEAD = 128 * 1024
"""Bytes of a request's address and headers."""

TOO_LARGE = TEXTS[413]
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
PHRASES: dict[int, str] = {status.value: status.phrase for status in http.HTTPStatus} | {529: "Overloaded"}


class RefusedError(Exception):
    """A request that no session ever sees: its status, and why. Its connection ends with the answer."""

    def __init__(self, status: int, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        """What the API calls it in the details, where it was the API that refused."""

    def response(self) -> bytes:
        """The whole answer."""
        details = {"error_code": self.code} if self.code else None
        body = error_body(self.status, request_id="req_none", message=self.message, details=details)
        if self.code:
            # Only what stands in front of the API answers without these two.
            body = {"type": "error", **body, "request_id": "req_none"}
        payload = dumps(body)
        headers = {"content-type": "application/json", "connection": "close", "x-should-retry": "false"}
        return head(self.status, headers, len(payload)) + payload


def head(
    status: int,
    headers: dict[str, str],
    length: int | None,
    *,
    chunked: bool = False,
    repeated: Sequence[tuple[str, str]] = (),
) -> bytes:
    """Status line and headers. `length` is None where the end is told otherwise."""
    lines = [_line(name, value) for name, value in (*headers.items(), *repeated)]
    if length is not None and "content-length" not in headers:
        lines.append(b"content-length: %d\r\n" % length)
    if chunked:
        lines.append(b"transfer-encoding: chunked\r\n")
    return b"HTTP/1.1 %d %b\r\n%b\r\n" % (status, PHRASES.get(status, "Unknown").encode(), b"".join(lines))


@functools.lru_cache(maxsize=512)
def _line(name: str, value: str) -> bytes:
    """A header is one line, whatever a scenario holds."""
    one = value if value.isprintable() else " ".join(value.split())
    return f"{name}: {one}\r\n".encode("latin-1", "replace")


def without_upgrade(method: bytes, url: bytes, headers: dict[str, str]) -> bytes:
    """The head of a request that offered to switch protocols, without the offer."""
    kept = {k: v for k, v in headers.items() if k not in ("upgrade", "connection", "http2-settings")}
    lines = "".join(f"{name}: {value}\r\n" for name, value in kept.items())
    return b"%b %b HTTP/1.1\r\n%b\r\n" % (method, url, lines.encode("latin-1"))


def chunks(pieces: Iterable[bytes]) -> bytes:
    """Each piece as a chunk of its own."""
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces if piece)


@functools.lru_cache(maxsize=256)
def check_host(host: str | None, version: str) -> None:
    """Raise `RefusedError` unless the client called us by a name of this machine.

    A page in a browser can point a name of its own at 127.0.0.1, but cannot make the browser send another.
    """
    if host is None:
        if version != "1.0":
            raise RefusedError(400, "malformed HTTP: the Host header is missing")
        return
    name = host.partition("]")[0].strip("[") if host.startswith("[") else host.partition(":")[0]
    if is_loopback(name):
        return
    raise RefusedError(403, f"{host!r} is no name of the loopback: use 127.0.0.1 or localhost")


def is_loopback(name: str) -> bool:
    """Whether a host is called by a name or an address of this machine's loopback."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def nothing_out(place: str) -> str:
    """What a client is told that asks for another host."""
    return f"loop-harness lets nothing out: {place} was not asked. Point the client at ANTHROPIC_BASE_URL"


@functools.lru_cache(maxsize=256)
def body_limit(path: str) -> int:
    """Bytes of a request body that this address takes."""
    return next((limit for end, limit in LIMITS.items() if path.endswith(end)), MAX_BODY)


def decompress(body: bytes, encoding: str, limit: int = MAX_BODY) -> bytes:
    """The body as it was before `content-encoding`. Raises `RefusedError` as the API would."""
    match encoding.strip().lower():
        case "" | "identity":
            return body
        case "gzip" | "x-gzip":
            return _inflate(body, zlib.decompressobj(zlib.MAX_WBITS | 16), limit)
        case "deflate":
            return _inflate(body, zlib.decompressobj(), limit)
        case other:
            message = f"content-encoding: {other!r} is not supported"
            raise RefusedError(400, message, code="request_body_encoding_unsupported")


def _inflate(body: bytes, stream: zlib._Decompress, limit: int) -> bytes:
    try:
        plain = stream.decompress(body, limit)
    except zlib.error as error:
        raise _undecodable(str(error)) from error
    if stream.unconsumed_tail:
        raise RefusedError(413, TOO_LARGE, code="request_body_too_large_after_decoding")
    if not stream.eof:
        raise _undecodable("it is cut short")
    return plain


def _undecodable(why: str) -> RefusedError:
    message = f"content-encoding: the body cannot be decoded: {why}"
    return RefusedError(400, message, code="request_body_encoding_invalid")
