"""`replay`: a recording in place of the API. What is asked otherwise than recorded is a finding."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from pathlib import Path

from ..cassettes.player import Player
from ..cassettes.read import CassetteError, read
from ..cassettes.redact import Redactor
from ..cassettes.replaying import Replaying
from ..cassettes.use import KEY
from ..report.lines import counted
from . import BROKEN, Stop
from .beside import run_beside, say
from .record import rules, secrets


def run(options: Namespace) -> int:
    """Replay; the exit code is the command's, or 1 where something was not as recorded."""
    redactor = Redactor(rules(options.redact), secrets(options.secret_env))
    try:
        cassette = read(Path(options.cassette))
        player = Player(cassette, ignore=options.ignore, redactor=redactor, any_order=options.any_order)
    except (CassetteError, ValueError) as error:
        raise Stop(str(error)) from error
    code = asyncio.run(run_beside(Replaying(player, options.pace).serve, options.argv, options.port, KEY))
    findings = player.finish()
    for finding in findings:
        say(finding.message)
    if player.more:
        say(f"and {player.more} more")
    total, wrong = len(cassette.interactions), len(findings) + player.more
    say(f"{player.played} of {counted(total, 'interaction')} played, {counted(wrong, 'finding')}")
    return code or (BROKEN if findings else 0)
