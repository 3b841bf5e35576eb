"""Scripts for loops that are known to be wrong: short, and telling them from the right one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.case import Case
from harness.probe import Probe
from harness.report.model import BAD, LoopReport
from harness.report.repro import LINES, script
from harness.runner import CaseResult, Runner
from harness.scenario.discover import find_scenarios
from harness.turn import EXPOSABLE
from tests.commanding import ROOT
from tests.loops.mutants import MUTANTS, Mutant

SCENARIOS = {scenario.id: scenario for scenario in find_scenarios(seed=1)}
SAMPLE = [mutant for number, mutant in enumerate(MUTANTS.values()) if number % 9 == 0]
PLAIN = """
import os, sys
from harness.history import AnyEvent
from harness.scenario.discover import find_scenarios
from harness.loops.reference import loop as reference
from harness.store import Store
from harness.turn import Turn, TurnSpec
from tests.loops import mutants

name, scenario, variant = sys.argv[1:]
[found] = [each for each in find_scenarios(seed=1) if each.id == scenario]
[turn] = found.turns
spec = TurnSpec(
    base_url=os.environ["ANTHROPIC_BASE_URL"], api_key=os.environ["ANTHROPIC_API_KEY"],
    model=found.task.model, max_tokens=found.task.max_tokens, system=found.task.system, prompt=turn.prompt,
    messages=[{"role": "user", "content": turn.prompt}], conversation="c", tools=found.tools,
    stream=variant == "sse", limits=turn.limits, checkpoint_key="checkpoint", cancel_key="cancel",
)
loop = getattr(mutants, name) if name != "reference" else reference
print(loop(Turn(spec, lambda event: True, Store())))
"""


def played(mutant: Mutant, variant: str = "") -> list[CaseResult]:
    """What becomes of a mutant in the scenarios it is to be caught in."""
    cases = [Case(SCENARIOS[name], variant or mutant.variants[0]) for name in mutant.scenarios]
    with Runner(mutant.loop, seed=1, probe=Probe(exposes=sorted(EXPOSABLE))) as runner:
        return [result for result in runner.run_all(cases) if result.grade in BAD]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_whatever_is_wrong_it_is_a_program_of_forty_lines() -> None:
    lengths = {}
    for mutant in SAMPLE:
        for result in played(mutant):
            text = script(LoopReport(name=mutant.name), result)
            compile(text, "repro.py", "exec")
            lengths[f"{mutant.name} in {result.id}"] = len(text.splitlines())

    assert len(lengths) >= len(SAMPLE)
    assert {name: length for name, length in lengths.items() if length > LINES} == {}


def run(text: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "repro.py").write_text(text)
    (folder / "client.py").write_text(PLAIN)
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'harness' / 'alias'}"}
    command = [sys.executable, "repro.py", sys.executable, "client.py", *arguments]
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("name", "scenario", "variant"),
    [
        ("exits_on_no_tool_call", "pause/no-tools", "json"),
        ("strips_thinking", "thinking/tool-turn", "sse"),
    ],
)
def test_a_loop_with_the_fault_is_caught_and_the_right_one_is_not(
    name: str, scenario: str, variant: str, tmp_path: Path
) -> None:
    [result] = [each for each in played(MUTANTS[name], variant) if each.scenario == scenario]
    text = script(LoopReport(name=name), result)

    wrong = run(text, tmp_path, name, scenario, variant)
    right = run(text, tmp_path, "reference", scenario, variant)

    assert (wrong.returncode, right.returncode) == (1, 0), wrong.stderr + right.stderr + right.stdout
    assert wrong.stderr.startswith("The fault: ")
    assert "as recorded" in wrong.stdout
