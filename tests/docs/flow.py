"""The picture in docs/architecture.md: what flows from a scenario to a verdict, as an SVG.

It has a ground of its own, since the page that shows it may be light where the system is dark.
"""

from __future__ import annotations

from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 980, 500
TITLE = "What flows from a scenario to a verdict"
TOLD = (
    "A scenario becomes a script for the provider and a turn for the loop under test. Loop and provider "
    "exchange requests and replies. All that happens becomes the history, which checks read; their verdict, "
    "beside a baseline, becomes reports and an exit code. A recording becomes a scenario, or is judged."
)
STYLE = """
svg { color-scheme: light dark; --ground: #fff; --ink: #1c2128; --soft: #57606a; --edge: #8c959f;
  --box: #f4f6f8; --given: #e7f0fb; --judged: #eaf6ec; }
@media (prefers-color-scheme: dark) { svg { --ground: #14181d; --ink: #dde3ea; --soft: #9aa4af;
  --edge: #6b7683; --box: #1f252c; --given: #1d2c40; --judged: #1c3324; } }
text { font: 15px system-ui, sans-serif; fill: var(--ink); text-anchor: middle; }
.soft { font-size: 12.5px; fill: var(--soft); } .left { text-anchor: start; }
.ground { fill: var(--ground); } .box { fill: var(--box); stroke: var(--edge); }
.given { fill: var(--given); } .judged { fill: var(--judged); }
.flow { fill: none; stroke: var(--soft); stroke-width: 1.5; marker-end: url(#tip); }
.both { marker-start: url(#tip); } #tip path { fill: var(--soft); }
"""


class Box(NamedTuple):
    x: int
    y: int
    name: str
    what: str
    kind: str = ""
    width: int = 170


class Flow(NamedTuple):
    path: str
    """As SVG has it."""
    what: str = ""
    x: int = 0
    y: int = 0
    both: bool = False


BOXES = (
    Box(20, 30, "scenario.yaml", "yours, or bundled", "given"),
    Box(270, 30, "Scenario", "typed, complete"),
    Box(540, 30, "provider", "the API, on the loopback"),
    Box(20, 160, "recording", "of vcrpy, or a kept run", "given"),
    Box(270, 160, "turn", "prompt, tools, limits"),
    Box(540, 160, "your loop", "in a process of its own", "given"),
    Box(270, 290, "history", "requests, replies, tools, hooks, outcome, what was left", width=440),
    Box(270, 410, "checks", "a pure function each", "judged", 150),
    Box(460, 410, "verdict", "a grade for each clause", "judged", 160),
    Box(660, 410, "baseline", "what is known", "given", 120),
    Box(820, 410, "reports", "and the exit code", "judged", 140),
)
FLOWS = (
    Flow("M190 58 H266", "load", 228, 50),
    Flow("M440 58 H536", "script", 488, 50),
    Flow("M355 86 V156", "task", 376, 126),
    Flow("M440 188 H536"),
    Flow("M625 90 V156", "requests, replies", 682, 126, both=True),
    Flow("M625 216 V286"),
    Flow("M355 216 V286"),
    Flow("M710 58 H760 V318 H714"),
    Flow("M190 178 H230 V74 H266", "promote", 198, 138),
    Flow("M105 216 V438 H266", "judge", 188, 430),
    Flow("M345 346 V406"),
    Flow("M420 438 H456"),
    Flow("M620 438 H656"),
    Flow("M780 438 H816"),
)


def flow() -> str:
    """`docs/data-flow.svg`."""
    parts = [*(_flow(each) for each in FLOWS), *(_box(each) for each in BOXES)]
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"
  role="img" aria-labelledby="title told">
<title id="title">{TITLE}</title>
<desc id="told">{TOLD}</desc>
<style>{STYLE}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"
  orient="auto-start-reverse"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>
<rect class="ground" width="{WIDTH}" height="{HEIGHT}" rx="8"/>
{"".join(parts)}</svg>
"""


def _box(box: Box) -> str:
    middle = box.x + box.width // 2
    return (
        f'<rect class="box {box.kind}" x="{box.x}" y="{box.y}" width="{box.width}" height="56" rx="6"/>'
        f'<text x="{middle}" y="{box.y + 24}">{escape(box.name)}</text>'
        f'<text class="soft" x="{middle}" y="{box.y + 43}">{escape(box.what)}</text>\n'
    )


def _flow(flow: Flow) -> str:
    both = " both" if flow.both else ""
    told = f'<text class="soft" x="{flow.x}" y="{flow.y}">{escape(flow.what)}</text>' if flow.what else ""
    return f'<path class="flow{both}" d="{flow.path}"/>{told}\n'
