from __future__ import annotations

import sys

import pytest

from harness.loops.driver import DriverError
from harness.loops.resolve import resolve

FORMS = "write it as `package.module:attribute` or `path/to/file.py:attribute`"


@pytest.fixture(autouse=True)
def _untouched_imports(monkeypatch, tmp_path):
    """Modules of a test are gone after it."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def write(tmp_path):
    def write(**files: str) -> None:
        for name, text in files.items():
            path = tmp_path / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            for folder in path.parents:
                if folder == tmp_path:
                    break
                (folder / "__init__.py").touch()

    return write


def message(target: str) -> str:
    with pytest.raises(DriverError) as caught:
        resolve(target)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


def test_a_module_of_the_current_directory_is_found(write):
    write(respkg__agent="def loop(turn): return 'hello'")
    assert resolve("respkg.agent:loop")(None) == "hello"


def test_an_attribute_may_lie_deeper(write):
    write(resdeep="class A:\n    class B:\n        @staticmethod\n        def loop(turn): return 1")
    assert resolve("resdeep:A.B.loop")(None) == 1


def test_a_file_is_loaded_and_finds_what_lies_beside_it(write, tmp_path):
    write(resbeside="word = 'beside'", resfile="import resbeside\ndef loop(turn): return resbeside.word")
    assert resolve("resfile.py:loop")(None) == "beside"
    assert resolve(f"{tmp_path}/resfile.py:loop")(None) == "beside"


def test_a_file_within_a_package_may_import_relatively(write):
    write(
        resrel__sub__words="word = 'relative'",
        resrel__sub__a="from .words import word\ndef loop(turn): return word",
    )
    assert resolve("resrel/sub/a.py:loop")(None) == "relative"


def test_a_file_may_be_called_like_a_module_that_is_loaded(write):
    write(json="def loop(turn): return 'mine'")
    assert resolve("./json.py:loop")(None) == "mine"
    assert sys.modules["json"].loads("1") == 1


def test_a_class_is_made_without_arguments(write):
    write(resclass="class Agent:\n    def __call__(self, turn): return 'made'")
    assert resolve("resclass:Agent")(None) == "made"


@pytest.mark.parametrize("target", ["agent", "agent:", ":loop", ""])
def test_what_has_no_colon_or_half_of_it_is_told_the_forms(target):
    assert message(target) == f"{target!r} does not name a loop: {FORMS}"


def test_what_is_no_module_name_is_told_the_forms():
    assert message("my agent:loop") == f"'my agent' is not the name of a module: {FORMS}"


def test_a_missing_module_is_named_with_the_nearest(write, tmp_path):
    write(resagent="")
    assert message("resagnet:loop") == (
        f"there is no module 'resagnet' (looked in {tmp_path} and on sys.path); did you mean 'resagent'?"
    )


def test_of_a_dotted_name_the_missing_part_is_named(write):
    write(resdot__agents__main="")
    assert message("resdot.agent.main:loop") == (
        "there is no module 'agent' of resdot.agent.main in resdot; did you mean 'agents'?"
    )
    assert message("resdot.agents.mian:loop") == (
        "there is no module 'mian' in resdot.agents; did you mean 'main'?"
    )
    assert message("resdot.agents.main.loop:loop") == (
        "there is no module 'loop': resdot.agents.main is a module, not a package"
    )


def test_a_missing_file_is_named_with_the_nearest(write):
    write(resnear="")
    assert message("resnera.py:loop") == "there is no file resnera.py; did you mean 'resnear.py'?"
    assert message("nowhere/at/all.py:loop") == "there is no file nowhere/at/all.py"


def test_a_missing_attribute_is_named_with_the_nearest(write):
    write(resattr="def agent_loop(turn): pass\nclass A: pass")
    assert message("resattr:agentloop") == (
        "resattr:agentloop: resattr has no attribute 'agentloop'; did you mean 'agent_loop'?"
    )
    assert message("resattr:A.loop") == "resattr:A.loop: A has no attribute 'loop'"


def test_an_import_that_raises_shows_the_owners_frames_and_no_others(write, tmp_path):
    write(resraise="import resinner", resinner="def f():\n    return {}['key']\nf()")
    text = message("resraise:loop")
    assert text.startswith("importing resraise raised KeyError:\n")
    assert text.endswith("KeyError: 'key'")
    assert f'{tmp_path}/resraise.py", line 1' in text
    assert f'{tmp_path}/resinner.py", line 2' in text
    assert "harness" not in text
    assert "importlib" not in text


def test_a_dependency_that_is_missing_is_not_taken_for_the_target(write):
    write(resneeds="import resabsent")
    text = message("resneeds:loop")
    assert text.startswith("importing resneeds raised ModuleNotFoundError:\n")
    assert text.endswith("No module named 'resabsent'")


def test_a_file_that_raises_is_told_likewise(write):
    write(resbroken="1/0")
    text = message("resbroken.py:loop")
    assert "raised ZeroDivisionError" in text
    assert "harness" not in text


def test_a_syntax_error_is_told_with_its_line(write):
    write(ressyntax="def loop(turn):\n    retrun 1")
    assert 'ressyntax.py", line 2' in message("ressyntax:loop")


def test_sys_exit_at_import_does_not_end_us(write):
    write(resexit="import sys\nsys.exit('usage: ...')")
    assert message("resexit:loop").startswith("importing resexit called sys.exit:\n")


def test_an_object_that_is_not_callable_is_refused(write):
    write(resobject="loop = 5")
    assert (
        message("resobject:loop")
        == "resobject:loop is an int, not a callable: a loop is called as `loop(turn)`"
    )


def test_a_class_whose_instances_are_not_callable_is_refused(write):
    write(resplain="class Agent: pass")
    assert message("resplain:Agent") == (
        "resplain:Agent is a class whose instances are not callable: give it `__call__(self, turn)`"
    )


def test_a_class_that_wants_arguments_is_refused(write):
    write(resargs="class Agent:\n    def __init__(self, model): pass\n    def __call__(self, turn): pass")
    assert message("resargs:Agent").startswith(
        "resargs:Agent is a class that cannot be made without arguments: "
    )


@pytest.mark.parametrize("parameters", ["", "turn, model", "*, turn"])
def test_a_function_that_cannot_be_called_with_a_turn_is_refused(write, parameters):
    write(ressign=f"def loop({parameters}): pass")
    assert message("ressign:loop").startswith(f"ressign:loop takes ({parameters}): ")
