"""The checks: one module per family of clauses, one function per clause, pure over a history."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from .base import CHECKS, Check, Finding

__all__ = ["Check", "Finding", "registered"]


@cache
def registered() -> Mapping[str, Check]:
    """Every check by the id of its clause; every module of this package is a family and is imported."""
    for module in sorted(iter_modules(__path__), key=lambda found: found.name):
        import_module(f".{module.name}", __name__)
    return CHECKS
