"""One change to one module: its source, where it is, and whether it changes the program at all."""

from __future__ import annotations

import ast
import difflib
import importlib.machinery
import types
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path


@dataclass(frozen=True)
class Change:
    """A module with one thing changed."""

    path: Path
    definition: str
    line: int
    before: str
    after: str

    @cached_property
    def was(self) -> str:
        """The lines that are gone, in one."""
        return self._lines("-")

    @cached_property
    def now(self) -> str:
        """The lines in their place, in one."""
        return self._lines("+")

    @property
    def where(self) -> str:
        """`turn.py take`."""
        return f"{self.path.name} {self.definition}".rstrip()

    @property
    def key(self) -> tuple[str, str, str]:
        """What stays the same when other lines of the module change."""
        return self.where, self.was, self.now

    @property
    def is_none(self) -> bool:
        """Whether both compile to the same program, as a change to an annotation does."""
        try:
            return _program(self.before) == _program(self.after)
        except SyntaxError:
            return False

    @cached_property
    def span(self) -> tuple[int, int] | None:
        """First and last line of the statement; None where it runs while the module is imported."""
        found: tuple[int, int] | None = None
        for node in ast.walk(_tree(self.before)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for statement in ast.walk(node):
                    if statement is not node and isinstance(statement, (ast.stmt, ast.ExceptHandler)):
                        first, last = _lines_of(statement)
                        if first <= self.line <= last and (
                            found is None or last - first <= found[1] - found[0]
                        ):
                            found = first, last
        return found

    def install(self) -> None:
        """Let this process import the changed module, whatever name it is imported by."""
        original = importlib.machinery.SourceFileLoader.get_code
        path, source = str(self.path.resolve()), self.after

        def get_code(loader: importlib.machinery.SourceFileLoader, name: str) -> types.CodeType | None:
            if str(Path(loader.path).resolve()) == path:
                return loader.source_to_code(source.encode(), loader.path)
            return original(loader, name)

        importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]

    def _lines(self, sign: str) -> str:
        lines = difflib.ndiff(self.before.splitlines(), self.after.splitlines())
        return " ".join(line[2:].strip() for line in lines if line.startswith(f"{sign} "))


def _lines_of(statement: ast.stmt | ast.ExceptHandler) -> tuple[int, int]:
    """The lines of a statement; of a compound one, those above its body."""
    last = statement.end_lineno or statement.lineno
    body = getattr(statement, "body", None)
    if body and isinstance(body, list):
        last = max(statement.lineno, body[0].lineno - 1)
    return statement.lineno, last


@lru_cache(maxsize=64)
def _tree(source: str) -> ast.Module:
    return ast.parse(source)


class _Unannotated(ast.NodeTransformer):
    """Drops the annotations of functions and of what is in them: nothing reads those."""

    inside = False

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if self.inside:
            node.annotation = ast.Constant(value=None)
        return self.generic_visit(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        outer, self.inside = self.inside, True
        self.generic_visit(node)
        self.inside = outer
        return node


@lru_cache(maxsize=64)
def _program(source: str) -> tuple[object, ...]:
    tree = ast.fix_missing_locations(_Unannotated().visit(ast.parse(source)))
    return _meaning(compile(tree, "", "exec", dont_inherit=True, optimize=2))


def _meaning(code: types.CodeType) -> tuple[object, ...]:
    constants = tuple(
        _meaning(one) if isinstance(one, types.CodeType) else (type(one), repr(one)) for one in code.co_consts
    )
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_exceptiontable
