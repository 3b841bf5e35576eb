"""`pkg.mod:attr` or `path/to/file.py:attr` -> the callable it names, or a message its owner can act on."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from .driver import DriverError

FORMS = "write it as `package.module:attribute` or `path/to/file.py:attribute`"
MOST_FRAMES = 5


def resolve(target: str) -> Callable[..., Any]:
    """Find the loop that `target` names; a class is instantiated where its instances are callable.

    Raises `DriverError`; the traceback of a module that raises while it is imported is in the message, from
    the owner's first line on.
    """
    place, colon, attribute = target.rpartition(":")
    if not (colon and place and attribute):
        raise DriverError(f"{target!r} does not name a loop: {FORMS}")
    # As `python -m` does; a console script would not find what lies in the directory it is called in. Only
    # here, not where a run begins: a `json.py` that lies there is the loop's business alone.
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    module = _from_file(Path(place)) if place.endswith(".py") else _from_name(place)
    return _callable(_attribute(module, attribute, target), target)


def _from_name(name: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise DriverError(f"{name!r} is not the name of a module: {FORMS}")
    return _import(name)


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        near = [str(p) for p in path.parent.glob("*.py")] if path.parent.is_dir() else []
        raise DriverError(f"there is no file {path}{nearest(str(path), near)}")
    path = path.resolve()
    parts, root = [path.stem], path.parent
    while (root / "__init__.py").is_file():  # relative imports work only from within the package
        parts.insert(0, root.name)
        root = root.parent
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    name = ".".join(parts)
    loaded = sys.modules.get(name)
    if len(parts) > 1 or (loaded and _same_file(loaded, path)):
        return _import(name)
    return _load(path, name if loaded is None and name.isidentifier() else f"_loop_{abs(hash(path))}")


def _same_file(module: ModuleType, path: Path) -> bool:
    file = getattr(module, "__file__", None)
    return bool(file) and Path(str(file)).resolve() == path


def _load(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise DriverError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise DriverError(_raised(str(path), error)) from None
    return module


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise DriverError(_not_found(name, error.name)) from None
        raise DriverError(_raised(name, error)) from None
    except BaseException as error:  # noqa: BLE001 - sys.exit at import is the owner's mistake as well
        raise DriverError(_raised(name, error)) from None


def _not_found(name: str, missing: str) -> str:
    parent, _, last = missing.rpartition(".")
    where = f" in {parent}" if parent else f" (looked in {Path.cwd()} and on sys.path)"
    of = "" if missing == name else f" of {name}"
    package = sys.modules.get(parent)
    folders = [Path(p) for p in getattr(package, "__path__", [])] if parent else [Path.cwd()]
    near = [p.stem for folder in folders for p in folder.glob("*") if p.suffix == ".py" or p.is_dir()]
    if parent and not folders:
        where = f": {parent} is a module, not a package"
    return f"there is no module {last!r}{of}{where}{nearest(last, near)}"


def _raised(name: str, error: BaseException) -> str:
    """What an import raised: the owner's own frames, then the exception."""
    frames = traceback.extract_tb(_owners(error.__traceback__))[-MOST_FRAMES:]
    tail = "".join([*traceback.format_list(frames), *traceback.format_exception_only(error)])
    what = "called sys.exit" if isinstance(error, SystemExit) else f"raised {type(error).__name__}"
    return f"importing {name} {what}:\n{tail.rstrip()}"


def _owners(tb: TracebackType | None) -> TracebackType | None:
    """The traceback without this file and without the import machinery."""
    while tb and (
        tb.tb_frame.f_code.co_filename == __file__
        or tb.tb_frame.f_code.co_filename.startswith("<frozen importlib")
        or tb.tb_frame.f_globals.get("__name__") == "importlib"
    ):
        tb = tb.tb_next
    return tb


def _attribute(module: ModuleType, attribute: str, target: str) -> Any:
    found: Any = module
    for name in attribute.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            holder = found.__name__ if isinstance(found, (ModuleType, type)) else type(found).__name__
            near = nearest(name, [n for n in dir(found) if not n.startswith("__")])
            raise DriverError(f"{target}: {holder} has no attribute {name!r}{near}") from None
    return found


def _callable(found: Any, target: str) -> Callable[..., Any]:
    if inspect.isclass(found):
        if "__call__" not in _names(found):
            raise DriverError(
                f"{target} is a class whose instances are not callable: give it `__call__(self, turn)`"
            )
        try:
            found = found()
        except Exception as error:  # noqa: BLE001
            raise DriverError(f"{target} is a class that cannot be made without arguments: {error}") from None
    if not callable(found):
        raise DriverError(f"{target} is {kind(found)}, not a callable: a loop is called as `loop(turn)`")
    problem = _signature(found)
    if problem:
        raise DriverError(f"{target} {problem}: a loop is called as `loop(turn)`")
    return found  # type: ignore[no-any-return]


def _names(cls: type) -> set[str]:
    return {name for base in cls.__mro__ for name in vars(base)}


def _signature(found: Callable[..., Any]) -> str:
    """Why `found` cannot be called with one argument, if it cannot."""
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):  # some builtins do not tell
        return ""
    try:
        signature.bind(object())
    except TypeError as error:
        return f"takes {signature}: {error}"
    return ""


def kind(value: object) -> str:
    """`an int`, `a dict`."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or nothing where nothing is near."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
