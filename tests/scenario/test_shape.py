"""Files that are not well-formed: what is said, and where."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import yaml

from harness.scenario import nodes
from harness.scenario.load import parse_scenario

Broken = Callable[..., list[str]]
Problems = Callable[[str | bytes], list[str]]


def test_the_unchanged_scenario_has_no_problem(broken: Broken) -> None:
    assert broken() == []


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "1:1: the file is empty"),
        (b"# only a comment\n", "1:1: the file is empty"),
        (b"- a\n- b\n", "1:1: expected a mapping with title, clauses"),
        (b"just text", "1:1: expected a mapping with title, clauses"),
        (b"title: caf\xe9\n", "1:11: byte 0xe9 is not UTF-8"),
        (b"title: a\n\twhy: b\n", "a tab where YAML wants spaces"),
        (b"title: a: b\n", "1:9: `: ` is not allowed inside an unquoted text"),
        (b"title: *nowhere\n", "1:8: the alias has no anchor"),
        (b"title: a\n---\ntitle: b\n", "a second document begins here"),
        (b"title: 'open\n", "a quote is not closed"),
        (b"title: a\x01b\n", "1:9: character U+0001 is not allowed"),
        (b"[" * 5000, "nested too deeply"),
        (b"title: [a\n", "not YAML: "),
    ],
)
@pytest.mark.parametrize("parser", ["fast", "pure"])
def test_what_is_no_scenario_at_all_is_one_line(
    problems: Problems, monkeypatch: pytest.MonkeyPatch, data: bytes, said: str, parser: str
) -> None:
    if parser == "pure":  # what platforms without libyaml have
        monkeypatch.setattr(nodes, "_LOADER", yaml.SafeLoader)
    found = problems(data)
    assert len(found) >= 1
    assert said in found[0]


def test_a_byte_order_mark_is_no_problem(problems: Problems) -> None:
    assert problems(b"\xef\xbb\xbftitle: a\n") == problems(b"title: a\n")
    assert len(problems(b"title: a\n")) == 3


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("expect:", "expcet:", "15:1: unknown key `expcet`; did you mean `expect`?"),
        ("why: a", "# why: a", "1:1: `why` is missing"),
        ("stop_reason:", "stopreason:", "9:7: unknown key `stopreason`; did you mean `stop_reason`?"),
        ("requests: 2", "requests: two", "expected a whole number, found the text `two`"),
        ("requests: 2", "requests: 2.0", "expected a whole number, found the value `2.0`"),
        ("requests: 2", "requests: true", "expected a whole number, found the value `true`"),
        ("requests: 2", "requests: -1", "-1 is too small; write 0 or more"),
        ("requests: 2", "requests: ", "nothing is written here"),
        ("clauses: [TOOL-1, TOOL-2]", "clauses: TOOL-1", "expected a list, found the text `TOOL-1`"),
        ("status: completed", "status: complete", "did you mean `completed`?"),
        ("status: completed", "status: {a: 1}", "found a mapping"),
        ("content: [{text: Cold and wet.}]", "content: [Cold and wet.]", "write `text: Cold and wet.`"),
        ("text: Cold and wet.", "txt: Cold and wet.", "unknown block `txt`; did you mean `text`?"),
        ("text: Cold and wet.", "gizmo: 1", "unknown block `gizmo`; write any other block as `type: gizmo`"),
        ("text: Cold and wet.", "text: [1]", "`text` takes text"),
        ("{name: get_weather, input: {city: Oslo}}", "get_weather", "`tool_use` takes a mapping with name"),
        ("{name: get_weather, input: {city: Oslo}}", "{input: {}}", "`tool_use` needs `name`"),
        ("input: {city: Oslo}", "input: Oslo", "`input` of `tool_use` is a mapping"),
        ("result: 4 degrees and rain", "delay: -1", "-1 is too small; write 0 or more"),
        ("title: A", "streams: olny\ntitle: A", "did you mean `only`?"),
        ("title: A", "deadline: 0\ntitle: A", "0 is too small; write more than 0"),
    ],
)
def test_a_wrong_part_is_named_with_what_belongs_there(broken: Broken, old: str, new: str, said: str) -> None:
    found = broken((old, new))
    assert any(said in problem for problem in found), found


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("no", 'YAML reads `no` as false; write "no"'),
        ("on", 'YAML reads `on` as true; write "on"'),
        ("2026-01-01", 'write "2026-01-01"'),
        ("010", 'write "010"'),
        ("1:30", 'write "1:30"'),
        ("12.50", 'YAML reads `12.50` as 12.5; write "12.50"'),
        ("42", '`42` is no text to YAML; write "42"'),
        ("~", "YAML reads `~` as nothing"),
        ("!secret x", "the YAML tag `!secret` is not known here"),
    ],
)
def test_what_yaml_takes_for_something_else_is_said_where_text_belongs(
    broken: Broken, written: str, said: str
) -> None:
    found = broken(("why: a loop that shows the preamble and stops", f"why: {written}"))
    assert len(found) == 1
    assert found[0].startswith("3:6: ")
    assert said in found[0]


@pytest.mark.parametrize(
    "written", ["no", "yes", "off", "2026-01-01", "010", "0x1f", "1:30", "1e400", "1_000"]
)
def test_what_yaml_would_change_is_said_inside_an_input_too(broken: Broken, written: str) -> None:
    found = broken(("input: {city: Oslo}", f"input: {{city: {written}}}"))
    assert len(found) == 1
    assert found[0].startswith("12:55: ")
    assert f"`{written}`" in found[0]


@pytest.mark.parametrize("written", [".inf", "-.inf", ".nan", "1.0e+400"])
def test_what_is_no_number_of_json_is_refused(broken: Broken, written: str) -> None:
    assert len(broken(("input: {city: Oslo}", f"input: {{city: {written}}}"))) == 1


def test_a_key_that_yaml_does_not_read_as_text_has_to_be_quoted(broken: Broken) -> None:
    found = broken(("input: {city: Oslo}", "input: {on: 1}"))
    assert found == ['12:49: YAML does not read the key `on` as text; write "on"']


def test_a_key_written_twice_is_an_error_that_names_the_first(broken: Broken) -> None:
    found = broken(("why: a", "why: once\nwhy: a"))
    assert found == ["4:1: `why` is written twice; it stands in line 3 already"]


def test_values_of_json_survive_whatever_their_size() -> None:
    text = """
