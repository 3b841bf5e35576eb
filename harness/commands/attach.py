"""`serve SCENARIO…` and `serve --control`: cases for loops that somebody else runs."""

from __future__ import annotations

import asyncio
import signal
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from ..attached import Attached
from ..case import Case
from ..control import PREFIX, Control
from ..provider.server import Provider
from ..report.clean import Cleaner
from ..report.text import case_lines
from ..runner import DEFAULT_SEED, CaseResult
from . import Stop
from .chosen import chosen_cases

KEY = "sk-ant-harness"
PATIENCE = 10.0
"""Seconds without a request after which a turn is over, where nobody says that it is."""


def attach(options: Namespace) -> int:
    """Serve the cases until SIGINT or SIGTERM; without `--control` also until the last of them is over."""
    if options.script is not None:
        raise Stop("--script serves one scenario to anybody; leave it out to have cases judged")
    cases = chosen_cases(options.selectors, options.scenarios, DEFAULT_SEED)
    if options.history:
        try:
            Path(options.history).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Stop(f"--history {options.history}: {error.strerror}") from error
    asyncio.run(_serve(options, cases))
    return 0


async def _serve(options: Namespace, cases: Sequence[Case]) -> None:
    provider = Provider()
    try:
        await provider.start(port=options.port)
    except OSError as error:
        raise Stop(f"port {options.port} cannot be opened: {error.strerror}") from error
    history = Path(options.history) if options.history else None
    chosen = cases if options.control else _once_each(cases)
    attached = Attached(provider, chosen, seed=DEFAULT_SEED, history_dir=history, tell=_say)
    provider.mount(PREFIX, Control(attached, _text).answer)
    await attached.start()
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    _say(f"ANTHROPIC_BASE_URL={provider.url}/w0{options.base_path}\nANTHROPIC_API_KEY={KEY}")
    _say(f"HARNESS_CONTROL_URL={provider.url}{PREFIX}")
    waits = {asyncio.ensure_future(stopped.wait())}
    if not options.control:
        patience = PATIENCE if options.patience is None else options.patience
        waits.add(asyncio.ensure_future(attached.host(patience)))  # type: ignore[arg-type]
    done, pending = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    await attached.close()
    await provider.close()
    for task in done:
        task.result()


def _once_each(cases: Sequence[Case]) -> list[Case]:
    """One variant of each: whether replies are streamed is the loop's choice."""
    return list({case.scenario.id: case for case in reversed(cases)}.values())[::-1]


def _text(result: CaseResult) -> str:
    if result.grade not in ("fail", "error"):
        return ""
    clean = Cleaner().result(result)
    again = f"loop-harness judge {clean.history}" if clean.history else ""
    return "\n".join(line.text for line in case_lines(clean, again))


def _say(line: str) -> None:
    print(line, flush=True)
