"""The package under its two names, beside a repository's own package called `harness`."""

from __future__ import annotations

from typing import Any

import pytest

LOOP = """
import json, urllib.request

def loop(turn):
    body = {"model": turn.model, "max_tokens": turn.max_tokens, "messages": turn.messages}
    headers = {"x-api-key": turn.api_key, "anthropic-version": "2023-06-01"}
    headers["content-type"] = "application/json"
    request = urllib.request.Request(turn.base_url + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        reply = json.load(answer)
    return "".join(block["text"] for block in reply["content"] if block["type"] == "text")
"""
both_entries = pytest.mark.parametrize(
    "as_module", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["pytest", "python -m pytest"]
)


@both_entries
def test_both_names_are_the_same_modules_where_nobody_else_is_called_harness(
    adopter: Any, as_module: bool
) -> None:
    adopter.write(
        {
            "test_it.py": """
import harness.report.lines, harness.turn
import loop_harness.report.lines, loop_harness.turn

def test_same():
    import sys
    assert harness is loop_harness
    assert harness.turn is loop_harness.turn
    assert harness.report.lines is loop_harness.report.lines
    assert harness.Turn is loop_harness.Turn
    for name, module in list(sys.modules.items()):
        if name.startswith("harness."):
            assert module is sys.modules["loop_" + name]

def test_what_is_not_there_is_missing_under_both_names():
    import importlib, pytest
    for name in ("harness.nowhere", "loop_harness.nowhere"):
        with pytest.raises(ModuleNotFoundError, match=name):
            importlib.import_module(name)

def test_an_error_inside_a_module_is_not_hidden():
    import pytest
    with pytest.raises(AttributeError, match="no attribute 'Trun'"):
        harness.Trun
"""
        }
    )

    adopter.pytest(as_module=as_module).assert_outcomes(passed=3)


@both_entries
@pytest.mark.parametrize("conftest", ["", 'pytest_plugins = ["loop_harness.plugin"]\n'])
def test_a_repositorys_own_harness_is_left_alone(adopter: Any, as_module: bool, conftest: str) -> None:
    adopter.write(
        {
            "conftest.py": conftest,
            "harness/__init__.py": "WHOSE = 'theirs'\n",
            "harness/turn.py": "WHOSE = 'theirs, too'\n",
            "tests/__init__.py": "",
            "tests/test_it.py": f"""
import harness, harness.turn
from loop_harness import Turn, conformance
{LOOP}
test_loop = conformance(loop, select="text/one[json]")

def test_theirs():
    assert harness.WHOSE == "theirs"
    assert harness.turn.WHOSE == "theirs, too"
    assert Turn.__module__ == "loop_harness.turn"

def test_provider(harness_provider):
    assert harness_provider.requests == []
""",
        }
    )

    adopter.pytest(as_module=as_module).assert_outcomes(passed=3)


@both_entries
def test_a_folder_of_modules_called_harness_is_left_alone_too(adopter: Any, as_module: bool) -> None:
    adopter.write(
        {
            "conftest.py": "",
            "harness/runner.py": "WHOSE = 'theirs'\n",
            "tests/__init__.py": "",
            "tests/test_it.py": """
import harness.runner, loop_harness.turn

def test_theirs():
    assert harness.runner.WHOSE == "theirs"
""",
        }
    )

    adopter.pytest(as_module=as_module).assert_outcomes(passed=1)


def test_a_folder_of_data_called_harness_is_in_nobodys_way(adopter: Any) -> None:
    adopter.write(
        {
            "harness/notes.yaml": "a: b\n",
            "test_it.py": "from harness import Turn\ndef test_ours(): assert Turn\n",
        }
    )

    adopter.pytest(as_module=True).assert_outcomes(passed=1)


def test_a_loop_named_by_a_string_may_use_the_repositorys_own_harness(adopter: Any) -> None:
    adopter.write(
        {
            "conftest.py": "",
            "harness/__init__.py": "",
            "harness/agent.py": LOOP,
            "test_it.py": """
from loop_harness import conformance
test_loop = conformance("harness.agent:loop", select="text/one[json]")
""",
        }
    )

    adopter.pytest(as_module=True).assert_outcomes(passed=1)


@both_entries
@pytest.mark.parametrize("name", ["harness.plugin", "loop_harness.plugin"])
def test_a_conftest_that_names_the_plugin_does_not_register_it_twice(
    adopter: Any, as_module: bool, name: str
) -> None:
    adopter.write(
        {
            "conftest.py": f"pytest_plugins = [{name!r}]\n",
            "test_it.py": "def test_once(pytestconfig):\n"
            "    plugins = pytestconfig.pluginmanager.get_plugins()\n"
            "    names = [getattr(plugin, '__name__', '') for plugin in plugins]\n"
            "    assert sum(name.endswith('harness.plugin') for name in names) == 1, names\n"
            "def test_works(harness_provider):\n    assert harness_provider.url\n",
        }
    )

    adopter.pytest(as_module=as_module).assert_outcomes(passed=2)


@both_entries
@pytest.mark.parametrize("name", ["harness.plugin", "loop_harness.plugin"])
@pytest.mark.parametrize("conftest", ["", "harness.plugin", "loop_harness.plugin"])
def test_it_can_be_named_where_plugins_are_not_found_by_themselves(
    adopter: Any, as_module: bool, name: str, conftest: str
) -> None:
    adopter.write(
        {
            "conftest.py": f"pytest_plugins = [{conftest!r}]\n" if conftest else "",
            "test_it.py": "def test_works(harness_provider):\n    assert harness_provider.url\n",
        }
    )

    result = adopter.pytest("-p", name, as_module=as_module, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")

    result.assert_outcomes(passed=1)


def test_a_conftest_alone_brings_it_where_plugins_are_not_found_by_themselves(adopter: Any) -> None:
    adopter.write(
        {
            "conftest.py": "pytest_plugins = ['harness.plugin', 'loop_harness.plugin']\n",
            "test_it.py": "def test_works(harness_provider):\n    assert harness_provider.url\n",
        }
    )

    adopter.pytest(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1").assert_outcomes(passed=1)


def test_it_can_be_switched_off(adopter: Any) -> None:
    adopter.write({"test_it.py": "def test_plain(pytestconfig):\n"
        "    assert not pytestconfig.pluginmanager.hasplugin('harness.plugin')\n"})  # fmt: skip

    adopter.pytest("-p", "no:harness.plugin").assert_outcomes(passed=1)


def test_a_package_loaded_before_pytest_is_no_cause_for_a_warning(adopter: Any) -> None:
    adopter.write(
        {"test_it.py": "def test_plain(): import harness, loop_harness; assert harness is loop_harness\n"}
    )

    result = adopter.python(
        "-c", "import harness.turn, loop_harness, pytest; raise SystemExit(pytest.main(['-W', 'error']))"
    )

    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("first", ["harness", "loop_harness"])
def test_the_order_in_which_the_names_are_used_does_not_matter(adopter: Any, first: str) -> None:
    second = {"harness": "loop_harness", "loop_harness": "harness"}[first]

    result = adopter.python(
        "-W", "error", "-c",
        f"import {first}.turn as a, {second}.turn as b; from {second}.report import lines; "
        f"import {first}.report.lines as c; assert a is b and lines is c; print(a.__spec__.name)",
    )  # fmt: skip

    assert result.outlines == [f"{first}.turn"]
