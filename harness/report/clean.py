"""Keeping secrets out of reports: what a loop was given, sent or said may hold keys of its owner's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ..cassettes.redact import Redactor
from ..cassettes.secrets import FIELDS, HEADERS, REDACTED, SHORTEST, forms, from_environment, spans
from ..judge import CheckResult
from ..runner import CaseResult
from .packed import packed, unpacked

_STAND_IN = "<bearer token>"
"""What a history says in place of the key, which looks as if it were one."""
_NAMED = re.compile(rf'"(?:{FIELDS.pattern})":"(?!<)', re.IGNORECASE)
"""A field whose text is never kept."""


class Cleaner:
    """Puts REDACTED for what looks like a key, and for the keys in the environment, in whatever form."""

    def __init__(
        self, environment: Mapping[str, str] | None = None, headers: Iterable[tuple[str, str]] = ()
    ) -> None:
        """`environment`: in place of that of this process. `headers`: those that are sent to a service."""
        known = from_environment(environment)
        for name, value in headers:
            if HEADERS.search(name) and len(value) >= SHORTEST:
                known |= dict.fromkeys((value, value.split()[-1]), f"the header {name}")
        self._redactor = Redactor(known=known)
        self._forms = [form for secret in known for form in forms(secret)]
        self._seen: dict[str, str] = {}

    def result(self, result: CaseResult) -> CaseResult:
        """The result as it may be told."""
        small = msgspec.structs.replace(result, events=packed(result.events))
        told = msgspec.json.encode(small).decode("utf-8", "replace").replace(_STAND_IN, "<>")
        if not self._may_hold(told):
            return result
        self._seen = {}
        clean = msgspec.convert(self._cleaned(msgspec.to_builtins(small)), CaseResult)
        return msgspec.structs.replace(clean, events=unpacked(clean.events))

    def _may_hold(self, told: str) -> bool:
        """Whether a closer look is worth it; it takes a hundred times as long."""
        return (
            any(form in told for form in self._forms)
            or _NAMED.search(told) is not None
            or next(spans(told, loosely=True), None) is not None
        )

    def checks(self, checks: list[CheckResult]) -> list[CheckResult]:
        """The verdicts as they may be told."""
        return self.result(CaseResult(scenario="", variant="", grade="", checks=checks)).checks

    def text(self, text: str) -> str:
        """A text as it may be told."""
        if text not in self._seen:
            self._seen[text] = self._redactor.text(text)
        return self._seen[text]

    def _cleaned(self, value: Any) -> Any:
        match value:
            case str():
                return self.text(value)
            case list():
                return [self._cleaned(each) for each in value]
            case dict():
                return {self.text(key): self._field(key, each) for key, each in value.items()}
        return value

    def _field(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and value and FIELDS.fullmatch(name) and not value.startswith("<"):
            return REDACTED
        return self._cleaned(value)
