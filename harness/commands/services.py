"""The options of `--http`: a service, and how it is asked. Light: the parser needs it before any work."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from . import Stop

if TYPE_CHECKING:
    from ..loops.place import Target

PORT = 4010
"""Where a service that is not started here finds the provider."""
OPTIONS = ("body", "header", "until", "start", "serial", "port")


def add_service(parser: ArgumentParser) -> None:
    """The options that say how a service is reached."""
    parser.add_argument(
        "--http",
        action="append",
        default=[],
        metavar="'[NAME=]METHOD URL'",
        help="a service, asked as its users ask it, in place of --loop",
    )
    parser.add_argument("--body", metavar="TEXT", help="of --http: what is sent, with {prompt} in it")
    parser.add_argument(
        "--header", action="append", default=[], metavar="'NAME: VALUE'", help="of --http: sent as well"
    )
    parser.add_argument("--until", metavar="EVENT", help="of --http: what ends a stream that stays open")
    parser.add_argument("--start", metavar="CMD", help="of --http: the command that starts the service")
    parser.add_argument(
        "--serial", action="store_true", help="of --http: prompts stay as they are, one case at a time"
    )


def service_words(options: Namespace) -> list[str]:
    """The options that reach the same service again."""
    given = {"--body": options.body, "--answer": options.answer}
    given |= {"--until": options.until, "--start": options.start}
    words = [word for option, value in given.items() if value is not None for word in (option, value)]
    words += [word for header in options.header for word in ("--header", header)]
    words += ["--serial"] if options.serial else []
    return words + (["--port", str(options.port)] if options.port is not None else [])


def service(options: Namespace, told: str) -> Target:
    """The service that the options name. Raises `Stop`."""
    from ..loops.command import split
    from ..loops.driver import DriverError
    from ..loops.reading import parse_answer
    from ..loops.service import Service

    if options.in_process:
        raise Stop("--in-process is for a --loop: a service runs by itself")
    if options.serial and (options.jobs or 1) > 1:
        raise Stop("--serial plays one case at a time: leave out --jobs")
    try:
        return Service(
            where=told,
            body=options.body,
            headers=tuple(options.header),
            answer=parse_answer(options.answer),
            until=options.until,
            words=split(options.start) if options.start is not None else (),
            serial=options.serial,
            several=(options.jobs or 1) > 1,
            env=dict(map(variable, options.env)),
        )
    except DriverError as error:
        raise Stop(f"--http: {error}") from None


def variable(written: str) -> tuple[str, str]:
    """`NAME=VALUE`, taken apart. Raises `Stop`."""
    name, equals, value = written.partition("=")
    if not name or not equals:
        raise Stop(f"--env {written}: write NAME=VALUE")
    return name, value


def port_of(options: Namespace) -> int:
    """The provider's port; 0 for any."""
    if options.port is not None:
        return int(options.port)
    return PORT if options.http and options.start is None else 0
