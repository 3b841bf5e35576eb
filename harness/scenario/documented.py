"""What the model's docstrings say about its keys, for the JSON Schema and the docs.

Python keeps no docstring of a field at run time, so the source is read. Only the schema and the docs need it.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache

import msgspec

from ..turn import Behaviour, Limits
from .file import ScenarioFile, ToolFile, TurnFile
from .model import Break, Cancel, Crash, Expect, Fault, Lane, Reply, Rival, Step, Task

MODELS: tuple[type[msgspec.Struct], ...] = (
    ScenarioFile,
    Task,
    TurnFile,
    Limits,
    Step,
    Reply,
    Break,
    Fault,
    Expect,
    Cancel,
    Crash,
    Rival,
    ToolFile,
    Behaviour,
    Lane,
)
"""Every mapping a scenario file is made of, in the order in which the docs explain them."""


@cache
def field_docs(model: type[msgspec.Struct]) -> dict[str, str]:
    """The docstring of each field, on one line; fields without one are left out."""
    source = textwrap.dedent(inspect.getsource(model))
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.ClassDef)  # noqa: S101 - the source of a class
    docs: dict[str, str] = {}
    for statement, following in zip(definition.body, definition.body[1:], strict=False):
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
            continue
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            docs[statement.target.id] = " ".join(str(following.value.value).split())
    return docs


def summary(model: type[msgspec.Struct]) -> str:
    """The first paragraph of the model's docstring, on one line."""
    return " ".join((inspect.getdoc(model) or "").split("\n\n")[0].split())
