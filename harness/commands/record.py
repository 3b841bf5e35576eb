"""`record`: a proxy in front of the API that keeps what goes through it as a cassette of vcrpy.

Beside a command, the cassette is replaced when the command has ended well. Without one, every exchange is in
the cassette as soon as it is over, until the recording is interrupted.
"""

from __future__ import annotations

import asyncio
import os
import re
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from ..cassettes.recorder import Recorder
from ..cassettes.redact import Redactor
from ..report.lines import counted
from . import BROKEN, Stop
from .beside import run_beside, say


def run(options: Namespace) -> int:
    """Record; the exit code is the command's, or 1 where something could not be recorded."""
    _check_upstream(options.upstream)
    redactor = Redactor(rules(options.redact), secrets(options.secret_env))
    try:
        recorder = Recorder(Path(options.cassette), redactor, live=not options.argv)
    except ValueError as error:
        raise Stop(str(error)) from error
    except OSError as error:
        raise Stop(f"{options.cassette} cannot be written: {error.strerror}") from error
    with recorder:
        return asyncio.run(_record(options, recorder))


async def _record(options: Namespace, recorder: Recorder) -> int:
    from ..cassettes.proxy import Proxy

    proxy = Proxy(options.upstream, recorder, say)
    try:
        code = await run_beside(proxy.serve, options.argv, options.port)
    finally:
        await proxy.close()
    if code and not options.keep_failed:
        say(f"nothing is kept, since the command ended with {code}; --keep-failed keeps it anyway")
        return code
    if proxy.problem and options.argv:
        say(f"nothing is kept: {proxy.problem}")
        return code or BROKEN
    if recorder.count:
        recorder.keep()
        say(f"{counted(recorder.count, 'interaction')} in {recorder.path}")
    else:
        say("no request came, so nothing is kept")
    return code or (BROKEN if proxy.problem else 0)


def rules(patterns: Sequence[str]) -> list[str]:
    """Patterns of the command line. Raises `Stop` for one that is none."""
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise Stop(f"--redact {pattern!r} is no regular expression: {error}") from error
    return list(patterns)


def secrets(names: Sequence[str]) -> list[str]:
    """Values of the variables that hold secrets. Raises `Stop` for one that is not set."""
    found = []
    for name in names:
        if not (value := os.environ.get(name)):
            raise Stop(f"--secret-env {name}: there is no such variable in the environment")
        found.append(value)
    return found


def _check_upstream(upstream: str) -> None:
    parts = urlsplit(upstream)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Stop(f"--upstream {upstream!r} is no address: write https://api.anthropic.com")
