"""Records the project's own cassettes: `python -m tests.record_cassettes`, from the root of the checkout.

The reference loop and the SDK's tool runner play scenarios of the suite against the suite's provider, through
the recording proxy. What differs from run to run (ports, dates, times) is left out of the files, so that a
diff of them shows what changed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from harness.cassettes.model import Headers, Interaction
from harness.cassettes.read import read
from harness.cassettes.write import write
from harness.history import AnyEvent, Ended
from harness.loops.play import Stage
from harness.loops.resolve import resolve
from harness.provider.session import Session
from harness.scenario.load import load_scenario
from harness.scenario.model import Scenario
from harness.turn import TurnSpec
from tests.cassettes.serving import KEY, recording, serving

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "cassettes"
HOST = "https://provider.invalid"
"""In place of the port that happened to be free."""
KEPT_OF_REQUESTS = ("content-type", "anthropic-version", "anthropic-beta", "x-stainless-retry-count")
KEPT_OF_RESPONSES = ("content-type", "request-id", "retry-after", "x-should-retry")

LOOPS = {
    "reference": "harness.loops.reference:loop",
    "runner": "harness.loops.sdk_runner:threaded",
    "runner-unthreaded": "harness.loops.sdk_runner:unthreaded",
}


class Take(NamedTuple):
    """What one cassette shows."""

    loop: str
    scenario: str
    stream: bool

    @property
    def path(self) -> Path:
        name = f"{self.scenario.replace('/', '-')}-{'sse' if self.stream else 'json'}.yaml"
        return FOLDER / self.loop / name

    @property
    def made_by(self) -> str:
        variant = f"{self.scenario}[{'sse' if self.stream else 'json'}]"
        return (
            f"python -m tests.record_cassettes: {LOOPS[self.loop]} on {variant} against the provider of the "
            f"suite, not the API; anthropic {version('anthropic')}"
        )

    def read(self) -> Scenario:
        return load_scenario(ROOT / "scenarios" / f"{self.scenario}.yaml")


TAKES = [
    Take("reference", "text/two", stream=False),
    Take("reference", "tool/parallel", stream=True),
    Take("reference", "thinking/interleaved", stream=True),
    Take("reference", "pause/results", stream=True),
    Take("reference", "pause/then-tool", stream=False),
    Take("reference", "refuse/partial", stream=True),
    Take("reference", "truncate/tool-partial", stream=True),
    Take("reference", "fault/overloaded-once", stream=False),
    Take("runner", "tool/chained", stream=False),
    Take("runner", "pause/then-tool", stream=True),
    Take("runner-unthreaded", "tool/chained", stream=True),
    Take("runner-unthreaded", "pause/twice", stream=False),
]


def play(take: Take, url: str, begin: Callable[[int], None] = lambda _: None) -> list[AnyEvent]:
    """Let the loop play the scenario against `url`; `begin` is told of each turn."""
    scenario = take.read()
    events: list[AnyEvent] = []
    stage = Stage(resolve(LOOPS[take.loop]))
    history: list[Any] = []
    for number, turn in enumerate(scenario.turns):
        begin(number)
        messages = [*history, {"role": "user", "content": turn.prompt}]
        spec = TurnSpec(
            base_url=url, api_key=KEY, model=scenario.task.model, max_tokens=scenario.task.max_tokens,
            system=scenario.task.system, prompt=turn.prompt, messages=messages, conversation="c1",
            tools=scenario.tools, stream=take.stream, limits=turn.limits, checkpoint_key="checkpoint:c1",
            cancel_key="cancel:c1",
        )  # fmt: skip
        stage.play(spec, events.append)
        [*_, ended] = [event for event in events if isinstance(event, Ended)]
        history = list(ended.history or messages)
    stage.close()
    return events


def record(take: Take, path: Path) -> None:
    """Record one cassette at `path`."""
    with tempfile.TemporaryDirectory() as folder, serving() as api:
        session = Session(key=KEY, scenario=take.read(), record=lambda _: None, seed=1)

        async def begin(number: int) -> None:
            if not number:
                api.provider.open(session)
            session.begin_turn(number)

        with recording(api.url, Path(folder, "x.yaml")) as (proxy, _):
            play(take, proxy.url, lambda number: api.call(begin(number)))
        found = read(Path(folder, "x.yaml")).interactions
    write(path, [plain(one) for one in found], take.made_by)


def plain(one: Interaction) -> Interaction:
    """An interaction without what differs from run to run."""
    uri = f"{HOST}{urlsplit(one.request.uri).path}"
    request = msgspec.structs.replace(
        one.request, uri=uri, headers=list(kept(one.request.headers, KEPT_OF_REQUESTS))
    )
    response = msgspec.structs.replace(
        one.response, headers=list(kept(one.response.headers, KEPT_OF_RESPONSES)), head_at=None, pieces=[]
    )
    return msgspec.structs.replace(one, request=request, response=response, asked_at=None)


def kept(headers: Headers, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    found = {name.lower(): value for name, value in headers}
    yield from ((name, found[name]) for name in names if name in found)


def main() -> None:
    """Record all of them."""
    for take in TAKES:
        record(take, take.path)
        print(take.path.relative_to(ROOT))


if __name__ == "__main__":
    main()
