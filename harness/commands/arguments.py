"""What the commands take that are about recordings and reports."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def add_record(parser: argparse.ArgumentParser, port: Callable[[str], int]) -> None:
    """The arguments of `record`."""
    parser.add_argument("--upstream", required=True, metavar="URL", help="the API: https://api.anthropic.com")
    parser.add_argument("--cassette", required=True, metavar="FILE", help="the cassette to write")
    parser.add_argument("--keep-failed", action="store_true", help="keep it also where the command failed")
    _add_common(parser, port)


def add_replay(parser: argparse.ArgumentParser, port: Callable[[str], int]) -> None:
    """The arguments of `replay`."""
    parser.add_argument("cassette", metavar="CASSETTE", help="a recording, whoever made it")
    parser.add_argument(
        "--pace",
        type=pace,
        default=0.0,
        metavar="PACE",
        help="fast (default), recorded, or a factor of the recorded times: 0.5 takes half as long",
    )
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="PATH", help="a field to ignore: messages.*.content"
    )
    parser.add_argument("--any-order", action="store_true", help="let requests come in any order")
    _add_common(parser, port)


def _add_common(parser: argparse.ArgumentParser, port: Callable[[str], int]) -> None:
    parser.add_argument(
        "--redact", action="append", default=[], metavar="PATTERN", help="a regular expression to redact by"
    )
    parser.add_argument(
        "--secret-env", action="append", default=[], metavar="NAME", help="a variable that holds a secret"
    )
    parser.add_argument("--port", type=port, default=0, metavar="N", help="the port (default: a free one)")
    # The command is taken out before the rest is parsed: argparse would read its options as ours.
    parser.epilog = (
        "With `-- CMD ...` at the end, the command is run with ANTHROPIC_BASE_URL set; "
        "without it, requests are answered until Ctrl-C."
    )


def pace(text: str) -> float:
    """What recorded times are multiplied by."""
    known = {"fast": 0.0, "recorded": 1.0}
    try:
        found = known[text] if text in known else float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1000:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no pace; write recorded, fast, or a factor such as 0.5"
        )
    return found


def add_reports(parser: argparse.ArgumentParser) -> None:
    """Which reports to write, and how much to tell."""
    kinds = "write a report: text, json, junit, markdown, github, html, repro, badge; - is the output"
    parser.add_argument("--report", action="append", default=[], metavar="KIND:PATH", help=kinds)
    _add_view(parser)


def add_render(parser: argparse.ArgumentParser) -> None:
    """The arguments of `render`."""
    parser.add_argument("file", metavar="REPORT.json", help="what `--report json:PATH` wrote")
    parser.add_argument("reports", nargs="*", metavar="KIND:PATH", help="as for --report; without: the text")
    _add_view(parser)


def add_compare(parser: argparse.ArgumentParser) -> None:
    """The arguments of `compare`."""
    parser.add_argument("old", metavar="OLD.json", help="what `--report json:PATH` wrote before")
    parser.add_argument("new", metavar="NEW.json", help="what it wrote now")
    parser.add_argument("--verbose", "-v", action="store_true", help="a line for every case")


def add_merge(parser: argparse.ArgumentParser) -> None:
    """The arguments of `merge`."""
    parser.add_argument("files", nargs="+", metavar="REPORT.json", help="what `--report json:PATH` wrote")
    parser.add_argument("-o", "--output", required=True, metavar="OUT.json", help="the report of all of it")
    add_reports(parser)


def _add_view(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only-failures", action="store_true", help="tell nothing but what failed")
    parser.add_argument("--quiet", "-q", action="store_true", help="a line for each breach, and the sum")
    parser.add_argument("--verbose", "-v", action="store_true", help="every case, and every failure in full")


def add_judge(parser: argparse.ArgumentParser) -> None:
    """The arguments of `judge`."""
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="a recording of vcrpy, a folder of them, or an .ndjson history that `run` wrote",
    )
    parser.add_argument("--strict", action="store_true", help="let warn and inconclusive count as failures")
    undecided = "let recordings that decide no clause be no failure"
    parser.add_argument("--allow-undecided", action="store_true", help=undecided)
    add_reports(parser)


def add_promote(parser: argparse.ArgumentParser, seed: Callable[[str], int]) -> None:
    """The arguments of `promote`."""
    parser.add_argument("cassette", nargs="?", metavar="CASSETTE", help="a recording, whoever made it")
    parser.add_argument("--from-history", metavar="FILE", help="an .ndjson history, in place of a recording")
    parser.add_argument("-o", "--output", metavar="FILE", help="the scenario to write (default: print it)")
    parser.add_argument(
        "--conversation", type=_count, metavar="N", help="only the Nth conversation of the recording"
    )
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="of the words that replace texts")
    parser.add_argument(
        "--keep-text", action="store_true", help="replace only secrets and personal details, not all text"
    )
    parser.add_argument("--shorten", type=_count, metavar="N", help="cut texts that are longer")
    parser.add_argument("--force", action="store_true", help="replace files that are there")


def add_drift(parser: argparse.ArgumentParser) -> None:
    """The arguments of `drift`."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a recording, or a folder of them")
    parser.add_argument(
        "--against",
        action="append",
        default=[],
        metavar="PATH",
        help="a fresh recording or history: which requests nobody sends any more",
    )
    parser.add_argument("--strict", action="store_true", help="let keys that replies of today have count")


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 10**9):
        raise argparse.ArgumentTypeError(f"{text!r} is no number; write 1 or more")
    return int(text)
