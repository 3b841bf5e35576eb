"""`schema`: the JSON Schema of scenario files, for editors."""

from __future__ import annotations

from argparse import Namespace

from ..scenario.schema import schema_text
from .terminal import write


def run(_options: Namespace) -> int:
    """Print it."""
    write(schema_text())
    return 0
