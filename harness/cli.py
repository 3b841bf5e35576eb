"""The command `loop-harness`: what it takes, and what it says when it cannot go on.

Each sub-command is a module of `commands/` with `run(options) -> exit code`, imported when it is asked for:
`--help` and `serve` must not wait for what they do not use.
"""

from __future__ import annotations

import argparse
import os
import re
import stat
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from . import __version__
from .commands import HARNESS_ERROR, Stop
from .commands.terminal import prepare
from .signals import code_of, heard

_CHOICE = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)")
BESIDE = ("record", "replay")
"""Commands that run a command of the user's."""

_EPILOG = """\
exit codes: 0 nothing unexpected; 1 a clause is broken; 2 wrong usage or a bad file;
3 an error of the harness itself; 4 the loop cannot be driven, or no clause was decided.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    prepare()
    own, beside = _apart(sys.argv[1:] if arguments is None else arguments)
    options = _parser(own).parse_args(own)
    options.argv = beside
    try:
        command = import_module(f".commands.{options.command}", __package__)
        with heard():
            return int(command.run(options))
    except Stop as stop:
        return _say(str(stop), stop.code)
    except KeyboardInterrupt as interrupt:
        return _say("interrupted", code_of(interrupt))
    except Exception as error:
        if os.environ.get("LOOP_HARNESS_TRACEBACK"):
            raise
        return _say(
            f"an error of the harness itself: {type(error).__name__}: {error}\n"
            "LOOP_HARNESS_TRACEBACK=1 in the environment shows where",
            HARNESS_ERROR,
        )


class _Help(argparse.RawDescriptionHelpFormatter):
    """Knows the terminal's width without `shutil`, which is slow to import and needed for nothing else.

    One is made for each option, whether help is asked for or not.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


class _Parser(argparse.ArgumentParser):
    """The parser of the command, and of each of its sub-commands."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Help, **options)
        self.asked: list[_Parser] = []
        """The parser of the sub-command that was asked for."""

    def parse_args(self, words: Any = None, into: Any = None) -> Any:  # type: ignore[override]
        """As ever, with the nearest of the options there are."""
        options, unknown = self.parse_known_args(words, into)
        if unknown:
            from .scenario.problems import nearest

            known = (name for each in [self, *self.asked] for name in each._option_string_actions)
            self.error(f"there is no option {unknown[0]}{nearest(unknown[0], known, listed=0)}")
        return options

    def error(self, message: str) -> NoReturn:
        """As ever, with the nearest of the choices there are."""
        from .scenario.problems import nearest

        wrong = _CHOICE.search(message)
        near = nearest(wrong[1], re.findall(r"[^\s,']+", wrong[2]), listed=0) if wrong else ""
        super().error(message + near)

    def add_argument(self, *names: Any, **options: Any) -> argparse.Action:
        """As ever, and what is the name of a file is looked at before anything is done."""
        if options.get("metavar") in _PATHS:
            options.setdefault("type", _path)
        return super().add_argument(*names, **options)


_PATHS = ("PATH", "FILE", "DIR", "CASSETTE", "REPORT.json", "OLD.json", "NEW.json")


def _path(text: str) -> str:
    """The name of a file or a folder, none of which would be taken for the working directory."""
    if not text:
        raise argparse.ArgumentTypeError("an empty text names no file; the working directory is .")
    try:
        # What a shell makes of <(...) is in no folder.
        named = stat.S_ISFIFO(os.stat(text).st_mode) and os.path.exists(os.path.realpath(text))  # noqa: PTH110, PTH116
    except (OSError, ValueError):
        return text  # whoever wants to read it says what is wrong
    if named:
        raise argparse.ArgumentTypeError(f"{text} is a pipe, which may never be written to; give a file")
    return text


def _columns() -> int:
    """How wide the terminal is; COLUMNS in the environment comes first."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return int(told)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80 if sys.__stdout__ else 80
    except (OSError, ValueError):
        return 80


