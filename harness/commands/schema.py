"""`schema`: the JSON Schema of scenario files, for editors, or of the lines of the protocol."""

from __future__ import annotations

from argparse import Namespace

from .terminal import write


def run(options: Namespace) -> int:
    """Print it."""
    if options.of == "protocol":
        from ..loops.protocol_schema import schema_text
    else:
        from ..scenario.schema import schema_text
    write(schema_text())
    return 0
