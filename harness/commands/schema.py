"""`schema`: the JSON Schema of scenario files, for editors."""

from __future__ import annotations

from argparse import Namespace

from ..scenario.schema import schema_text


def run(_options: Namespace) -> int:
    """Print it."""
    print(schema_text(), end="")
    return 0
