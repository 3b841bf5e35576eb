"""`when: {anthropic: '<1'}`: whether it holds with what is installed."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from importlib import metadata


def installed(package: str) -> str | None:
    """The installed version of a package, or of `python`; None where there is none."""
    if package == "python":
        return platform.python_version()
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def version_problem(versions: object) -> str:
    """What is wrong with how versions are written, empty where nothing is."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        SpecifierSet(str(versions))
    except InvalidSpecifier:
        return f"`{versions}` names no versions; write them as pip does: '<3.12', '>=1,<2'"
    return ""


def applies(when: Mapping[str, str], installed: Callable[[str], str | None] = installed) -> bool:
    """Whether all of it holds. A package that is not installed has no version, so nothing holds of it."""
    if not when:
        return True
    from packaging.specifiers import SpecifierSet

    found = {package: installed(package) for package in when}
    return all(
        version is not None and SpecifierSet(when[package]).contains(version, prereleases=True)
        for package, version in found.items()
    )
