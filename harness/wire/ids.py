"""Ids, signatures and opaque data that look like the API's, the same for the same seed."""

from __future__ import annotations

import base64
import hashlib
import re

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_LETTERS = bytes(ord(_ALPHABET[byte % len(_ALPHABET)]) for byte in range(256))
_REAL = re.compile(r"(toolu|srvtoolu|mcptoolu)_.+")

START: dict[str, str] = {"req_": "011C", "msg_": "011C", "container_": "011C", "file_": "011C"}
"""What follows a prefix, as recorded lately; `01` where it is not listed."""


def looks_real(text: str) -> bool:
    """Whether `text` has the form of a call's id, so that it is kept as it is."""
    return _REAL.fullmatch(text) is not None


def opaque_id(prefix: str, seed: str) -> str:
    """An id such as `toolu_01…`: `prefix`, then 24 characters that depend on `seed` alone."""
    start = START.get(prefix, "01")
    digest = hashlib.blake2b(f"{prefix}|{seed}".encode(), digest_size=24 - len(start)).digest()
    return prefix + start + digest.translate(_LETTERS).decode("ascii")


def uuid_like(seed: str) -> str:
    """A UUID of version 4's form that depends on `seed` alone."""
    digits = hashlib.blake2b(seed.encode(), digest_size=16).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def opaque_data(seed: str, size: int = 192) -> str:
    """Base64 of `size` bytes that depend on `seed` alone: a signature, encrypted content.

    As the real ones it is one field of a message, so it begins with the field's number and length: `E…`.
    """
    length = max(size - 3, 0)
    head = bytes((0x12, length & 0x7F | 0x80, length >> 7))
    return base64.b64encode(head + hashlib.shake_256(seed.encode()).digest(length)).decode()


class Ids:
    """The ids of one run: labels keep theirs, unnamed ones are counted."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._count = 0

    def next(self, prefix: str) -> str:
        """An id never given before in this run."""
        self._count += 1
        return opaque_id(prefix, f"{self._seed}/{self._count}")

    def of_label(self, prefix: str, label: str, round_: int = 0) -> str:
        """The id that stands for `label`; a step that is repeated names new calls in each round."""
        return opaque_id(prefix, f"{self._seed}/label/{label}/{round_}")

    def data(self, purpose: str, size: int = 192) -> str:
        """Opaque data never given before in this run."""
        self._count += 1
        return opaque_data(f"{self._seed}/{purpose}/{self._count}", size)
