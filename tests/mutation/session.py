"""The session: cosmic-ray's list of changes and what came of each, in one file."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from cosmic_ray import modules, plugins
from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.config import load_config
from cosmic_ray.mutating import mutate_code
from cosmic_ray.work_db import MutationSpecStorage, WorkDB, WorkItemStorage, WorkResultStorage
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkResult

from tests.mutation.changes import Change
from tests.mutation.known import known

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
FOLDER = ROOT / ".loop-harness" / "mutation"
"""Where sessions are kept from run to run."""


@dataclass
class Session:
    """All changes of one part, `reference` or `checks`, and their results."""

    part: str
    sources: dict[str, str] = field(default_factory=dict)

    @cached_property
    def config(self) -> Any:
        return load_config(str(HERE / f"{self.part}.toml"))

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.part}.sqlite"

    @cached_property
    def db(self) -> WorkDB:
        """The work of this part. A module that is not what it was is begun anew."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        kept, now = FOLDER / f"{self.part}.json", {str(path): path.read_text() for path in self._modules()}
        before = json.loads(kept.read_text()) if kept.exists() and self.path.exists() else {}
        found = WorkDB(str(self.path), WorkDB.Mode.create)
        for path in sorted({*now, *before}):
            if before.get(path) != now.get(path):
                self._begin_anew(found, Path(path), there=path in now)
        kept.write_text(json.dumps(now))
        return found

    @property
    def timeout(self) -> float:
        """Seconds a change may take."""
        return float(self.config.timeout)

    def pending(self, sample: int | None = None) -> list[tuple[str, MutationSpec]]:
        """What was not tried yet, by its job; with `sample`, only what is among so many that a lot draws."""
        every = sorted(
            ((item.job_id, item.mutations[0]) for item in self.db.work_items),
            key=lambda one: (str(one[1].module_path), one[1].operator_name, one[1].occurrence),
        )
        drawn = every if sample is None else self._by_lot(every)[:sample]
        done = {job for job, _ in self.db.results}
        return [one for one in drawn if one[0] not in done]

    def _by_lot(self, every: list[tuple[str, MutationSpec]]) -> list[tuple[str, MutationSpec]]:
        """In an order of no meaning, which stays the same for what is left when other lines change."""
        found, counted = [], Counter[str]()
        for job, spec in every:
            line = self._source(Path(spec.module_path)).splitlines()[spec.start_pos[0] - 1].strip()
            name = f"{spec.module_path} {spec.definition_name} {spec.operator_name} {line}"
            counted[name] += 1
            lot = hashlib.sha256(f"{name} {counted[name]}".encode()).digest()
            found.append((lot, job, spec))
        return [(job, spec) for _, job, spec in sorted(found, key=lambda one: one[0])]

    def results(self) -> Iterator[tuple[str, Change, TestOutcome | None, dict[str, Any]]]:
        """Job, change, outcome (None: no change at all) and what is known about it."""
        jobs = {item.job_id: item.mutations[0] for item in self.db.work_items}
        for job, result in self.db.results:
            yield job, self.change(jobs[job]), result.test_outcome, json.loads(result.output or "{}")

    def change(self, spec: MutationSpec) -> Change:
        """The change that a job is about."""
        path = Path(spec.module_path)
        source = self._source(path)
        operator = plugins.get_operator(spec.operator_name)(**spec.operator_args)
        try:
            after = mutate_code(source, operator, spec.occurrence)
        except AttributeError:
            after = None  # it replaces `except ValueError`, but fails at `except json.JSONDecodeError`
        return Change(ROOT / path, spec.definition_name or "", spec.start_pos[0], source, after or source)

    def _source(self, path: Path) -> str:
        if str(path) not in self.sources:
            self.sources[str(path)] = (ROOT / path).read_text(encoding="utf-8")
        return self.sources[str(path)]

    def keep(self, job: str, outcome: TestOutcome | None, said: dict[str, Any]) -> None:
        """Keep what came of a change; without an outcome, that it is none."""
        worker = WorkerOutcome.NORMAL if outcome else WorkerOutcome.SKIPPED
        self.db.set_result(job, WorkResult(worker, json.dumps(said), outcome))

    def unexplained(self, *, tried: bool = False) -> list[tuple[str, MutationSpec]]:
        """What survived, and nobody has said why; without `tried`, only what was not tried a second time."""
        jobs = {item.job_id: item.mutations[0] for item in self.db.work_items}
        return [
            (job, jobs[job])
            for job, change, outcome, said in self.results()
            if outcome is TestOutcome.SURVIVED
            and (tried or not said.get("second"))
            and change.key not in known(self.part)
        ]

    def forget(self, jobs: list[str]) -> None:
        """Drop what came of these: they are pending again."""
        with self.db._session_maker.begin() as session:
            session.query(WorkResultStorage).filter(WorkResultStorage.job_id.in_(jobs)).delete()

    def _modules(self) -> list[Path]:
        return sorted(modules.find_modules([Path(self.config["module-path"])]))

    def _begin_anew(self, db: WorkDB, path: Path, *, there: bool) -> None:
        with db._session_maker.begin() as session:
            jobs = session.query(MutationSpecStorage.job_id).filter(
                MutationSpecStorage.module_path == str(path)
            )
            old = [job for (job,) in jobs]
            for table in (WorkResultStorage, MutationSpecStorage, WorkItemStorage):
                session.query(table).filter(table.job_id.in_(old)).delete()
        if there:
            out = "|".join(self.config.sub("filters", "operators-filter").get("exclude-operators", ("$^",)))
            found = _all_work_items([path], {})
            db.add_work_items(one for one in found if not re.match(out, one.mutations[0].operator_name))
