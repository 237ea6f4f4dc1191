"""Labelled incidents of people to Cases: what the pipeline found in them, and what was right.

{"id": "c1", "primary": "host_memory.oom_cgroup", "accept": ["process.worker_died"], "source": "ticket 17", "hard": false}
"""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from forensics import correlation, pipeline, sources
from forensics.core.errors import SourceError, UsageError
from forensics.database import HEALTHY, Database
from forensics.decision.decide import Question
from forensics.model import Observation

FAILED = "?"  # stands for the cause of a case of which only the outcome is labelled


class Case(Struct, frozen=True):
    """`right`: the labelled cause and others that are accepted, the labelled one first; FAILED alone where only the outcome is
    known. `source`: where it is from; cases of one source never stand on both sides of a split. `corpus`, `kind`: of what sort it
    is. `evidence`: texts of the labelled lines.
    """

    id: str
    right: tuple[str, ...]
    source: str
    hard: bool
    question: Question
    corpus: str = ""
    kind: str = ""
    evidence: tuple[str, ...] = ()

    @property
    def cause_known(self) -> bool:
        """Is the cause labelled, not only that it failed?"""
        return self.right != (FAILED,)

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
        right = (FAILED,) if label["primary"] is None else right
        folder = path.parent / name
        if Path(name).name != name or not folder.is_dir():
            raise UsageError(f"no folder {name} beside it", where)
        yield Case(
            name,
            _known(right, knowledge, where),
            str(label.get("repository") or _origin(str(label.get("source") or name))),
            bool(label.get("hard")),
            question_of([folder], knowledge),
            path.parent.name,
            str(label.get("kind") or ""),
            tuple(map(str, label.get("evidence") or ())),
        )


def _expected(folder: Path, knowledge: Database) -> Iterator[Case]:
    import yaml

    for path in sorted(folder.glob("*/expected.yaml")):
        told: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
        if not isinstance(told, dict) or "cause" not in told:
            raise UsageError("names no cause", str(path))
        right = _known((str(told["cause"]), *map(str, told.get("accept") or ())), knowledge, str(path))
        logs = sorted(p for p in path.parent.rglob("*") if p.is_file() and p != path)
        yield Case(path.parent.name, right, path.parent.name, False, question_of(logs, knowledge), folder.name)


def _origin(source: str) -> str:
    """The repository or thread of a source: `owner/name` of a path in one, the whole of anything else."""
    plain = source.split()[0] if source.split() else source
    parts = plain.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 and "://" not in plain else source


def _known(right: tuple[str, ...], knowledge: Database, where: str) -> tuple[str, ...]:
    unknown = [c for c in right if c not in knowledge.causes and c != FAILED]
    if unknown:
        raise UsageError(f"no such cause: {unknown[0]}", where, "forensics signatures list shows them")
    return right


def question_of(paths: list[Path], knowledge: Database) -> Question:
    """What the pipeline decides about when it is given `paths`."""
    try:
        given = list(sources.open_paths(paths, lambda _w: None))
    except SourceError:
        given = []
    seen = pipeline.examine(given, knowledge, workers=1)
    return pipeline.question_about(correlation.joined(seen.incidents), seen.asked, knowledge)


def without(case: Case, unknown: Callable[[Observation], bool]) -> Case:
    """`case` as if no signature knew the observations that are `unknown`; their lines no longer count as evidence."""
    asked = case.question
    kept = [o for o in asked.owned if not unknown(o.observation)]
    return replace(case, question=Question(kept, asked.lanes, asked.machine, asked.host_log, asked.end))


def without_its_cause(case: Case) -> Case:
    """`case` with every observation of its labelled cause removed."""
    return without(case, lambda observation: observation.cause == case.right[0])
