"""A client that speaks HTTP byte by byte."""

from __future__ import annotations

import socket
from typing import Any, Self

from harness.wire.codec import dumps
from tests.provider.serve import Served

KEY = "sk-ant-test"


class CutError(Exception):
    """The connection ended before the answer did. `data` is what of the body came."""

    def __init__(self, data: bytes, reset: bool) -> None:
        super().__init__(data)
        self.data = data
        self.reset = reset


class Wire:
    """Sends what it is told and reads answers one by one."""

    def __init__(self, served: Served | str, timeout: float = 5) -> None:
        url = served if isinstance(served, str) else served.provider.url
        self._port = int(url.rpartition(":")[2])
        self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=timeout)
        self._file = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        self._file.close()
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def finish(self) -> None:
        """Say that nothing more will be sent."""
        self._socket.shutdown(socket.SHUT_WR)

    def ask(
        self, asked: Any = None, path: str = "/v1/messages", method: str = "POST", **headers: str
    ) -> bytes:
        """The bytes of a request."""
        payload = asked if isinstance(asked, bytes) else dumps(asked) if asked is not None else b""
        given = {"host": f"127.0.0.1:{self._port}", "x-api-key": KEY, "anthropic-version": "2023-06-01"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        if "transfer-encoding" not in given:
            given.setdefault("content-length", str(len(payload)))
        lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in given.items() if v)]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + payload

    def head(self) -> tuple[int, dict[str, str]]:
        try:
            first = self._file.readline()
        except ConnectionResetError:
            raise CutError(b"", reset=True) from None
        if not first:
            raise CutError(b"", reset=False)
        status = int(first.split()[1])
        headers = {}
        while line := self._file.readline().strip():
            name, _, value = line.decode().partition(": ")
            headers[name.lower()] = value
        return status, headers

    def read(self, bodiless: bool = False) -> tuple[int, dict[str, str], bytes]:
        """The next answer. Raises `CutError`."""
        status, headers = self.head()
        if bodiless:
            return status, headers, b""
        if headers.get("transfer-encoding") != "chunked":
            return status, headers, self._exactly(int(headers["content-length"]), b"")
        data = b""
        while size := self._size(data):
            data = self._exactly(size, data)
            self._exactly(2, data)
        assert self._file.readline() == b"\r\n"
        return status, headers, data

    def _size(self, data: bytes) -> int:
        try:
            line = self._file.readline()
        except ConnectionResetError:
            raise CutError(data, reset=True) from None
        if not line:
            raise CutError(data, reset=False)
        return int(line, 16)

    def _exactly(self, size: int, before: bytes) -> bytes:
        data = before
        try:
            while len(data) < len(before) + size:
                piece = self._file.read1(len(before) + size - len(data))
                if not piece:
                    raise CutError(data, reset=False)
                data += piece
        except ConnectionResetError:
            raise CutError(data, reset=True) from None
        return data

    def ended(self) -> bool:
        """Whether the server has closed."""
        return self._file.read(1) == b""
