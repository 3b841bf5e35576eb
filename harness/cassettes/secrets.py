"""What a secret looks like: shapes of keys and tokens, names of headers and fields, forms it may hide in."""

from __future__ import annotations

import base64
import json
import os
import re
import string
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import quote, quote_plus

from .edits import spelling

REDACTED = "REDACTED"
"""What stands in place of a secret. It is found to be none itself, so redacting again changes nothing."""

SHORTEST = 12
"""Characters of a value that is taken for a secret by its place alone; "test" must not be looked for."""

HEADERS = re.compile(
    r"cookie|secret|password|credential|authorization|(?<![a-z])api-?key|(?<![a-z])token(?![a-z])"
    r"|organization|workspace|(?<![a-z])account|user-profile|session-id|(?<![a-z])project-id",
    re.IGNORECASE,
)
"""Names of headers whose values are never kept."""

PARAMETERS = re.compile(
    r"(?:.*[_-])?(?:api[_-]?key|key|token|secret|password|sig|signature|credential|code)", re.IGNORECASE
)
"""Names of parameters of an address whose values are never kept."""

FIELDS = re.compile(
    r"(?:x-)?(?:api[_-]?key|authorization(?:[_-]token)?|(?:access|refresh|id|auth|session|bearer)[_-]?token"
    r"|(?:client|aws|app)[_-]?secret|secret(?:[_-]?access)?[_-]?key|password|passwd|private[_-]?key"
    r"|(?:set-)?cookie)",
    re.IGNORECASE,
)
"""Fields of JSON whose texts are never kept."""

ACCOUNTS = re.compile(r"(?:organi[sz]ation|org|workspace|account)[_-]?(?:u?u?id)", re.IGNORECASE)
"""Fields of JSON whose texts are not kept where they have the shape of an id: the loop's own accounts may be
called so too, and "12" is none of ours."""

ACCOUNT_ID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?:wrkspc|org|user|acct)[_-][\w-]{8,}",
    re.IGNORECASE,
)

_BEGINS = re.compile(r"(?<![\w-])", re.ASCII)
_NAME = (
    r"(?:api[_-]?key|(?:access|auth|refresh|session)[_-]?token|client[_-]?secret"
    r"|secret[_-]?(?:access[_-]?)?key|password|passwd)"
)


class Shape(NamedTuple):
    """What a kind of secret looks like anywhere in a text.

    Each occurrence of an anchor, which costs next to nothing to find, is looked at with the pattern.
    """

    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    """The group, where there is one, is the secret."""
    whole: bool = True
    """It begins where a word does."""

    def spans(self, text: str, lowered: str, *, loosely: bool = False) -> Iterator[tuple[int, int]]:
        """Where secrets of this shape are. `loosely`: also in the middle of a word."""
        for anchor in self.anchors:
            searched = lowered if anchor.islower() and not self.whole else text
            place = searched.find(anchor)
            while place >= 0:
                found = self.pattern.match(text, place)
                if found and (loosely or not self.whole or _BEGINS.match(text, place)):
                    yield found.span(1) if self.pattern.groups else found.span()
                place = searched.find(anchor, found.end() if found else place + 1)


def _shape(anchors: str, pattern: str, *, whole: bool = True) -> Shape:
    return Shape(tuple(anchors.split("|")), re.compile(pattern, re.ASCII), whole)


