"""The loops a command is about, as the options name them. Light: the parser needs it before any work."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import Stop
from .services import OPTIONS, add_service, service, service_words, variable

if TYPE_CHECKING:
    from ..loops.place import Target
    from ..report.clean import Cleaner
    from ..turn import Declaration

_NAMED = re.compile(r"(?P<name>[\w.-]+)=(?P<told>.+)", re.DOTALL)


def add_target(parser: ArgumentParser) -> None:
    """The options that name a loop, and say how it is reached."""
    several = "; several times, with names, for several loops"
    parser.add_argument(
        "--loop",
        action="append",
        default=[],
        metavar="[NAME=]PKG.MOD:ATTR",
        help=f"the loop to judge{several}",
    )
    parser.add_argument(
        "--command",
        dest="lines",
        action="append",
        default=[],
        metavar="[NAME=]CMD",
        help="a command that plays a turn, in place of --loop",
    )
    add_service(parser)
    parser.add_argument("--keep-alive", action="store_true", help="the command plays turn after turn")
    parser.add_argument(
        "--answer",
        metavar="WHERE",
        help="of --http: text, json:$.reply or sse:$.text; of an agent's --command: stdout, none",
    )
    parser.add_argument("--tool", metavar="NAME", help="its own tool that stands for those of the scenarios")
    parser.add_argument("--cwd", metavar="DIR", help="where the command runs (default: a new folder)")
    parser.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="a variable for the command"
    )


class Contender(NamedTuple):
    """A loop to be judged."""

    name: str
    target: str | Target
    told: str
    """The target as it was written, without what looks like a key."""
    history: Path | None
    """The folder for what happens in its cases."""
    command: list[str]
    """The line that runs a case again, word by word; where a key was, there is REDACTED."""


def contenders(options: Namespace, seed: int) -> list[Contender]:
    """The loops of a run, each with a name of its own. Raises `Stop`."""
    named = [("--loop", *_named(written)) for written in options.loop]
    named += [("--command", *_named(written)) for written in options.lines]
    named += [("--http", *_named(written)) for written in options.http]
    if not named:
        raise Stop("name what is to be judged: --loop PKG.MOD:ATTR, or --command CMD, or --http 'POST URL'")
    names = [name for _, name, _ in named]
    for option, name, _ in named:
        if names.count(name) > 1:
            raise Stop(f"{option}: {names.count(name)} loops are called {name}; write {option} NAME={name}")
    _misplaced(options)
    kept = _history(options)
    cleaner = cleaner_of(options)
    found = []
    for option, name, told in named:
        folder = kept / re.sub(r"[^\w.-]+", "_", name) if kept and len(named) > 1 else kept
        target = _target(options, option, told)
        written = told if name == told else f"{name}={told}"
        again = [cleaner.text(word) for word in _again(options, [option, written], seed)]
        found.append(Contender(cleaner.text(name), target, cleaner.text(told), folder, again))
    return found


def cleaner_of(options: Namespace) -> Cleaner:
    """Who takes keys out of what is told: those of the environment, and of what the options hand on."""
    from ..report.clean import Cleaner

    headers = [header.partition(":") for header in options.header]
    return Cleaner(
        os.environ | dict(map(variable, options.env)),
        [(name.strip(), value.strip()) for name, _, value in headers],
    )


def declared_by(options: Namespace) -> Declaration | None:
    """What the options declare. Raises `Stop`."""
    from ..own_tools import parse_tool
    from ..turn import Declaration

    if options.tool is None:
        return None
    try:
        parse_tool(options.tool)
    except ValueError as error:
        raise Stop(f"--tool {error}") from None
    return Declaration(tools="own", own_tool=options.tool)


def _misplaced(options: Namespace) -> None:
    """Refuse what is meant for another way of reaching a loop. Raises `Stop`."""
    process = {"--keep-alive": options.keep_alive, "--cwd": options.cwd, "--env": options.env}
    for option, value in process.items():
        started = option == "--env" and options.start is not None
        if value and not options.lines and not started:
            raise Stop(f"{option} is for a --command")
    service = {f"--{name}": getattr(options, name) for name in OPTIONS}
    for option, value in service.items():
        if value not in (None, [], False) and not options.http:
            raise Stop(f"{option} is for a service: --http 'POST http://127.0.0.1:3000/…'")
    if options.answer is not None and not options.lines and not options.http:
        raise Stop("--answer is for a --command or for --http, and --loop names a Python callable")


def _target(options: Namespace, option: str, told: str) -> str | Target:
    if option == "--loop":
        return _loop(told)
    return _command(options, told) if option == "--command" else service(options, told)


def _named(written: str) -> tuple[str, str]:
    """The name of a loop, which is by default how it is reached, and how it is reached."""
    parts = _NAMED.fullmatch(written)
    return (parts["name"], parts["told"]) if parts else (written, written)


def _again(options: Namespace, words: list[str], seed: int) -> list[str]:
    if words[0] == "--command":
        words = [*words, *(["--keep-alive"] if options.keep_alive else [])]
        words += ["--answer", options.answer] if options.answer else []
        words += ["--cwd", options.cwd] if options.cwd else []
        words += [word for pair in options.env for word in ("--env", pair)]
    if words[0] == "--http":
        words = [*words, *service_words(options)]
        words += [word for pair in options.env for word in ("--env", pair)]
    words += ["--tool", options.tool] if options.tool else []
    words = ["loop-harness", "run", "{case}", *words, "--seed", str(seed)]
    words += ["--profile", options.profile] if options.profile else []
    if options.in_process:
        words.append("--in-process")
    return words + (["--scenarios", options.scenarios] if options.scenarios else [])


def _history(options: Namespace) -> Path | None:
    if not options.history:
        return None
    history = Path(options.history)
    try:
        history.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Stop(f"--history {history}: {error.strerror}") from error
    return history


def _loop(told: str) -> str:
    module, _, attribute = told.partition(":")
    if not module or not attribute:
        raise Stop(f"--loop {told}: name the loop as PKG.MOD:ATTR, such as my_agent.conformance:loop")
    return told


def _command(options: Namespace, told: str) -> Target:
    from ..loops.command import ANSWERS, Command, split
    from ..loops.driver import DriverError
    from ..loops.resolve import nearest

    if options.in_process:
        raise Stop("--in-process is for a --loop: a command runs in a process of its own")
    if options.answer not in (None, *ANSWERS):
        near = nearest(options.answer, ANSWERS)
        raise Stop(f"--answer {options.answer}: a --command answers on stdout, or none{near}")
    if options.answer and options.keep_alive:
        raise Stop("--answer is for an agent, which answers once; --keep-alive for what speaks the protocol")
    if options.cwd and not Path(options.cwd).is_dir():
        raise Stop(f"--cwd {options.cwd}: there is no such folder")
    try:
        words = split(told)
    except DriverError as error:
        raise Stop(f"--command: {error}") from None
    return Command(
        words=words,
        keep_alive=options.keep_alive,
        answer=options.answer or "",
        hello={"tools": "own"} if options.answer else {},
        cwd=Path(options.cwd).absolute() if options.cwd else None,
        env=dict(map(variable, options.env)),
    )
