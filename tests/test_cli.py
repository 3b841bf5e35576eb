"""The command line: what it prints, and the code it exits with."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from harness import __version__
from harness.cli import main
from harness.commands.verdict import exit_code
from harness.judge import CheckResult
from harness.runner import CaseResult

ROOT = Path(__file__).parent.parent
RIGHT = "harness.loops.reference:loop"
LOOP = '''
import json, urllib.request

def ask(turn):
    body = {"model": turn.model, "max_tokens": turn.max_tokens, "messages": turn.messages}
    headers = {"x-api-key": turn.api_key, "anthropic-version": "2023-06-01"}
    headers["content-type"] = "application/json"
    request = urllib.request.Request(turn.base_url + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)

def loop(turn):
    """Right for a text, wrong for whatever needs a second request."""
    return "".join(block["text"] for block in ask(turn)["content"] if block["type"] == "text")

def silent(turn):
    return "I asked nobody."

def broken(turn):
    raise RuntimeError("no such luck")
'''


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a few loops in `mine.py`."""
    (tmp_path / "mine.py").write_text(LOOP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed, to either stream."""
    out, err = capsys.readouterr()
    return out + err


def test_a_right_loop_exits_with_0_and_its_coverage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "text/one", "--loop", RIGHT]) == 0
    assert "2 cases: 2 pass" in told(capsys)


def test_a_broken_clause_exits_with_1_and_is_the_first_thing_on_the_screen(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "pause/no-tools", "--loop", "mine:loop"]) == 1

    out = capsys.readouterr().out
    assert out.startswith("FAIL  PAUSE-1  ")
    assert "loop-harness run 'pause/no-tools[json]' --loop mine:loop --seed 1" in out


def test_a_clause_broken_in_many_cases_is_explained_once(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "pause/no-tools", "pause/twice", "--loop", "mine:loop"])

    out = capsys.readouterr().out
    assert out.count("FAIL  PAUSE-1") == 1
    assert "also          PAUSE-1 in pause/twice[json]" in out


def test_a_loop_that_returns_only_a_string_is_judged_by_what_it_exposes(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "text/one", "--loop", "mine:loop"]) == 0

    out = capsys.readouterr().out
    assert "not judged" in out
    assert "clauses decided" in out


def test_the_loop_can_run_in_this_process(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "text/one", "--loop", "mine:loop", "--in-process"]) == 0
    assert "mine" in sys.modules


@pytest.mark.parametrize(
    ("loop", "message"),
    [
        ("nowhere:loop", "there is no module 'nowhere'"),
        ("mine:lop", "did you mean 'loop'?"),
        ("mine:silent", "returned without asking the provider"),
        ("mine:broken", "raised RuntimeError before it asked the provider: no such luck"),
    ],
)
def test_a_loop_that_cannot_be_driven_exits_with_4_and_says_why(
    here: Path, capsys: pytest.CaptureFixture[str], loop: str, message: str
) -> None:
    assert main(["run", "text/one", "--loop", loop]) == 4

    out, err = capsys.readouterr()
    assert message in err
    assert out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "pause/no-tool", "--loop", "a:b"], "did you mean `pause/no-tools`?"),
        (["run", "--loop", "a"], "name the loop as PKG.MOD:ATTR"),
        (["run", "--loop", "a:b", "--report", "xml:here"], "--report xml:here: write json:PATH"),
        (["run", "--loop", "a:b", "--report", "json:no/where.json"], "there is no folder no"),
        (["run", "--loop", "a:b", "--report", "json:/"], "--report json:/: Is a directory"),
        (["run", "--loop", "a:b", "--report", "json:/proc/report"], "--report json:/proc/report: "),
        (["run", "--loop", "a:b", "--scenarios", "nowhere"], "nowhere"),
        (["run", "text/one", "--loop", "mine:loop", "--history", "full"], "full/text/one.json.ndjson cannot"),
        (["explain", "PAUS-1"], "did you mean `PAUSE-1`?"),
        (["judge", "nothing.ndjson"], "nothing.ndjson: No such file or directory"),
        (["serve", "--script", "nothing.yaml"], "nothing.yaml"),
    ],
)
def test_a_users_mistake_exits_with_2_and_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    (here / "full" / "text").mkdir(parents=True)
    (here / "full" / "text" / "one.json.ndjson").symlink_to("/dev/full")

    assert main(arguments) == 2

    out, err = capsys.readouterr()
    assert message in err
    assert "Traceback" not in err
    assert out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--loop", "a:b", "--jobs", "0"], "'0' is no number of processes; write 1 to 999"),
        (["run", "--loop", "a:b", "--jobs", "two"], "'two' is no number of processes; write 1 to 999"),
        (["run", "--loop", "a:b", "--seed", "-1"], "'-1' is no seed; write 0 to "),
        (["serve", "--port", "65536"], "'65536' is no port; write 0 to 65535"),
    ],
)
def test_what_argparse_refuses_exits_with_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert message in capsys.readouterr().err


def test_an_error_of_the_harness_itself_exits_with_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("LOOP_HARNESS_TRACEBACK", raising=False)

    def wrong(*_: object, **__: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr("harness.commands.chosen.find_cases", wrong)

    assert main(["list"]) == 3
    assert "an error of the harness itself: KeyError: 'lost'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("grades", "relaxed", "strict"),
    [
        (["pass"], 0, 0),
        (["pass", "warn"], 0, 1),
        (["pass", "inconclusive"], 0, 1),
        (["pass", "unsupported"], 0, 0),
        (["pass", "fail"], 1, 1),
        (["pass", "error"], 1, 1),
        (["inconclusive"], 4, 4),
        (["unsupported"], 4, 4),
        ([], 4, 4),
    ],
)
def test_the_exit_code_follows_from_the_grades(grades: list[str], relaxed: int, strict: int) -> None:
    results = [
        CaseResult(
            scenario="a",
            variant="json",
            grade=grade,
            checks=[CheckResult(clause="END-1", level="MUST", grade=grade)],
        )
        for grade in grades
    ]

    assert exit_code(results, strict=False) == relaxed
    assert exit_code(results, strict=True) == strict


def test_the_report_has_the_agreed_form(here: Path) -> None:
    main(["run", "text/one", "--loop", "mine:loop", "--report", "json:report.json", "--seed", "7"])

    report = json.loads((here / "report.json").read_text())
    assert report.keys() == {"schema", "loop", "seed", "results", "coverage"}
    assert (report["schema"], report["loop"], report["seed"]) == (1, "mine:loop", 7)
    [result] = report["results"]
    assert result.keys() == {"scenario", "grade", "seconds", "checks"}
    assert (result["scenario"], result["grade"]) == ("text/one[json]", "pass")
    assert all(
        check.keys() == {"clause", "level", "grade", "evidence", "message"} for check in result["checks"]
    )
    assert [path.name for path in here.iterdir() if "report" in path.name] == ["report.json"]


def test_a_kept_history_is_judged_the_same_again(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "pause/no-tools", "--loop", "mine:loop", "--history", "kept"]) == 1
    live = capsys.readouterr().out
    stored = here / "kept" / "pause" / "no-tools.json.ndjson"

    assert main(["judge", str(stored)]) == 1
    again = capsys.readouterr().out
    assert again.splitlines()[0] == live.splitlines()[0]
    assert "clauses decided" in again


def test_a_history_that_breaks_off_is_no_evidence(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "text/one", "--loop", "mine:loop", "--history", "kept"])
    stored = here / "kept" / "text" / "one.json.ndjson"
    whole = stored.read_bytes().splitlines(keepends=True)
    stored.write_bytes(b"".join(whole[:-1]))
    capsys.readouterr()

    assert main(["judge", str(stored)]) == 4
    assert "incomplete" in told(capsys)


def test_list_names_each_scenario_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "pause"]) == 0

    out = capsys.readouterr().out
    assert out.count("pause/no-tools[json,sse]") == 1
    assert "PAUSE-1" in out


def test_explain_tells_all_about_a_clause(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "pause-1"]) == 0

    out = capsys.readouterr().out
    assert out.startswith("PAUSE-1  MUST")
    for label in ("asks", "because", "ground", "source", "advice", "scenarios"):
        assert f"\n  {label}" in out
    assert "pause/no-tools" in out


def test_explain_shows_a_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "pause/no-tools[sse]"]) == 0
    assert "stop_reason: pause_turn" in capsys.readouterr().out


def test_validate_names_every_problem_with_its_place(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "bad.yaml").write_text("titel: A\nclauses: [PAUSE-99]\nscript:\n  - repli: {}\n")

    assert main(["validate", "bad.yaml"]) == 2
    out = capsys.readouterr().out
    assert "bad.yaml:1:1: " in out
    assert "did you mean `title`" in out
    assert "PAUSE-99" in out
    assert "bad.yaml:4:" in out


def test_the_bundled_scenarios_are_valid(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(ROOT / "scenarios")]) == 0
    assert "no problem" in capsys.readouterr().out


def test_schema_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["properties"]["title"]


def test_the_version_is_that_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"loop-harness {__version__}\n"
    assert f'version = "{__version__}"' in (ROOT / "pyproject.toml").read_text()


# --- as a process ----------------------------------------------------------------------------------


def start(*arguments: str, cwd: Path = ROOT) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "harness", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'harness' / 'alias'}"},
        # Where the tests run in the background of a shell, SIGINT is ignored, and that would be inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,  # noqa: PLW1509
    )


def test_ctrl_c_ends_a_run_with_one_line_and_nothing_left_behind(here: Path) -> None:
    (here / "slow.py").write_text(
        LOOP + "\nimport os, pathlib, time\ndef slow(turn):\n    ask(turn)\n"
        "    pathlib.Path('pid').write_text(str(os.getpid()))\n    time.sleep(60)\n"
    )
    process = start("run", "text", "--loop", "slow:slow", cwd=here)
    until(lambda: (here / "pid").exists() and (here / "pid").read_text())

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)

    assert process.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in out + err
    until(lambda: not alive(int((here / "pid").read_text())))


def test_a_reader_that_goes_away_is_no_error() -> None:
    process = start("schema")
    assert process.stdout
    process.stdout.close()

    assert process.wait(timeout=30) in (0, -signal.SIGPIPE)
    assert process.stderr
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()


def test_a_reader_that_goes_away_changes_neither_the_exit_code_nor_the_report(here: Path) -> None:
    process = start("run", "pause/no-tools", "--loop", "mine:loop", "--report", "json:report.json", cwd=here)
    assert process.stdout
    process.stdout.close()
    _, err = process.communicate(timeout=60)

    assert (process.returncode, err) == (1, "")
    assert json.loads((here / "report.json").read_text())["results"][0]["grade"] == "fail"


@pytest.mark.parametrize(
    ("to", "code", "told"),
    [
        (">&-", 0, ""),
        (">/dev/full", 2, "loop-harness: the output cannot be written: No space left on device\n"),
    ],
)
def test_an_output_that_takes_nothing_is_no_error_of_the_harness(to: str, code: int, told: str) -> None:
    command = f"'{sys.executable}' -m harness list {to}"
    ended = subprocess.run(
        ["/bin/sh", "-c", command], check=False, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )

    assert (ended.returncode, ended.stderr) == (code, told)


def test_an_encoding_that_lacks_a_character_gets_another(here: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "harness", "run", "text/one", "--loop", "mine:loop"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, cwd=here, env=env)

    assert (ended.returncode, ended.stderr) == (0, "")
    assert "return Outcome(status=...)" in ended.stdout


def test_modules_beside_the_loop_are_the_loops_business_alone(here: Path) -> None:
    for name in ("json", "random", "queue"):
        (here / f"{name}.py").write_text("raise SystemExit('this is not the one you want')")
    (here / "idle.py").write_text("def loop(turn):\n    return turn.prompt")

    # As the installed command, which does not look for its own modules where it is called.
    out = in_a_terminal(here, "run", "text/one", "--loop", "idle:loop", PYTHONSAFEPATH="1")

    assert "idle:loop: returned without asking the provider" in out
    assert "not the one you want" not in out


def test_serve_prints_where_and_answers_anybody() -> None:
    process = start("serve")
    try:
        url, key = serving(process)
        assert key.startswith("sk-ant-")
        for _ in range(2):
            assert "loop-harness" in ask(url, key, "Hello?")["content"][0]["text"]
        assert ask(url, "another key", "Hello?")["stop_reason"] == "end_turn"
    finally:
        process.terminate()
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert err == ""


def test_serve_plays_a_scenario_again_and_again() -> None:
    process = start("serve", "--script", "scenarios/pause/no-tools.yaml")
    try:
        url, key = serving(process)
        for _ in range(2):
            first = ask(url, key, "What is new?")
            assert first["stop_reason"] == "pause_turn"
            second = ask(url, key, "What is new?", first["content"])
            assert second["stop_reason"] == "end_turn"
            assert second["content"][-1]["text"] == "Two modules were removed."
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_serve_goes_on_with_the_next_turn_when_the_user_says_more(here: Path) -> None:
    (here / "two.yaml").write_text(
        "title: Two turns\nclauses: [END-1]\nwhy: a second turn\nturns:\n"
        "  - {prompt: One?, script: [{reply: {content: [{text: First.}]}}]}\n"
        "  - {prompt: Two?, script: [{reply: {content: [{text: Second.}]}}]}\n"
    )
    process = start("serve", "--script", "two.yaml", cwd=here)
    try:
        url, key = serving(process)
        for _ in range(2):
            first = ask(url, key, "Whatever.")["content"]
            assert first[0]["text"] == "First."
            assert ask(url, key, "Whatever.", first, "More.")["content"][0]["text"] == "Second."
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_serve_gives_a_retry_the_next_step_and_not_the_first_again(here: Path) -> None:
    (here / "busy.yaml").write_text(
        "title: Busy, then not\nclauses: [END-1]\nwhy: a retry\n"
        "script: [{fault: {status: 529}}, {reply: {content: [{text: Here.}]}}]\n"
    )
    process = start("serve", "--script", "busy.yaml", cwd=here)
    try:
        url, key = serving(process)
        for _ in range(2):
            with pytest.raises(urllib.error.HTTPError, match="529") as caught:
                ask(url, key, "Hello?")
            caught.value.close()
            assert ask(url, key, "Hello?")["content"][0]["text"] == "Here."
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_serve_says_that_a_port_is_taken() -> None:
    first = start("serve")
    try:
        url, _ = serving(first)
        port = url.split(":")[2].partition("/")[0]
        second = start("serve", "--port", port)
        out, err = second.communicate(timeout=30)
    finally:
        first.terminate()
        first.communicate(timeout=30)

    assert (second.returncode, out) == (2, "")
    assert f"port {port} cannot be opened" in err


def until(reached: object, seconds: float = 20.0) -> None:
    assert callable(reached)
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def serving(process: subprocess.Popen[str]) -> tuple[str, str]:
    assert process.stdout
    lines = [process.stdout.readline().strip() for _ in range(2)]
    assert [line.partition("=")[0] for line in lines] == ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"]
    return lines[0].partition("=")[2], lines[1].partition("=")[2]


def ask(url: str, key: str, text: str, said: object = None, more: str = "") -> dict:  # type: ignore[type-arg]
    messages: list[object] = [{"role": "user", "content": text}]
    if said is not None:
        messages.append({"role": "assistant", "content": said})
    if more:
        messages.append({"role": "user", "content": more})
    body = json.dumps({"model": "claude-opus-4-6", "max_tokens": 64, "messages": messages}).encode()
    headers = {"x-api-key": key, "anthropic-version": "2023-06-01", "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/v1/messages", body, headers)) as answer:
        return json.load(answer)  # type: ignore[no-any-return]


def test_a_terminal_gets_colour_and_a_progress_bar(here: Path) -> None:
    out = in_a_terminal(here, "run", "pause/no-tools", "--loop", "mine:loop")

    assert "\x1b[1;31mFAIL  PAUSE-1" in out
    assert "0/1" in out
    assert out.index("FAIL  PAUSE-1") < out.index("1 case: 1 fail")


def test_no_color_is_respected(here: Path) -> None:
    out = in_a_terminal(here, "explain", "PAUSE-1", NO_COLOR="1")

    assert "PAUSE-1  MUST" in out
    assert "\x1b[" not in out


def in_a_terminal(here: Path, *arguments: str, **env: str) -> str:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=here,
        env={**kept, "TERM": "xterm", "PYTHONPATH": f"{ROOT}:{ROOT / 'harness' / 'alias'}", **env},
    )
    os.close(theirs)
    said = bytearray()
    try:
        while part := os.read(ours, 65536):
            said += part
    except OSError:
        pass  # that is how Linux says that the other end was closed
    finally:
        os.close(ours)
        process.wait(timeout=30)
    return said.decode()
