"""Which part of a run is played, and what of it counts: a profile, a shard, what failed before."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from . import Stop

if TYPE_CHECKING:
    from ..case import Case
    from ..chosen import Shard
    from ..profiles.model import Profile
    from ..report.model import Report
    from ..runner import CaseResult

_SHARD = re.compile(r"(?P<number>[0-9]{1,4})/(?P<of>[0-9]{1,4})")


def add_part(parser: ArgumentParser) -> None:
    """The options that make a run a part of one."""
    parser.add_argument("--shard", type=_shard, metavar="K/N", help="play the Kth of N parts; see merge")
    parser.add_argument(
        "--last-failed", metavar="REPORT.json", help="play only what failed in this stored report"
    )


class Part:
    """What of the chosen cases is played. Without an option all of it."""

    def __init__(self, options: Namespace, loops: Sequence[str], profile: Profile | None) -> None:
        """`loops` are their names. Raises `Stop`."""
        self._profile = profile
        self.shard: Shard | None = options.shard
        self._whole = not options.selectors and not options.shard and not options.last_failed
        if (options.shard or options.last_failed) and options.update_baseline:
            option = "--shard" if options.shard else "--last-failed"
            raise Stop(f"--update-baseline takes a run of everything: leave out {option}")
        self._failed = _failed(options.last_failed, loops) if options.last_failed else None

    @property
    def whole(self) -> bool:
        """Whether a run of it is one of everything."""
        return self._whole

    @property
    def shard_name(self) -> str:
        """`2/3`, or nothing."""
        return str(self.shard or "")

    @property
    def narrowed(self) -> bool:
        """Whether nothing to play is no mistake: what would have been played is elsewhere, or passes."""
        return self.shard is not None or self._failed is not None

    def of_loop(self, loop: str, cases: Sequence[Case]) -> list[Case]:
        """Those that failed before; all of them where the loop could not be driven then."""
        failed = None if self._failed is None else self._failed[loop]
        return [case for case in cases if failed is None or case.id in failed]

    def of_shard(self, cases: Sequence[Case]) -> list[Case]:
        """Those of this shard."""
        return self.shard.part(cases) if self.shard else list(cases)

    def scored(self, result: CaseResult, named: Sequence[str]) -> CaseResult:
        """The result as the profile counts it; `named` are the clauses its scenario is about."""
        if self._profile is None:
            return result
        from ..profiles.score import scored

        return scored(result, self._profile, named)


def _failed(path: str, loops: Sequence[str]) -> dict[str, set[str] | None]:
    """What failed, by loop; None where all of it has to be played."""
    from ..report.load import ReportError, load

    try:
        report = load(Path(path))
    except ReportError as error:
        raise Stop(f"--last-failed {error}") from error
    return {loop: _of(report, loop, path, alone=len(loops) == 1) for loop in loops}


def _of(report: Report, loop: str, path: str, *, alone: bool) -> set[str] | None:
    names = [each.name for each in report.loops]
    if loop not in names and not (alone and len(names) == 1):
        raise Stop(f"--last-failed {path}: it has no loop {loop}; there is {', '.join(names) or 'none'}")
    found = report.loops[names.index(loop) if loop in names else 0]
    return None if found.problem else {*(result.id for result in found.bad), *found.unplayed}


def _shard(text: str) -> Shard:
    from ..chosen import Shard

    parts = _SHARD.fullmatch(text)
    found = Shard(int(parts["number"]), int(parts["of"])) if parts else Shard(0, 0)
    if not 1 <= found.number <= found.of:
        raise ArgumentTypeError(f"{text!r} is no shard; write 1/3, 2/3 and 3/3 for three machines")
    return found
