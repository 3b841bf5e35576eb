"""`schema`: the JSON Schema of scenario files, for editors, of the lines of the protocol, or of reports."""

from __future__ import annotations

from argparse import Namespace
from importlib import import_module

from .terminal import write

_MODULES = {"scenario": "scenario.schema", "protocol": "loops.protocol_schema", "report": "report.schema"}


def run(options: Namespace) -> int:
    """Print it."""
    package = str(__package__).rpartition(".")[0]
    write(import_module(f"{package}.{_MODULES[options.of]}").schema_text())
    return 0