def _apart(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The arguments, and the command they say to run beside."""
    if arguments and arguments[0] in BESIDE and "--" in arguments:
        place = list(arguments).index("--")
        return arguments[:place], arguments[place + 1 :]
    return arguments, []


def _say(message: str, code: int) -> int:
    from .report.lines import visible

    print(f"loop-harness: {visible(message)}", file=sys.stderr)
    return code


def _parser(words: Sequence[str]) -> _Parser:
    """The parser for these words: it knows all commands by name, and the options of the one they name."""
    parser = _Parser(
        prog="loop-harness",
        description="Judge an agent loop on the Messages API, clause by clause.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"loop-harness {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    asked = next((word for word in words if not word.startswith("-")), "")
    for name, (what, add) in COMMANDS.items():
        command = commands.add_parser(name, help=what)
        if name == asked:
            add(command)
            parser.asked.append(command)
    return parser


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    from .commands.target import add_target

    add_target(parser)
    parser.add_argument("--in-process", action="store_true", help="run the loop in this process")
    limit = "seconds the turn may take (default: 20)"
    parser.add_argument("--deadline", type=_seconds, default=None, metavar="SECONDS", help=limit)
    _add_port(parser)
    parser.set_defaults(history=None, scenarios=None, profile=None, jobs=1)


def _add_port(parser: argparse.ArgumentParser) -> None:
    where = "of --http: the provider's port (default: 4010)"
    parser.add_argument("--port", type=_port, default=None, metavar="N", help=where)


def _add_run(parser: argparse.ArgumentParser) -> None:
    from .commands.arguments import add_reports
    from .commands.known import add_baseline
    from .commands.part import add_part
    from .commands.profiled import add_profile
    from .commands.target import add_target

    _add_list(parser)
    add_profile(parser)
    add_target(parser)
    _add_port(parser)
    add_part(parser)
    add_baseline(parser)
    jobs = "host processes (default: one for each processor, at most 4)"
    parser.add_argument("--jobs", type=_jobs, default=None, metavar="N", help=jobs)
    parser.add_argument("--seed", type=_seed, default=None, metavar="N", help="of text that does not matter")
    parser.add_argument("--in-process", action="store_true", help="run the loop in this process")
    parser.add_argument("--strict", action="store_true", help="let warn and inconclusive count as failures")
    parser.add_argument("--history", metavar="DIR", help="keep each run's history in this folder")
    add_reports(parser)


def _add_listed(parser: argparse.ArgumentParser) -> None:
    from .commands.profiled import add_profile

    _add_list(parser)
    add_profile(parser, alone=True)


def _add_explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="CLAUSE", help="PAUSE-1; or the id of a scenario: pause/no-tools")


def _add_init(parser: argparse.ArgumentParser) -> None:
    from .commands.init import add_init

    add_init(parser)


def _add_validate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a scenario file or a folder of them")


def _add_schema(parser: argparse.ArgumentParser) -> None:
    kinds = ["scenario", "protocol", "report"]
    parser.add_argument("of", nargs="?", choices=kinds, default="scenario", help="or of others")


def _add_other(parser: argparse.ArgumentParser) -> None:
    """Of a command about recordings or reports."""
    from .commands import arguments

    name = parser.prog.rpartition(" ")[2]
    add = getattr(arguments, f"add_{name}")
    kinds = {"record": (_port,), "replay": (_port,), "promote": (_seed,)}
    add(parser, *kinds.get(name, ()))


def _add_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "selectors",
        nargs="*",
        metavar="SELECTOR",
        help="pause, 'pause/*', 'pause/no-tools[sse]' or a clause id such as PAUSE-1; all without one",
    )
    parser.add_argument("--scenarios", metavar="DIR", help="a folder of further scenarios")


def _add_serve(parser: argparse.ArgumentParser) -> None:
    _add_list(parser)
    parser.add_argument("--control", action="store_true", help="wait for a wrapper that asks for cases")
    parser.add_argument("--history", metavar="DIR", help="keep what happens in each case in this folder")
    patience = "seconds without a request after which a turn is over (default: 10)"
    parser.add_argument("--patience", type=_seconds, default=None, metavar="SECONDS", help=patience)
    parser.add_argument(
        "--base-path", choices=["", "/v1"], default="", help="for clients whose base URL ends with it"
    )
    parser.add_argument("--script", metavar="FILE", help="a scenario to serve, again and again")
    parser.add_argument("--port", type=_port, default=0, metavar="N", help="the port (default: a free one)")


def _jobs(text: str) -> int:
    return _whole(text, range(1, 1000), "number of processes")


def _port(text: str) -> int:
    return _whole(text, range(65536), "port")


def _seed(text: str) -> int:
    return _whole(text, range(2**63), "seed")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds; write 0.1 to 3600")
    return seconds


def _whole(text: str, numbers: range, what: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number not in numbers:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no {what}; write {numbers.start} to {numbers.stop - 1}"
        )
    return number


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "run": ("play scenarios against a loop and judge it", _add_run),
    "doctor": ("explain why a loop cannot be judged, or what can be", _add_doctor),
    "list": ("list the scenarios, or a profile", _add_listed),
    "explain": ("explain a clause, or show a scenario", _add_explain),
    "init": ("write the first test, and the job for CI", _add_init),
    "validate": ("check scenario files", _add_validate),
    "schema": ("print the JSON Schema of scenario files", _add_schema),
    "serve": ("serve a scripted Messages API for any client", _add_serve),
    "record": ("record what a client and the API say", _add_other),
    "replay": ("play a recording to a client, and compare", _add_other),
    "judge": ("judge recorded traffic and histories, running nothing", _add_other),
    "promote": ("turn recorded traffic into a scenario", _add_other),
    "drift": ("tell which recordings are behind the client and the API", _add_other),
    "render": ("write a stored JSON report as other kinds", _add_other),
    "compare": ("tell what changed from one JSON report to another", _add_other),
    "merge": ("put shards, or reports of several loops, together", _add_other),
}
"""Each command with what it does and who adds its options, in the order of the help."""
