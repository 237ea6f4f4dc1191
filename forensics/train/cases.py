"""Labelled incidents of people to Cases: what the pipeline found in them, and what was right.

{"id": "c1", "primary": "host_memory.oom_cgroup", "accept": ["process.worker_died"], "source": "ticket 17", "hard": false}
"""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from forensics import pipeline, sources
from forensics.database import HEALTHY, Database
from forensics.diagnose import Question
from forensics.errors import SourceError, UsageError
from forensics.model import Observation


class Case(Struct, frozen=True):
    """`right`: the labelled cause and others that are accepted, the labelled one first. `source`: where it is from; cases of
    one source never stand on both sides of a split."""

    id: str
    right: tuple[str, ...]
    source: str
    hard: bool
    question: Question

    @property
    def healthy(self) -> bool:
        """Is nothing wrong in it?"""
        return self.right[0] == HEALTHY


def read_corpora(folders: Iterable[Path], knowledge: Database) -> list[Case]:
    """The cases of all `folders`; raises UsageError for one that is no corpus, or whose labels cannot be read.

    A corpus holds `labels.jsonl` (id, primary; accept, source, hard where known) and a folder for each id, or a folder for each
    case with an `expected.yaml` (cause; accept) in it.
    """
    cases: list[Case] = []
    for folder in folders:
        labels = folder / "labels.jsonl"
        if labels.is_file():
            cases += _labelled(labels, knowledge)
        elif any(folder.glob("*/expected.yaml")):
            cases += _expected(folder, knowledge)
        else:
            raise UsageError("no corpus: it holds neither labels.jsonl nor */expected.yaml", str(folder))
    return cases


def _labelled(path: Path, knowledge: Database) -> Iterator[Case]:
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            label = json.loads(line)
            name, right = str(label["id"]), (str(label["primary"]), *map(str, label.get("accept", [])))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError("no label: an object with id and primary is needed", where) from error
        folder = path.parent / name
        if Path(name).name != name or not folder.is_dir():
            raise UsageError(f"no folder {name} beside it", where)
        source = str(label.get("source") or name)
        yield Case(name, _known(right, knowledge, where), source, bool(label.get("hard")), question_of([folder], knowledge))


def _expected(folder: Path, knowledge: Database) -> Iterator[Case]:
    import yaml

    for path in sorted(folder.glob("*/expected.yaml")):
        told: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
        if not isinstance(told, dict) or "cause" not in told:
            raise UsageError("names no cause", str(path))
        right = _known((str(told["cause"]), *map(str, told.get("accept") or ())), knowledge, str(path))
        logs = sorted(p for p in path.parent.rglob("*") if p.is_file() and p != path)
        yield Case(path.parent.name, right, path.parent.name, False, question_of(logs, knowledge))


def _known(right: tuple[str, ...], knowledge: Database, where: str) -> tuple[str, ...]:
    unknown = [c for c in right if c not in knowledge.causes]
    if unknown:
        raise UsageError(f"no such cause: {unknown[0]}", where, "forensics signatures list shows them")
    return right


def question_of(paths: list[Path], knowledge: Database) -> Question:
    """What the pipeline decides about when it is given `paths`."""
    asked: list[Question] = []
    try:
        given = list(sources.open_paths(paths, lambda _w: None))
    except SourceError:
        given = []
    pipeline.analyze(given, "case", knowledge, workers=1, ask=asked.append)
    return asked[0]


def without(case: Case, unknown: Callable[[Observation], bool]) -> Case:
    """`case` as if no signature knew the events that are `unknown`; their lines no longer count as evidence."""
    incident = case.question.incident
    kept = tuple(e for e in incident.events if not unknown(e)) if incident else ()
    question = replace(case.question, incident=replace(incident, events=kept) if incident and kept else None)
    return replace(case, question=question)


def without_its_cause(case: Case) -> Case:
    """`case` with every event of its labelled cause removed."""
    return without(case, lambda event: event.cause == case.right[0])
