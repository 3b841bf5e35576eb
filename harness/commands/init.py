"""`init`: ask what the loop is, and write the first test, the file of known results, and the CI job."""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Callable
from pathlib import Path

from . import Stop
from .init_files import Answers, files
from .init_source import WHEEL, checkout, installed_from, source
from .terminal import write

LANGUAGES = ("python", "node", "php", "ruby", "shell", "other")
_MARKS = {
    "pyproject.toml": "python", "setup.py": "python", "package.json": "node", "composer.json": "php",
    "Gemfile": "ruby",
}  # fmt: skip
"""Files that tell the language of a repository."""
_ENTRIES = {
    "python": "my_agent.conformance:loop",
    "node": "node conformance.mjs",
    "php": "php conformance.php",
    "ruby": "ruby conformance.rb",
    "shell": "sh conformance-loop.sh",
    "other": "./conformance-loop",
}
_STARTS = {
    "python": "python app.py",
    "node": "node server.js",
    "php": "php -S 127.0.0.1:3000 -t public",
    "ruby": "bundle exec rackup -p 3000",
}
CI = ("github", "gitlab", "none")


def add_init(parser: ArgumentParser) -> None:
    """The arguments of `init`: each is an answer, and what has none is asked for at a terminal."""
    parser.add_argument("--language", choices=LANGUAGES, help="what the loop is written in")
    entry = "PKG.MOD:ATTR, a command, or 'POST URL' of a service"
    parser.add_argument("--entry", metavar="ENTRY", help=entry)
    parser.add_argument("--start", metavar="CMD", help="of a service: the command that starts it")
    parser.add_argument("--streaming", action=BooleanOptionalAction, default=None, help="replies stream")
    parser.add_argument("--queue", action=BooleanOptionalAction, default=None, help="it is a job in a queue")
    parser.add_argument("--ci", choices=CI, help="where the job runs (default: what the repository shows)")


def run(options: Namespace) -> int:
    """Write the files that are not there yet; what is there is kept as it is."""
    here = Path()
    answers = _answers(options, here, _ask if sys.stdin.isatty() and sys.stdout.isatty() else None)
    new = []
    for name, text in files(answers).items():
        path = _place(here, name)
        new += [name] if (fresh := _write_new(path, text)) else []
        write(f"{'written' if fresh else 'kept'}  {path}\n")
    if answers.ci != "none" and answers.source == WHEEL and not (here / WHEEL).exists():
        made = (
            f"pip wheel --no-deps --wheel-dir {Path(WHEEL).parent} {shlex.quote(checkout(installed_from()))}"
        )
        write(f"\nthe job installs {WHEEL}, to be kept in the repository: {made}\n")
    write(f"\nnext: {_next(answers, new)}\n")
    return 0


def _next(answers: Answers, new: list[str]) -> str:
    if answers.kind != "loop":
        return "sh conformance.sh"
    if any(name.endswith(".py") and not name.startswith("tests/") for name in new):
        # The name of a loop that was checked has nothing in it that a shell would read.
        return f"have {answers.entry} call your loop, then loop-harness doctor --loop {answers.entry}"
    return "pytest tests/test_conformance.py"


def _place(here: Path, name: str) -> Path:
    """Where the file is, or is to be: a module may be a package, and stand in `src`."""
    path = Path(name)
    roots = [here, here / "src"] if path.suffix == ".py" else [here]
    there = [root / form for root in roots for form in (path, path.with_suffix("") / "__init__.py")]
    if path.suffix == ".py" and (found := next((each for each in there if each.exists()), None)):
        return found
    in_src = len(path.parts) > 1 and (here / "src" / path.parts[0]).is_dir()
    return here / "src" / path if in_src else here / path


def _write_new(path: Path, text: str) -> bool:
    """Write a file, unless there is one. Raises `Stop`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    except OSError as error:
        raise Stop(f"{path} cannot be written: {error.strerror}") from error
    return True


Ask = Callable[[str, str], str]


def _answers(options: Namespace, here: Path, ask: Ask | None) -> Answers:
    """What the options say, what is asked for, else what the repository shows. Raises `Stop`."""
    language = options.language or _language(here)
    if ask and options.language is None:
        language = _one_of(ask, "language", LANGUAGES, language)
    entry = options.entry
    if entry is None and ask:
        entry = ask("entry point: PKG.MOD:ATTR, a command, or 'POST URL'", _ENTRIES[language])
    if not entry:
        raise Stop(f"name the loop with --entry, such as --entry '{_ENTRIES[language]}'")
    answers = Answers(
        language=language,
        entry=entry,
        start=_start(options, Answers(language, entry, False, False, ""), ask),
        streaming=_yes(ask, options.streaming, "do replies stream?"),
        queue=_yes(ask, options.queue, "is it a job in a queue, with published state and cancellation?"),
        ci=options.ci or _ci(here),
        source=source(installed_from()),
    )
    module, _, attribute = entry.partition(":")
    named = module.removesuffix(".py").replace("/", ".").split(".")
    if answers.kind == "loop" and not (attribute.isidentifier() and all(n.isidentifier() for n in named)):
        raise Stop(f"--entry {entry}: name a Python loop as PKG.MOD:ATTR, such as {_ENTRIES['python']}")
    return answers


def _start(options: Namespace, answers: Answers, ask: Ask | None) -> str:
    """How a service is started: a job has none that runs already."""
    if answers.kind != "http":
        if options.start:
            raise Stop(f"--start is for a service: --entry 'POST URL', and {answers.entry} is none")
        return ""
    example = _STARTS.get(answers.language, "./serve")
    told = options.start or (ask("the command that starts the service", example) if ask else "")
    if not told:
        raise Stop(f"name the command that starts the service with --start, such as --start '{example}'")
    return str(told)


def _language(here: Path) -> str:
    return next((language for mark, language in _MARKS.items() if (here / mark).exists()), "python")


def _ci(here: Path) -> str:
    return "gitlab" if (here / ".gitlab-ci.yml").exists() else "github"


def _yes(ask: Ask | None, told: bool | None, question: str) -> bool:
    if told is not None or ask is None:
        return bool(told)
    return _one_of(ask, question, ("yes", "no"), "no") == "yes"


def _one_of(ask: Ask, question: str, choices: tuple[str, ...], default: str) -> str:
    """Ask until one of the choices, or the beginning of one, is answered."""
    while True:
        told = ask(f"{question} ({', '.join(choices)})", default).lower()
        fitting = [choice for choice in choices if told and choice.startswith(told)]
        if told in choices or len(fitting) == 1:
            return told if told in choices else fitting[0]


def _ask(question: str, default: str) -> str:
    try:
        return input(f"{question} [{default}] ").strip() or default
    except EOFError:
        raise Stop("nothing is written: a question was left unanswered") from None
