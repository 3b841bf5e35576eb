"""A body as it arrives: kept as it is read by a client, with the pace of its pieces."""

from __future__ import annotations

import zlib

from .. import clock
from .bodies import unpacked
from .model import Headers, Piece, Response, header

_INFLATED = ("gzip", "x-gzip", "deflate")


class Arriving:
    """A response whose pieces come in one by one. Made when the request was sent."""

    def __init__(self) -> None:
        self._asked = clock.now()
        self._head = 0.0
        self._raw: list[bytes] = []
        self._pieces: list[Piece] = []
        self._inflate: zlib._Decompress | None = None
        self._packed = False
        self.begun = False
        """Its head is there."""

    def head(self, status: int, reason: str, headers: Headers) -> None:
        """The head is there."""
        self._head = clock.now()
        self.begun = True
        self._status, self._reason, self._headers = status, reason, headers
        encoding = header(headers, "content-encoding").strip().lower()
        if encoding in _INFLATED:
            self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._packed = encoding not in ("", "identity")

    def piece(self, data: bytes) -> None:
        """A part of the body arrived."""
        at = clock.now() - self._head
        self._raw.append(data)
        size = len(data)
        if self._inflate is not None:
            try:
                size = len(self._inflate.decompress(data))
            except zlib.error:
                self._inflate = None
        self._pieces.append(Piece(at, size))

    @property
    def raw(self) -> bytes:
        """What came in, compressed as it was."""
        return b"".join(self._raw)

    def response(self, *, broken: bool = False) -> Response:
        """All of it, or with `broken` what there is of it."""
        raw = self.raw
        body, cut, still = (
            unpacked(raw, header(self._headers, "content-encoding")) if self._packed else (raw, False, "")
        )
        headers = self._headers
        if self._packed and not still:
            headers = [
                pair for pair in headers if pair[0].lower() not in ("content-encoding", "content-length")
            ]
        return Response(
            status=self._status,
            reason=self._reason,
            headers=headers,
            body=body,
            head_at=self._head - self._asked,
            pieces=self._told(len(body)),
            broken=broken or cut,
        )

    def _told(self, size: int) -> list[Piece]:
        """The pieces, or the last one alone where only the whole could be unpacked."""
        if sum(piece.size for piece in self._pieces) == size:
            return self._pieces
        return [Piece(self._pieces[-1].at, size)] if self._pieces else []
