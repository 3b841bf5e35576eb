"""`loop_harness`: the package `harness` under a name nobody else uses.

A repository may have a top-level package `harness` of its own, and it may come onto the path only after
this one was loaded: a root `conftest.py` puts it there. So who owns the name `harness` is decided when it is
imported, never before:

* it resolves to our directory: `harness` and `loop_harness` are the same module objects, all the way down;
* it resolves to somebody else's: theirs is left alone, and ours goes by `loop_harness` only.

Nothing of theirs is imported to find that out. (PYTEST_DONT_REWRITE: there are no assertions here.)
"""

from __future__ import annotations

import importlib
import os.path  # and no pathlib: the command starts here, and until it has begun Ctrl-C shows a traceback
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

_NAMES = ("harness", "loop_harness")


def _home() -> str:
    """The directory of our package: beside this file in a wheel, above it in a checkout."""
    here = os.path.dirname(os.path.realpath(__file__))
    return os.path.dirname(here) if os.path.basename(here) == "alias" else os.path.join(here, "harness")


_HOME = _home()


def _is_ours(origin: object) -> bool:
    return isinstance(origin, str) and os.path.realpath(origin) == os.path.join(_HOME, "__init__.py")


class _SameModule:
    """A loader that hands out a module which is already loaded under its other name."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, _spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has just replaced it by the alias's


class _Alias:
    """The finder for `alias` and everything below it, where that is the package `canonical`."""

    def __init__(self, canonical: str, alias: str) -> None:
        self._canonical = canonical
        self._alias = alias

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root, _, rest = fullname.partition(".")
        if root != self._alias:
            return None
        package = sys.modules[self._canonical]
        if not rest:
            return self._who_owns_it(package)
        if sys.modules.get(root) is not package:
            return None
        name = f"{self._canonical}.{rest}"
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name == name:
                return None
            raise
        return self._spec(fullname, module)

    def _who_owns_it(self, package: ModuleType) -> ModuleSpec | None:
        theirs = _folder_of_modules(self._alias)
        if theirs is not None:
            return theirs
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(self._alias, None, None)
            if spec is not None:
                return self._spec(self._alias, package) if _is_ours(spec.origin) else None
        return None

    @staticmethod
    def _spec(fullname: str, module: ModuleType) -> ModuleSpec:
        return ModuleSpec(fullname, _SameModule(module), is_package=hasattr(module, "__path__"))  # type: ignore[arg-type]


def _folder_of_modules(name: str) -> ModuleSpec | None:
    """A folder of that name without an `__init__.py` that comes before ours on the path, with modules in it.

    Python would pass it over for a package installed further down: for ours.
    """
    before: list[str] = []
    for entry in sys.path:
        if os.path.realpath(entry) == os.path.dirname(_HOME):
            break
        before.append(entry)
    spec = PathFinder.find_spec(name, before)
    if spec is None or spec.origin is not None:
        return None
    places = filter(os.path.isdir, spec.submodule_search_locations or ())
    return spec if any(name.endswith(".py") for place in places for name in os.listdir(place)) else None


def _load() -> ModuleType:
    """The package, under whichever of the two names it was loaded first."""
    loaded = sys.modules.get("harness")
    if loaded is not None and _is_ours(getattr(loaded, "__file__", None)):
        canonical, alias = "harness", __name__
    else:
        canonical, alias = __name__, "harness"
    sys.meta_path.insert(0, _Alias(canonical, alias))
    if canonical == "harness" and loaded is not None:
        sys.modules[alias] = loaded
        return loaded
    spec = spec_from_file_location(
        canonical, os.path.join(_HOME, "__init__.py"), submodule_search_locations=[_HOME]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"loop-harness is not installed as it should be: no package at {_HOME}")
    package = module_from_spec(spec)
    sys.modules[canonical] = package
    spec.loader.exec_module(package)
    return package


if __name__ in _NAMES:
    _load()
