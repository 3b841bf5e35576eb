"""`serve`: a scripted Messages API for any client, until it is interrupted.

Kept light: the first answer has to be there before a script that started it gets impatient.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from argparse import Namespace
from pathlib import Path

from ..provider.server import Provider
from ..serving import Serving
from . import Stop

KEY = "sk-ant-harness"


def run(options: Namespace) -> int:
    """Serve until SIGINT or SIGTERM."""
    serving = _serving(options.script)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(serving, options.port))
    return 0


def _serving(script: str | None) -> Serving:
    if script is None:
        return Serving.of_anything(KEY)
    # Only here: reading YAML takes as long as all the rest.
    from ..scenario.load import load_scenario
    from ..scenario.problems import ScenarioError

    try:
        return Serving(KEY, load_scenario(Path(script)))
    except ScenarioError as error:
        raise Stop(str(error)) from error


async def _serve(serving: Serving, port: int) -> None:
    provider = Provider()
    try:
        await provider.start(port=port)
    except OSError as error:
        raise Stop(f"port {port} cannot be opened: {error.strerror}") from error
    provider.open(serving.session)
    print(f"ANTHROPIC_BASE_URL={provider.url}/w0\nANTHROPIC_API_KEY={KEY}", flush=True)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    await stopped.wait()
    await provider.close()
