"""The loop a command is about, as it is named in the options. Light: the parser needs it before any work."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from . import Stop

if TYPE_CHECKING:
    from ..loops.place import Target


def add_target(parser: ArgumentParser) -> None:
    """The options that name a loop, and say how it is reached."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--loop", metavar="PKG.MOD:ATTR", help="the loop to judge")
    which.add_argument("--command", dest="line", metavar="CMD", help="a command that plays a turn")
    parser.add_argument("--keep-alive", action="store_true", help="the command plays turn after turn")
    parser.add_argument("--cwd", metavar="DIR", help="where the command runs (default: a new folder)")
    parser.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="a variable for the command"
    )


def target_of(options: Namespace) -> str | Target:
    """What the options name. Raises `Stop`."""
    return _command(options) if options.line is not None else _loop(options)


def words_of(options: Namespace) -> list[str]:
    """The options that name the same loop again."""
    if options.line is None:
        return ["--loop", options.loop]
    words = ["--command", options.line]
    words += ["--keep-alive"] if options.keep_alive else []
    words += ["--cwd", options.cwd] if options.cwd else []
    return words + [word for pair in options.env for word in ("--env", pair)]


def _loop(options: Namespace) -> str:
    module, _, attribute = options.loop.partition(":")
    if not module or not attribute:
        raise Stop(f"--loop {options.loop}: name the loop as PKG.MOD:ATTR, such as my_agent.loop:run")
    given = {"--keep-alive": options.keep_alive, "--cwd": options.cwd, "--env": options.env}
    if misplaced := [option for option, value in given.items() if value]:
        raise Stop(f"{misplaced[0]} is for a --command, and --loop names a Python callable")
    return str(options.loop)


def _command(options: Namespace) -> Target:
    from ..loops.command import Command, split
    from ..loops.driver import DriverError

    if options.in_process:
        raise Stop("--in-process is for a --loop: a command runs in a process of its own")
    if options.cwd and not Path(options.cwd).is_dir():
        raise Stop(f"--cwd {options.cwd}: there is no such folder")
    try:
        words = split(options.line)
    except DriverError as error:
        raise Stop(f"--command: {error}") from None
    return Command(
        words=words,
        keep_alive=options.keep_alive,
        cwd=Path(options.cwd).absolute() if options.cwd else None,
        env=dict(map(_variable, options.env)),
    )


def _variable(written: str) -> tuple[str, str]:
    name, equals, value = written.partition("=")
    if not name or not equals:
        raise Stop(f"--env {written}: write NAME=VALUE")
    return name, value