SHAPES: tuple[Shape, ...] = (
    _shape("sk-ant-", r"sk-ant-[\w-]{8,}"),
    _shape("sk-", r"sk-(?:proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{20,}"),
    _shape("AKIA|ASIA", r"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _shape("ghp_|gho_|ghu_|ghs_|ghr_", r"gh[pousr]_[A-Za-z0-9]{20,}"),
    _shape("github_pat_", r"github_pat_\w{20,}"),
    _shape("glpat-", r"glpat-[\w-]{20,}"),
    _shape("xox", r"xox[abeprs]-[A-Za-z0-9-]{10,}"),
    _shape("AIza", r"AIza[\w-]{35}"),
    _shape("ya29.", r"ya29\.[\w-]{20,}"),
    _shape("sk_|rk_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _shape("hf_", r"hf_[A-Za-z0-9]{20,}"),
    _shape("npm_", r"npm_[A-Za-z0-9]{30,}"),
    _shape("wrkspc_", r"wrkspc_[A-Za-z0-9]{10,}"),
    _shape("eyJ", r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"),
    _shape(
        "-----BEGIN ",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
        whole=False,
    ),
    _shape("bearer", r"(?i:bearer)\s+([\w.~+/-]{16,}=*)", whole=False),
    _shape("://", r"://[^/\s:@\"']+:([^/\s@\"']+)@", whole=False),
    # A parameter of an address; how somebody goes through pages is often a `key` or a `code`, too.
    _shape(
        "?|&",
        r"[?&](?:amp;)?(?:[\w.-]{0,40}[_-])?(?i:api[_-]?key|token|secret|password|sig|signature|credential)"
        r"=((?=[^\s\\\"'&#<>()]*\d)[^\s\\\"'&#<>()]{8,})",
        whole=False,
    ),
    # Prose speaks of passwords, too: a value has a digit in it.
    _shape(
        "api|access|auth|refresh|session|client|secret|passw",
        rf"(?i:{_NAME})[\\\"']*\s*[=:]\s*[\\\"']*((?=[^\s\\\"'&,;]*\d)[^\s\\\"'&,;]{{8,}})",
        whole=False,
    ),
)


def spans(text: str, *, loosely: bool = False) -> Iterator[tuple[int, int]]:
    """Where a text has what looks like a secret. `loosely`: also where a word does not begin."""
    lowered = text.lower()
    if len(lowered) != len(text):  # of a few letters the small one is longer
        lowered = text.translate(_LOWER)
    for shape in SHAPES:
        yield from shape.spans(text, lowered, loosely=loosely)


_LOWER = {ord(letter): letter.lower() for letter in string.ascii_uppercase}
_WORD = frozenset(string.ascii_letters + string.digits + "+/_-=")
_ENVIRONMENT = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)
_LOOKS_LIKE_A_KEY = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.+/=~-]{16,}")


def from_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Values of the environment that look like keys, each with the name of its variable."""
    found = os.environ if environment is None else environment
    return {
        value: f"the value of ${name}"
        for name, value in found.items()
        if _ENVIRONMENT.search(name) and _LOOKS_LIKE_A_KEY.fullmatch(value) and value[0] != "/"
    }


def forms(secret: str) -> Iterator[str]:
    """The secret as it may be spelled, itself first: in JSON, in an address, in base64, in hexadecimal."""
    data = secret.encode("utf-8", "surrogateescape")
    seen = set()
    for form in (
        secret,
        json.dumps(secret)[1:-1],
        spelling(secret),
        quote(data, safe=""),
        quote(data),
        quote_plus(data),
        data.hex(),
        *_base64_forms(data),
    ):
        if form not in seen:
            seen.add(form)
            yield form


def _base64_forms(data: bytes) -> Iterator[str]:
    """What of its base64 depends on the secret alone, wherever in a larger text it stood."""
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + data + b"\0" * (-(before + len(data)) % 3))
        skipped = (0, 2, 3)[before]
        lost = (0, 2, 3)[-(before + len(data)) % 3]
        core = encoded[skipped : len(encoded) - lost].decode()
        if len(core) >= SHORTEST:
            yield core
            yield core.replace("+", "-").replace("/", "_")


def run_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the word of base64 or hexadecimal begins and ends that a form of a secret stands in."""
    while start and text[start - 1] in _WORD:
        start -= 1
    while end < len(text) and text[end] in _WORD:
        end += 1
    return start, end
