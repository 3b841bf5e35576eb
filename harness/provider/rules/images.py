"""Rules about images: how large they may be."""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator
from typing import Any

from ..facts import Facts
from .types import Breach

LONGEST_SIDE, LONGEST_SIDE_OF_MANY, MANY = 8000, 2000, 20
_HEAD = 1 << 16
"""As much of an image's base64 as is looked at for its size."""


def image_too_large(facts: Facts) -> Iterator[Breach]:
    """Neither side is longer than allowed, and of many images each is smaller."""
    images = [(path, block) for path, block in _nested(facts.blocks) if block.get("type") == "image"]
    many = len(images) > MANY
    limit = LONGEST_SIDE_OF_MANY if many else LONGEST_SIDE
    paths = [path for path, block in images if max(_size(block) or (0, 0)) > limit]
    if paths:
        among = " for many-image requests" if many else ""
        yield Breach(
            f"{paths[0]}.image.source.base64.data: At least one of the image dimensions exceed max allowed "
            f"size{among}: {limit} pixels",
            {"error_code": "image_dimensions_too_large", "max_side_length_pixels": limit, "paths": paths},
        )


def _nested(blocks: list[tuple[str, dict[str, Any]]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, block in blocks:
        yield path, block
        content = block.get("content")
        for index, inner in enumerate(content if isinstance(content, list) else []):
            if isinstance(inner, dict):
                yield f"{path}.content.{index}", inner


def _size(block: dict[str, Any]) -> tuple[int, int] | None:
    """Width and height of an image given as base64; None where its head does not tell."""
    source = block.get("source")
    data = source.get("data") if isinstance(source, dict) else None
    if not isinstance(data, str):
        return None
    try:
        head = base64.b64decode(data[:_HEAD])
    except (binascii.Error, ValueError):
        return None
    if head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) >= 24:
        width, height = struct.unpack(">II", head[16:24])
        return width, height
    if head[:4] == b"GIF8" and len(head) >= 10:
        width, height = struct.unpack("<HH", head[6:10])
        return width, height
    return _jpeg(head) if head[:2] == b"\xff\xd8" else None


def _jpeg(head: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 < len(head) and head[at] == 0xFF:
        kind, length = head[at + 1], int.from_bytes(head[at + 2 : at + 4])
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None
