"""Compares what the checks say in these tests with what is approved (`said.py`), and with what they say when
another turn stands before it (`turns.py`)."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator

import pytest

from harness.checks.base import Finding
from tests.checks.histories import Story
from tests.checks.said import SAID, approved, page, worded
from tests.checks.turns import missed, missed_later

APPROVE = bool(os.environ.get("APPROVE"))
heard: dict[str, set[str]] = defaultdict(set)


@pytest.fixture(scope="session")
def approved_words() -> dict[str, set[str]]:
    return approved(SAID.read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def listened_to(approved_words: dict[str, set[str]], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    said: list[tuple[str, str]] = []
    lost: list[str] = []
    check = Story.check

    def listening(story: Story, clause: str) -> list[Finding]:
        findings = check(story, clause)
        said.extend((clause, worded(finding)) for finding in findings)
        lost.extend(missed(story, clause, findings))
        lost.extend(missed_later(story, clause, findings))
        return findings

    monkeypatch.setattr(Story, "check", listening)
    yield
    for clause, text in said:
        heard[clause].add(text)
    if lost:
        pytest.fail("\n".join(lost))
    new = [f"{clause}\n{text}" for clause, text in said if text not in approved_words.get(clause, ())]
    if new and not APPROVE:
        pytest.fail("Nobody has read this yet (APPROVE=1 pytest tests/checks):\n" + "\n".join(new))


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not APPROVE or session.testsfailed:
        return
    files = {item.path for item in session.items}
    whole = files >= set(SAID.parent.glob("test_*.py")) and not session.config.option.keyword
    before = {} if whole else approved(SAID.read_text(encoding="utf-8"))
    said = {clause: heard[clause] | before.get(clause, set()) for clause in {*heard, *before}}
    SAID.write_text(page(said), encoding="utf-8")
