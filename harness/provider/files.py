"""The Files API: what was uploaded is kept for the length of a run."""

from __future__ import annotations

import mimetypes
from typing import Any

from ..wire.ids import Ids
from .pages import Bad, limit, page, queried
from .request import Request

OLD_BETA = "files-api-2025-04-14"
"""The beta header with which lists have the older shape."""


class Files:
    """The files of one session."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._kept: dict[str, dict[str, Any]] = {}

    def answer(self, request: Request, file_id: str | None, part: str | None, now: str) -> dict[str, Any]:
        """The body that answers `request`. Raises `Bad`."""
        if file_id is None:
            return self._upload(request, now) if request.method == "POST" else self._list(request)
        found = self._kept.get(file_id)
        if found is None:
            raise Bad(404, f"File not found: {file_id}")
        if request.method == "DELETE":
            del self._kept[file_id]
            return {"id": file_id, "type": "file_deleted"}
        if part == "content":
            details = {"error_code": "file_not_downloadable"}
            raise Bad(400, f"File {file_id} is not downloadable: it was uploaded", details=details)
        return found

    def _upload(self, request: Request, now: str) -> dict[str, Any]:
        name, kind, data = uploaded(request)
        file_id = self._ids.next("file_")
        self._kept[file_id] = {
            "type": "file",
            "id": file_id,
            "size_bytes": len(data),
            "created_at": now,
            "filename": name,
            "mime_type": kind,
            "downloadable": False,
        }
        return self._kept[file_id]

    def _list(self, request: Request) -> dict[str, Any]:
        newest = list(reversed(self._kept.values()))
        if OLD_BETA in request.headers.get("anthropic-beta", ""):
            return page(newest, request.query)
        asked = queried(request.query)
        size, start = limit(asked), _cursor(asked.get("page"))
        after = start + size
        return {
            "data": newest[start:after],
            "next_page": f"page_{after}" if after < len(newest) else None,
        }


def _cursor(text: str | None) -> int:
    number = (text or "page_0").removeprefix("page_")
    if not number.isascii() or not number.isdigit():
        raise Bad(400, "page: Invalid page token")
    return int(number[:9])


def uploaded(request: Request) -> tuple[str, str, bytes]:
    """Name, type and bytes of the file in a multipart body. Raises `Bad`."""
    # Only here: `serve` should not wait for it before its first answer.
    from email import message_from_bytes
    from email.message import Message

    kind = request.headers.get("content-type", "")
    if not kind.lower().startswith("multipart/form-data"):
        raise Bad(400, "Content-Type must be multipart/form-data")
    head = b"content-type: " + kind.encode("latin-1", "replace") + b"\r\n\r\n"
    whole: Message[str, str] = message_from_bytes(head + request.raw)
    parts = whole.get_payload() if whole.is_multipart() else []
    for part in parts if isinstance(parts, list) else []:
        if isinstance(part, Message) and part.get_param("name", header="content-disposition") == "file":
            data = part.get_payload(decode=True)
            name = part.get_filename() or "file"
            guessed = mimetypes.guess_type(name)[0]
            written = part.get_content_type() if "content-type" in part else guessed
            return name, written or "application/octet-stream", data if isinstance(data, bytes) else b""
    raise Bad(400, "file: Field required")
