"""`serve`: a scripted Messages API for any client, until it is interrupted.

Kept light: the first answer has to be there before a script that started it gets impatient. So everything is
imported in its turn, and what is not needed is not.
"""

from __future__ import annotations

import gc
import signal
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from . import Stop

if TYPE_CHECKING:
    from ..serving import Serving

KEY = "sk-ant-harness"


def run(options: Namespace) -> int:
    """Serve until SIGINT or SIGTERM."""
    if options.selectors or options.control:
        from .attach import attach

        return attach(options)
    if given := next((f"--{name}" for name in ("history", "patience") if getattr(options, name)), None):
        raise Stop(f"{given} is for cases: name scenarios, or give --control")
    gc.disable()  # what is imported stays: looking through it for garbage takes a tenth of the start
    _import_asyncio()
    import asyncio

    asyncio.run(_serve(_serving(options.script), options.port, options.base_path))
    return 0


def _collect_again() -> None:
    """Collect garbage from now on, but not among what was loaded at the start."""
    gc.freeze()
    gc.enable()


def _import_asyncio() -> None:
    """Import asyncio without OpenSSL, which it loads where it finds it: slow, and no use here."""
    if "ssl" not in sys.modules and "asyncio" not in sys.modules:
        sys.modules["ssl"] = None  # type: ignore[assignment]
        try:
            import asyncio  # noqa: F401
        finally:
            del sys.modules["ssl"]


def _serving(script: str | None) -> Serving:
    from ..serving import Serving

    if script is None:
        return Serving.of_anything(KEY)
    from ..scenario.load import load_scenario
    from ..scenario.problems import ScenarioError

    try:
        return Serving(KEY, load_scenario(Path(script)))
    except ScenarioError as error:
        raise Stop(str(error)) from error


async def _serve(serving: Serving, port: int, base_path: str) -> None:
    import asyncio

    from ..provider.server import Provider

    provider = Provider()
    try:
        await provider.start(port=port)
    except OSError as error:
        raise Stop(f"port {port} cannot be opened: {error.strerror}") from error
    provider.open(serving.session)
    provider.only = serving.session
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    print(f"ANTHROPIC_BASE_URL={provider.url}/w0{base_path}\nANTHROPIC_API_KEY={KEY}", flush=True)
    loop.call_later(1, _collect_again)
    await stopped.wait()
    await provider.close()
