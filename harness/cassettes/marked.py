"""The cassette of a test, from what its marker says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .use import Mode, NotRecordedError, Use


def used(
    test: Path, name: str, arguments: Sequence[Any], options: Mapping[str, Any], mode: Mode | None
) -> tuple[Use | None, str]:
    """The cassette in use, or what keeps it from that. `test` is the file of the test called `name`."""
    if len(arguments) > 1:
        return None, "harness_cassette takes one path"
    path = arguments[0] if arguments else f"cassettes/{test.stem}/{_file_name(name)}.yaml"
    try:
        use = Use(test.parent / path, mode, **options)
        use.__enter__()
    except (NotRecordedError, ValueError, TypeError) as error:
        return None, str(error)
    return use, ""


def _file_name(test: str) -> str:
    """A name of a test, parameters and all, as one of a file anywhere."""
    return re.sub(r"[^\w.\[\]-]+", "-", test)[:150]
