"""The shape of the package, walked with `ast`: who imports whom, and what is imported where."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.every import every

PACKAGE = Path(__file__).parent.parent / "harness"

LAYERS: dict[str, int] = {
    name: layer
    for layer, names in enumerate(
        [
            "__init__ wire clauses clock mended reach signals project",
            "turn history plain lent store transcript",
            "scenario census evidence looks arrange exchange display declaration keys crash own_tools",
            "provider loops checks",
            "reading judge cassettes",
            "rival case stretched killing beside probe probe_scripts client_probe pulse",
            "retrial runner attached control doctor chosen serving fake",
            "report catalogue_doc baseline profiles",
            "commands cli plugin plugin_case plugin_known plugin_report __main__",
        ]
    )
    for name in names.split()
}
SIBLINGS = ("provider", "loops", "checks")
"""Of one layer, and yet they never import each other."""

ONLY_IN = {
    "anthropic": ("loops/",),
    "vcr": ("cassettes/",),
    "faker": ("scenario/filler.py",),
    "pytest": ("plugin.py", "plugin_case.py", "plugin_known.py", "plugin_report.py"),
    "httptools": ("provider/connection.py", "provider/server.py"),
    "uvloop": ("provider/server.py",),
    "httpx2": ("cassettes/", "loops/client.py"),
    "rich": ("commands/", "report/text.py"),
    "yaml": ("scenario/", "cassettes/", "baseline/", "profiles/"),
}
LISTENING = {"listen", "create_server", "start_server", "start_unix_server", "create_unix_server"}

MODULES = sorted(
    path for path in PACKAGE.rglob("*.py") if "alias" not in path.parts and "bundled" not in path.parts
)


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def top(path: Path) -> str:
    """The part of the package a module belongs to: `scenario`, `runner`."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@functools.cache
def nodes(path: Path) -> tuple[ast.Import | ast.ImportFrom | ast.Call, ...]:
    """What is imported and called in a module."""
    everything = ast.walk(ast.parse(path.read_text()))
    return tuple(node for node in everything if isinstance(node, ast.Import | ast.ImportFrom | ast.Call))


def imports(path: Path) -> Iterator[tuple[int, ast.Import | ast.ImportFrom]]:
    return ((node.lineno, node) for node in nodes(path) if not isinstance(node, ast.Call))


def inner(path: Path, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The parts of our own package that an import names."""
    if not isinstance(node, ast.ImportFrom) or not node.level:
        return
    here = list(path.relative_to(PACKAGE).parts[:-1])
    base = here[: len(here) - (node.level - 1)] + (node.module.split(".") if node.module else [])
    yield from base[:1] if base else (alias.name for alias in node.names)


def outer(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The top-level packages of others that an import names."""
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif not node.level and node.module:
        yield node.module.partition(".")[0]


@every(MODULES, name_of)
def test_a_module_imports_only_from_its_own_layer_and_below(path: Path) -> None:
    here = top(path)
    assert here in LAYERS, f"harness/{here} has no layer yet: give it one in {Path(__file__).name}"
    for line, node in imports(path):
        for there in inner(path, node):
            if there in (here, "__version__"):
                continue
            where = f"{name_of(path)}:{line}"
            assert there in LAYERS, f"{where} imports {there}, which has no layer"
            # The package's own lazy exports may name anything: nothing is imported until it is used.
            assert here == "__init__" or LAYERS[there] <= LAYERS[here], f"{where} imports {there}, above it"
            assert not (here in SIBLINGS and there in SIBLINGS), f"{where}: {here} and {there} are siblings"


@every(MODULES, name_of)
def test_imports_inside_the_package_are_relative(path: Path) -> None:
    own = [
        line for line, node in imports(path) for name in outer(node) if name in ("harness", "loop_harness")
    ]

    assert own == [], f"{name_of(path)}: it must work when it is loaded as loop_harness"


@every(MODULES, name_of)
def test_a_library_is_imported_only_where_it_belongs(path: Path) -> None:
    name = name_of(path)
    for line, node in imports(path):
        for library in outer(node):
            places = ONLY_IN.get(library)
            assert places is None or name.startswith(places), f"{name}:{line} imports {library}"


@every(MODULES, name_of)
def test_only_the_providers_server_listens(path: Path) -> None:
    if name_of(path) == "provider/server.py":
        return
    calls = [
        node.func.attr
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]

    assert not LISTENING.intersection(calls)


def test_no_module_is_longer_than_400_lines_and_no_test_either() -> None:
    tests = Path(__file__).parent.rglob("*.py")
    lengths = {str(path): len(path.read_text().splitlines()) for path in [*MODULES, *tests]}

    assert {path: length for path, length in lengths.items() if length > 400} == {}


def test_every_module_is_looked_at() -> None:
    assert {"turn.py", "provider/session.py", "report/text.py"} <= {name_of(path) for path in MODULES}


@pytest.mark.parametrize("name", ["harness.plugin", "loop_harness.plugin"])
def test_importing_the_plugin_pulls_in_nothing_heavy(name: str) -> None:
    heavy = {"anthropic", "vcr", "faker", "httptools", "uvloop", "msgspec", "yaml", "rich", "asyncio"}
    code = (
        "import pytest, sys; before = set(sys.modules); "
        f"import {name}; print(*sorted(set(sys.modules) - before))"
    )
    added = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": f"{PACKAGE.parent}:{PACKAGE / 'alias'}"},
    ).stdout.split()

    assert name in added
    assert not heavy.intersection(module.partition(".")[0] for module in added)
    assert not [module for module in added if ".provider" in module]
