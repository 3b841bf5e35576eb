"""The page, as far as it can be judged without a browser."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re
from typing import Any

import pytest

from harness.history import Answered, Broken, RequestSeen, TurnBegan
from harness.report import html as page
from harness.report.html import render
from harness.report.html.spot import spot_of
from harness.report.html.timeline import MOST, timeline_of
from harness.report.html.trim import trimmed
from harness.report.kinds import View
from harness.report.model import Report
from tests.report.samples import (
    ASKED,
    GIVEN,
    KEPT,
    KNOWN,
    LOST,
    events,
    loop,
    report,
    result,
    right,
    undriven,
    wrong,
)


class Parts(html.parser.HTMLParser):
    """The elements of a page, and the texts of those whose texts are no markup."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[dict[str, str | None], str]] = []
        self._in: dict[str, str | None] | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._in = {"tag": tag, **dict(attrs)} if tag in ("script", "style") else None

    def handle_endtag(self, tag: str) -> None:
        self._in = None

    def handle_data(self, data: str) -> None:
        if self._in is not None:
            self.texts.append((self._in, data))

    def data(self, name: str) -> Any:
        """The JSON in the element of this name."""
        return json.loads("".join(text for element, text in self.texts if element.get("id") == name))


@pytest.fixture(scope="module")
def parts() -> Parts:
    return Parts(render(report(wrong("one"), right("two"), undriven("three")), View()))


def test_the_page_needs_nothing_but_itself(parts: Parts) -> None:
    for tag, attributes in parts.elements:
        assert tag not in ("link", "img", "iframe", "object", "base")
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")  # type: ignore[union-attr]
    [policy] = [each["content"] for _, each in parts.elements if each.get("http-equiv")]
    assert str(policy).startswith("default-src 'none'; ")


def test_its_policy_lets_only_its_own_script_and_style_in(parts: Parts) -> None:
    [policy] = [str(each["content"]) for _, each in parts.elements if each.get("http-equiv")]
    own = [text for element, text in parts.texts if element.get("type") is None]

    assert len(own) == 2
    for text in own:
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy


def test_the_index_has_every_verdict_as_a_letter(parts: Parts) -> None:
    index = parts.data("index")

    one, two, three = index["loops"]
    assert [result[:3] for result in one["results"][:2]] == [
        ["tool/one[json]", "fail", 0.5],
        ["tool/one[sse]", "fail", 0.5],
    ]
    names = [clause["id"] for clause in index["clauses"]]
    letters = one["results"][0][3]
    assert [letters[names.index(name)] for name in ("TOOL-2", "END-1", "CAP-1")] == ["f", "p", "u"]
    assert letters[names.index("TOOL-1")] == "."
    assert len(two["results"]) == 2
    assert three["problem"].startswith("there is no module")


def test_what_happened_in_a_run_is_in_an_element_of_its_own(parts: Parts) -> None:
    detail = parts.data("d-0-0")

    assert detail["again"] == "loop-harness run 'tool/one[json]' --loop mine:loop --seed 7"
    assert [check["clause"] for check in detail["checks"]] == ["TOOL-2"]
    assert [entry["kind"] for entry in detail["timeline"]] == [
        "turn", "request", "answer", "tool", "request", "answer", "outcome",
    ]  # fmt: skip
    assert parts.data("d-1-1")["timeline"]


def test_no_text_ends_the_element_it_stands_in() -> None:
    text = render(report(), View())

    assert "</script><b>" not in text
    assert text.count("</script>") == text.count("<script")
    assert r"\u003c/script>\u003cb>" in text


def test_what_is_known_to_be_broken_is_told_apart() -> None:
    parts = Parts(render(report(loop("mine", result("a/b", "json", KNOWN, grade="known"))), View()))

    [[_, grade, _, letters]] = parts.data("index")["loops"][0]["results"]
    assert (grade, letters.strip(".")) == ("known", "k")
    assert [check["message"] for check in parts.data("d-0-0")["checks"]] == [KNOWN.message]


def test_a_clause_nobody_knows_is_shown_all_the_same() -> None:
    odd = LOST.__class__(clause="NEW-1", level="MUST", grade="fail", message="of a newer version")

    index = Parts(render(report(loop("mine", result("a/b", "json", odd))), View())).data("index")

    assert index["clauses"][-1]["id"] == "NEW-1"
    assert index["loops"][0]["results"][0][3].endswith("f")


def test_where_room_is_short_runs_that_passed_are_told_without_what_happened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page, "ROOM", 10)
    parts = Parts(
        render(report(loop("mine", result("a/b", "json", KEPT), result("a/c", "json", LOST))), View())
    )

    assert (parts.data("d-0-0")["timeline"], parts.data("d-0-0")["spared"]) == ([], True)
    assert parts.data("d-0-1")["timeline"]