title: t
clauses: [TOOL-6]
why: w
task: {prompt: p}
tools: {put: {result: fine}}
script:
  - reply:
      stop_reason: tool_use
      content:
        - tool_use:
            name: put
            input: {id: 9007199254740993, huge: 123456789012345678901234567890, a: {}, b: [], c: null,
                    d: "", e: 1.5, f: true, g: "\\U0001F989 no"}
"""
    reply = parse_scenario(text.encode(), scenario_id="x").turns[0].script[0].reply
    assert reply is not None
    assert reply.content[0]["input"] == {
        "id": 9007199254740993,
        "huge": 123456789012345678901234567890,
        "a": {},
        "b": [],
        "c": None,
        "d": "",
        "e": 1.5,
        "f": True,
        "g": "\U0001f989 no",
    }


def test_an_integer_of_thousands_of_digits_is_refused_not_a_crash(broken: Broken) -> None:
    found = broken(("input: {city: Oslo}", f"input: {{city: {'9' * 5000}}}"))
    assert len(found) == 1
    assert "too many digits" in found[0]


def test_anchors_and_merge_keys_can_be_used(broken: Broken) -> None:
    merged = """{<<: &base {name: get_weather}, input: {city: Oslo}}"""
    assert broken(("{name: get_weather, input: {city: Oslo}}", merged)) == []


def test_a_merged_key_gives_way_to_one_that_is_written() -> None:
    text = """
title: t
clauses: [TOOL-6]
why: w
task: {prompt: p}
script:
  - reply: &first {stop_reason: pause_turn, usage: {input_tokens: 1}}
  - reply: {<<: *first, stop_reason: end_turn}
"""
    script = parse_scenario(text.encode(), scenario_id="x").turns[0].script
    assert [step.reply.stop_reason for step in script if step.reply] == ["pause_turn", "end_turn"]
    assert [step.reply.usage for step in script if step.reply] == [{"input_tokens": 1}] * 2


@pytest.mark.parametrize(
    "value", ["&loop [*loop]", "&loop {a: *loop}", "&loop {<<: *loop}", "[&loop {a: [*loop]}]"]
)
def test_an_alias_inside_what_it_names_is_refused(broken: Broken, value: str) -> None:
    found = broken(("input: {city: Oslo}", f"input: {{city: {value}}}"))
    assert len(found) == 1
    assert "an alias stands inside what it names" in found[0]


def test_aliases_that_multiply_without_end_are_refused(broken: Broken) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    found = broken(("input: {city: Oslo}", "input: {" + ", ".join(lines) + "}"))
    assert len(found) == 1
    assert "values, counting what aliases stand for" in found[0]


def test_all_problems_are_reported_at_once_and_in_order(broken: Broken) -> None:
    found = broken(
        ("clauses: [TOOL-1, TOOL-2]", "clauses: [TOOL-1, TOLL-2]"),
        ("why:", "wyh:"),
        ("name: get_weather,", "name: get_wether,"),
        ("status: completed", "status: done"),
        ("answer: [Cold and wet.]", "answer: [Warm and dry.]"),
    )
    places = [tuple(map(int, problem.split(":")[:2])) for problem in found]
    assert places == sorted(places)
    assert {line for line, _ in places} == {1, 2, 3, 12, 15}
    assert len(found) == 6
