"""The files that `init` writes: pure functions from what was answered to texts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from .init_source import WHEEL

BASELINE = "conformance.yaml"
REPORTS = "conformance-report"
_BODY = '{"message": "{prompt}", "conversation": "{conversation}"}'
_BODY_STREAMED = '{"message": "{prompt}", "conversation": "{conversation}", "stream": {stream}}'
"""What a service is sent, until its owner says otherwise."""
_NEEDED = {
    "python": (
        "if [ -f requirements.txt ]; then pip install -r requirements.txt; fi",
        "if [ -f pyproject.toml ]; then pip install .; fi",
    ),
    "node": ("if [ -f package-lock.json ]; then npm ci; elif [ -f package.json ]; then npm install; fi",),
    "php": ("if [ -f composer.json ]; then composer install --no-interaction; fi",),
    "ruby": ("if [ -f Gemfile ]; then bundle install; fi",),
}
"""How the loop's own dependencies are installed, by its language."""
_SYSTEM = {
    "node": "nodejs npm",
    "php": "php-cli php-curl composer",
    "ruby": "ruby bundler",
    "shell": "curl jq",
}
"""Packages of Debian that an image for Python lacks."""
_HTTP = re.compile(r"(?:[A-Z]+ +)?https?://\S+")


class Answers(NamedTuple):
    """What the owner of a loop was asked."""

    language: str
    """`python`, or any other: then the loop is a command."""
    entry: str
    """`pkg.mod:attr`, a command, or `POST http://127.0.0.1:3000/chat`."""
    streaming: bool
    queue: bool
    """The loop is a job: it publishes, can be cancelled, cleans up."""
    ci: str
    """`github`, `gitlab` or `none`."""
    source: str = WHEEL
    """What pip installs in the job."""
    start: str = ""
    """Of a service: the command that starts it."""

    @property
    def kind(self) -> str:
        """The option that names the loop: `loop`, `command` or `http`."""
        if _HTTP.fullmatch(self.entry):
            return "http"
        return "loop" if self.language == "python" else "command"

    @property
    def profile(self) -> str:
        """What such a loop is held to."""
        if self.queue:
            return "turn-job-1"
        return "wire-only-1" if self.kind == "http" else "core-1"

    @property
    def words(self) -> list[str]:
        """The words of the command that judges it."""
        words = ["loop-harness", "run", f"--{self.kind}", self.entry]
        if self.kind == "http":
            words += ["--start", self.start] if self.start else []
            words += ["--body", _BODY_STREAMED if self.streaming else _BODY]
            words += ["--answer", "sse:$.text" if self.streaming else "json:$.reply"]
        return [*words, "--profile", self.profile, "--baseline", BASELINE]


def files(answers: Answers) -> dict[str, str]:
    """The texts by their paths, in the order in which they matter."""
    return dict(_files(answers))


def _files(answers: Answers) -> Iterator[tuple[str, str]]:
    if answers.kind == "loop":
        yield _adapter_path(answers.entry), _adapter(answers)
        yield "tests/test_conformance.py", _test(answers)
    else:
        yield "conformance.sh", _script(answers)
    yield BASELINE, _BASELINE
    if answers.ci == "github":
        yield ".github/workflows/conformance.yml", _github(answers)
    if answers.ci == "gitlab":
        yield ".gitlab/conformance.yml", _gitlab(answers)


def _adapter_path(entry: str) -> str:
    module = entry.partition(":")[0]
    return module if module.endswith(".py") else str(PurePosixPath(*module.split("."))) + ".py"


def _adapter(answers: Answers) -> str:
    name = answers.entry.partition(":")[2]
    stream = ", stream=turn.stream" if answers.streaming else ""
    hooks = _JOB if answers.queue else ""
    return _ADAPTER.format(name=name, stream=stream, hooks=hooks)


def _test(answers: Answers) -> str:
    return _TEST.format(entry=answers.entry, profile=answers.profile, baseline=BASELINE)


def _script(answers: Answers) -> str:
    return _SCRIPT.format(command=shlex.join(answers.words))


def _installing(answers: Answers, *, system: bool) -> list[str]:
    """The commands that install all a job needs."""
    packages = _SYSTEM.get(answers.language) if system else None
    made = [f"apt-get update -qq && apt-get install -qq {packages}"] if packages else []
    return [*made, 'pip install "$LOOP_HARNESS"', *_NEEDED.get(answers.language, ())]


def _github(answers: Answers) -> str:
    return _GITHUB.format(
        command=shlex.join(answers.words),
        reports=REPORTS,
        source=answers.source,
        install="\n".join(f"          {line}" for line in _installing(answers, system=False)),
    )


def _gitlab(answers: Answers) -> str:
    return _GITLAB.format(
        command=shlex.join(answers.words),
        reports=REPORTS,
        source=answers.source,
        install="\n".join(f"    - {line}" for line in _installing(answers, system=True)),
    )


_BASELINE = """\
# Known results, and why they are known. After the first run:
# loop-harness run … --baseline conformance.yaml --update-baseline --reason "not yet"
coverage: {}
known: []
"""

_ADAPTER = '''\
"""Hands turns of loop-harness to our loop, and tells what its caller would have got. It decides nothing."""

from __future__ import annotations

from harness import Outcome, Turn


def {name}(turn: Turn) -> Outcome:
    """One user message, handled to its end."""
    # agent = Agent(base_url=turn.base_url, api_key=turn.api_key, model=turn.model{stream})
    # for tool in turn.tools:
    #     agent.add_tool(tool.name, tool.description, tool.input_schema, tool.run)
{hooks}    # answer = agent.run(turn.messages)
    # return Outcome(shown=[answer.text], history=answer.messages)
    raise NotImplementedError("call your loop here")
'''

_JOB = """\
    # agent.limits(turn.limits.max_iterations, turn.limits.wall_clock)
    # agent.on_state(turn.publish)
    # agent.on_problem(turn.report)
    # agent.stop_when(turn.cancelled)
    # agent.keep_checkpoints(turn.store, turn.checkpoint_key)
"""

_TEST = '''\
"""Our loop does what the Messages API asks of it, but for what conformance.yaml knows of."""

from harness import conformance

test_conformance = conformance("{entry}", profile="{profile}", baseline="{baseline}")
'''

_SCRIPT = """\
#!/bin/sh
# Judges our loop, but for what conformance.yaml knows of: sh conformance.sh
exec {command} "$@"
"""

_GITHUB = """\
name: conformance

on: [push, pull_request]

permissions:
  contents: read

env:
  LOOP_HARNESS: {source}  # what pip installs: a wheel, a path or an address

jobs:
  conformance:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: '3.12'
      - name: install
        run: |
{install}
      - name: judge
        run: |
          mkdir -p {reports}
          {command} \\
            --report github:- \\
            --report "markdown:$GITHUB_STEP_SUMMARY" \\
            --report junit:{reports}/junit.xml \\
            --report json:{reports}/run.json \\
            --report html:{reports}/index.html
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: conformance
          path: {reports}
"""

_GITLAB = """\
# In .gitlab-ci.yml: include: [local: .gitlab/conformance.yml]
conformance:
  image: python:3.12
  variables:
    LOOP_HARNESS: {source}  # what pip installs: a wheel, a path or an address
  script:
{install}
    - mkdir -p {reports}
    - >-
      {command}
      --report junit:{reports}/junit.xml
      --report json:{reports}/run.json
      --report html:{reports}/index.html
  artifacts:
    when: always
    paths:
      - {reports}
    reports:
      junit: {reports}/junit.xml
"""
