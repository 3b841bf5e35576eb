"""Well-formed files whose parts do not fit together."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Broken = Callable[..., list[str]]
Problems = Callable[[str | bytes], list[str]]

HEAD = "title: t\nclauses: [PAUSE-1]\nwhy: w\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("TOOL-2]", "TOOL-22]", "unknown clause `TOOL-22`; did you mean `TOOL-2`?"),
        ("TOOL-2]", "TOOL-1]", "`TOOL-1` is named twice"),
        ("[TOOL-1, TOOL-2]", "[]", "no clause is named"),
        ("title: A tool call is run and its result goes back", 'title: " "', "`title` is empty"),
        ("script:", "turns: []\nscript:", "`script` stands beside `turns`"),
        ("    - text: Let", "    - server_tool_use: {name: x}\n        - text: Let", ""),
        ("name: get_weather,", "name: get_wether,", "not defined under `tools`; did you mean `get_weather`?"),
        ("result: 4 degrees and rain", "result: a, raises: b", "not in `result` and `raises`"),
        ("result: 4 degrees and rain", "result: a, hangs: true", "not in `result` and `hangs`"),
        ("result: 4 degrees and rain", "result: a, answers: [{result: b}]", "stands beside `answers`"),
        ("result: 4 degrees and rain", "answers: []", "`answers` is empty"),
        ("result: 4 degrees and rain", "exception: KeyError", "`exception` without `raises`"),
        ("script:", "rival: {at: tool x}\nscript:", "is no point at which a second worker can begin"),
        ("script:", "rival: {at: request 3}\nscript:", "request 3 never comes"),
        (
            "result: 4 degrees and rain",
            "answers: [{result: b}, {when: {}, result: c}]",
            "never given: answer 1 has no `when`",
        ),
        (
            "result: 4 degrees and rain",
            "answers: [{when: {city: Rome}, result: b}]",
            "no answer of `get_weather` fits this input",
        ),
        ("get_weather:", "get weather:", "is no name of a tool"),
        ("requests: 2", "requests: 3", "the script answers 2 requests, not 3"),
        (
            "answer: [Cold and wet.]",
            "answer: [Warm.]",
            "the text blocks of the last reply are ['Cold and wet.']",
        ),
        ("answer: [Cold and wet.]", "shown: [Cold and wat.]", "did you mean `Cold and wet.`?"),
        ("answer: [Cold and wet.]", "tools: {get_wether: 1}", "did you mean `get_weather`?"),
        ("answer: [Cold and wet.]", "tools: {get_weather: -1}", "a tool runs 0 times or more"),
        ("text: Cold and wet.", "text: look", "are part of one another"),
        ("text: Cold and wet.", "text: Let me look that up.", "the same text stands in line 11"),
        ("text: Cold and wet.", "text: 4 degrees", "this text is part of that in line 6"),
        ("text: Cold and wet.", "text: warm is it", "this text is part of that in line 4"),
        ("expect:", "cancel: {at: later}\nexpect:", "`later` is no point of a turn"),
        ("expect:", "cancel: {at: request 3}\nexpect:", "request 3 never comes: the script answers 2"),
        ("expect:", "cancel: {at: request 0}\nexpect:", "is no point of a turn"),
        ("expect:", "cancel: {at: event 2}\nexpect:", "add `streams: only`"),
        ("expect:", "cancel: {at: tool get_wether}\nexpect:", "did you mean `get_weather`?"),
        ("expect:", "limits: {max_iterations: 0}\nexpect:", "`max_iterations` is more than 0"),
        ("expect:", "limits: {wall_clock: 60}\nexpect:", "the turn is stopped after 10 s"),
        ("  - reply:\n      content", "  - fault: {status: 500}\n    reply:\n      content", "has both"),
        ("  - reply:\n      content", "  - {repeat: 2}\n  - reply:\n      content", "has neither"),
        (
            "content: [{text: Cold",
            "tool_input_json: '{}'\n      content: [{text: Cold",
            "without a tool call",
        ),
        (
            "  - reply:\n      content",
            "  - fault: {status: 99}\n  - reply:\n      content",
            "99 is no HTTP status",
        ),
        (
            "  - reply:\n      stop",
            "  - fault: {status: 500}\n    repeat: forever\n  - reply:\n      stop",
            "never reached",
        ),
        (
            "  - reply:\n      stop",
            "  - repeat: 2\n    reply:\n      stop",
            "cannot be told from its repetition",
        ),
        ("expect:", "lanes: [{name: a, when: {}}]\nexpect:", "`when` is empty"),
        (
            "expect:",
            "lanes: [{name: a, when: {x: 1}}, {name: a, when: {x: 2}}]\nexpect:",
            "the lane `a` is defined twice",
        ),
    ],
)
def test_what_does_not_fit_is_said(broken: Broken, old: str, new: str, said: str) -> None:
    found = broken((old, new))
    if said:
        assert any(said in problem for problem in found), found
    else:
        assert found == []


def test_a_tool_nobody_defined_may_be_called_where_that_is_the_point(broken: Broken) -> None:
    assert broken(("name: get_weather,", "name: teleport,"), ("TOOL-2]", "TOOL-5]")) == []


def test_a_scenario_needs_a_script(problems: Problems) -> None:
    assert problems(HEAD) == [
        "1:1: nothing happens; write `script: …`, or `turns: …` for several user messages"
    ]


def test_an_empty_script_is_no_script(problems: Problems) -> None:
    assert problems(HEAD + "script: []\n") == ["4:1: `script` is empty; write at least one step"] or problems(
        HEAD + "script: []\n"
    ) == ["4:9: `script` is empty; write at least one step"]


def test_a_result_needs_a_call_before_it(problems: Problems) -> None:
    found = problems(HEAD + "script: [{reply: {content: [{mcp_tool_result: fine}]}}]\n")
    assert len(found) == 1
    assert "the result of no call" in found[0]


def test_a_result_may_answer_a_call_of_the_reply_before(problems: Problems) -> None:
    call = "{stop_reason: pause_turn, content: [{mcp_tool_use: {name: a, server_name: b}}]}"
    assert (
        problems(HEAD + f"script: [{{reply: {call}}}, {{reply: {{content: [{{mcp_tool_result: x}}]}}}}]\n")
        == []
    )


def test_a_label_that_names_no_call_is_an_error_with_the_nearest(problems: Problems) -> None:
    call = "{server_tool_use: {name: web_search, id: first}}"
    result = "{web_search_tool_result: {tool_use_id: frist, content: []}}"
    found = problems(HEAD + f"script: [{{reply: {{content: [{call}, {result}]}}}}]\n")
    assert len(found) == 1
    assert "no call before it has the id `frist`; did you mean `first`?" in found[0]


def test_a_label_names_one_call(problems: Problems) -> None:
    call = "{server_tool_use: {name: web_search, id: first}}"
    found = problems(HEAD + f"script: [{{reply: {{content: [{call}, {call}]}}}}]\n")
    assert len(found) == 1
    assert "`first` names the call in line 4 already" in found[0]


def test_a_real_id_may_be_sent_twice(problems: Problems) -> None:
    call = "{server_tool_use: {name: web_search, id: srvtoolu_01ABC}}"
    assert problems(HEAD + f"script: [{{reply: {{content: [{call}, {call}]}}}}]\n") == []


def test_blank_text_is_no_part_of_the_answer(problems: Problems) -> None:
    script = 'script: [{reply: {content: [{text: "\\n"}, {text: Hi there}]}}]\n'
    assert problems(HEAD + script + "expect: {answer: [Hi there]}\n") == []


def test_the_answer_is_that_of_the_last_request_expected(problems: Problems) -> None:
    script = "script: [{reply: {content: [{text: One}]}}, {reply: {content: [{text: Two}]}}]\n"
    assert problems(HEAD + script + "expect: {requests: 1, answer: [One]}\n") == []
    assert len(problems(HEAD + script + "expect: {requests: 2, answer: [One]}\n")) == 1
    assert problems(HEAD + script + "expect: {answer: [Two]}\n") == []


def test_keys_of_a_turn_stand_in_the_turn(problems: Problems) -> None:
    turns = "turns: [{prompt: p, script: [{reply: {}}]}]\n"
    assert problems(HEAD + turns) == []
    assert len(problems(HEAD + turns + "limits: {max_iterations: 1}\n")) == 1
    assert len(problems(HEAD + turns + "task: {prompt: q}\n")) == 1
    assert problems(HEAD + turns + "task: {max_tokens: 100}\n") == []


def test_texts_of_different_turns_are_told_apart_too(problems: Problems) -> None:
    turn = "{prompt: p, script: [{reply: {content: [{text: Agreed}]}}]}"
    found = problems(HEAD + f"turns: [{turn}, {turn}]\n")
    assert len(found) == 1
    assert "the same text stands in line 4" in found[0]


def test_a_file_with_broken_parts_is_still_checked_elsewhere(broken: Broken) -> None:
    found = broken(("status: completed", "status: done"), ("name: get_weather,", "name: get_wether,"))
    assert len(found) == 2