def test_a_page_without_results_is_one() -> None:
    assert Parts(render(Report(), View())).data("index")["loops"] == []


# --- the timeline ----------------------------------------------------------------------------------


def of_kind(kind: str, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [entry for entry in entries if entry["kind"] == kind]


def test_of_a_request_only_what_is_new_is_told() -> None:
    first, second = of_kind("request", timeline_of(events(), []))

    assert (first["count"], first["settings"]) == (1, {"model": "m"})
    assert (second["count"], second["same"]) == (3, 1)
    assert "settings" not in second
    assert [message["role"] for message in second["messages"]] == ["assistant", "user"]


def test_a_reply_that_goes_back_as_it_came_is_known() -> None:
    changed = events()
    request = changed[7]
    assert isinstance(request, RequestSeen)
    as_it_came = of_kind("request", timeline_of(changed, []))[1]["messages"][0]
    request.body["messages"][1] = {"role": "assistant", "content": [{"type": "text", "text": "Or so."}]}
    rewritten = of_kind("request", timeline_of(changed, []))[1]["messages"][0]

    assert as_it_came["reply"] == 1
    assert "reply" not in rewritten


def test_tools_and_answers_say_how_long_they_took() -> None:
    entries = timeline_of(events(), [])

    [tool] = of_kind("tool", entries)
    assert (tool["name"], tool["input"], tool["result"], tool["took"]) == (
        "look_up",
        {"key": "a"},
        "a thing",
        0.01,
    )
    assert [answer["took"] for answer in of_kind("answer", entries)] == [0.001, 0.001]


def test_what_is_broken_is_marked_where_it_shows() -> None:
    by_word = LOST.__class__(clause="SHOW-1", level="MUST", grade="fail", evidence="outcome", request=2)

    entries = timeline_of(events(), [LOST, by_word])

    [hurt] = [entry for entry in of_kind("request", entries) if entry.get("broken")]
    assert (hurt["name"], hurt["broken"]) == ("request 2", [{"clause": "TOOL-2", "spot": (2, 0)}])
    [outcome] = of_kind("outcome", entries)
    assert outcome["broken"] == [{"clause": "SHOW-1"}]


def test_an_answer_that_broke_off_and_one_that_failed_say_so() -> None:
    body = {"error": {"type": "overloaded_error", "message": "Later."}}
    failed = Answered(request=1, kind="fault", status=529, body=body, headers={"retry-after": "2"})
    broken = Broken(at=1.0, request=1, events=3, by="script")

    entries = timeline_of([RequestSeen(request=1), failed, broken], [])

    [answer] = of_kind("answer", entries)
    assert answer["text"] == "529 overloaded_error: Later."
    assert answer["after"] == "2"
    assert answer["cut"] == "broken off by the script after 3 events"


def test_of_a_long_run_the_middle_is_left_out_but_not_what_is_broken() -> None:
    asked = [RequestSeen(at=float(n), request=n, body={"messages": [ASKED]}) for n in range(1, 1001)]
    check = LOST.__class__(clause="CAP-1", level="MUST", grade="fail", request=500)

    entries = timeline_of([TurnBegan(prompt="Go."), *asked], [check])

    assert len(entries) == MOST + 2
    assert of_kind("left", entries)[0]["count"] == 1001 - MOST
    assert [entry["name"] for entry in entries if entry.get("broken")] == ["request 500"]


def test_a_verdict_about_a_block_finds_it() -> None:
    messages = [ASKED, {"role": "assistant", "content": [{"type": "text", "text": "a"}]}, GIVEN]
    named = LOST.__class__(
        clause="A-1", level="MUST", grade="fail", happened="It has messages[1].content[0]."
    )
    gone = LOST.__class__(clause="A-1", level="MUST", grade="fail", block=0, diff='- "text": "b"')
    beyond = LOST.__class__(clause="A-1", level="MUST", grade="fail", happened="messages[7].content[0]")

    assert spot_of(LOST, messages) == (2, 0)
    assert spot_of(named, messages) == (1, 0)
    assert spot_of(gone, messages) is None
    assert spot_of(beyond, messages) is None


def test_long_texts_are_cut_and_say_so() -> None:
    cut = trimmed({"text": "x" * 5_000, "signature": "y" * 500, "many": list(range(300)), "n": 1})

    assert re.fullmatch(r"x{2000}… \(3,000 more characters\)", cut["text"])
    assert cut["signature"].startswith("y" * 48 + "…")
    assert cut["many"][99:] == [99, "… 200 more"]
    assert cut["n"] == 1
