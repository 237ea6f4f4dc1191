"""Read labelled incidents as Cases: what the pipeline found in them, and the labels.

{"id": "c1", "primary": "host_memory.oom_cgroup", "accept": ["process.worker_died"], "source": "ticket 17", "hard": false}
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from forensics import correlation, pipeline, sources
from forensics.core.errors import SourceError, UsageError
from forensics.database import HEALTHY, Database
from forensics.decision.decide import DecisionInput
from forensics.model import Observation
from forensics.outcome import line_classes
from forensics.outcome.deciding_lines import CandidateLine, candidate_lines
from forensics.readers.lanes.line_classes import TROUBLE

MAX_OTHER_LINES = 60  # of a log, to learn from: with 300 the rows take twice the bytes
MIN_QUOTED_CHARS = 6  # of a line that is quoted in part
FAILED = "?"  # the label of a case that failed with an unknown cause
CUT_OFF = "cut_off"  # the outcome of a log that breaks off without a word


class LineExample(Struct, frozen=True):
    """A line of a failed log with the features of outcome/deciding_lines.py. `decides`: did a reader mark it as decisive?"""

    words: tuple[int, ...]
    structure: tuple[float, ...]
    decides: bool


class Case(Struct, frozen=True):
    """A labelled incident.

    `right`: the labelled cause, then others that are accepted; only FAILED if just the outcome is labelled. `source`: its origin,
    a repository or thread; cases of one origin are never on both sides of a split. `corpus`, `kind`: its groups in a table of
    results. `evidence`: texts of the labelled lines. `lines`: a sample of its lines, if one of them is labelled.
    """

    id: str
    right: tuple[str, ...]
    source: str
    hard: bool
    question: DecisionInput
    corpus: str = ""
    kind: str = ""
    evidence: tuple[str, ...] = ()
    lines: tuple[LineExample, ...] = ()

    @property
    def cause_known(self) -> bool:
        """Is the cause labelled, not only that it failed?"""
        return self.right != (FAILED,)

    @property
    def healthy(self) -> bool:
        """Is it labelled as healthy?"""
        return self.right[0] == HEALTHY


def read_corpora(folders: Iterable[Path], knowledge: Database) -> list[Case]:
    """The cases of all `folders`. Raises UsageError for a folder that is not a corpus, or whose labels cannot be read.

    A corpus is a folder with `labels.jsonl` (id, primary; optional: accept, source, hard) and a sub-folder for each id, or a
    folder with a sub-folder for each case that has an `expected.yaml` (cause; optional: accept).
    """
    cases: list[Case] = []
    for folder in folders:
        labels = folder / "labels.jsonl"
        if labels.is_file():
            cases += _labelled(labels, knowledge)
        elif any(folder.glob("*/expected.yaml")):
            cases += _expected(folder, knowledge)
        else:
            raise UsageError("not a corpus: it has neither labels.jsonl nor */expected.yaml", str(folder))
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
            raise UsageError("not a label: an object with id and primary is needed", where) from error
        if label["primary"] is None and label.get("outcome") == CUT_OFF:
            continue  # nobody knows how it ended
        right = (FAILED,) if label["primary"] is None else right
        folder = path.parent / name
        if Path(name).name != name or not folder.is_dir():
            raise UsageError(f"no folder {name} next to it", where)
        seen = _examined([folder], knowledge)
        evidence = tuple(map(str, label.get("evidence") or ()))
        yield Case(
            name,
            _known(right, knowledge, where),
            str(label.get("repository") or _origin(str(label.get("source") or name))),
            bool(label.get("hard")),
            _question(seen, knowledge),
            path.parent.name,
            str(label.get("kind") or ""),
            evidence,
            _line_examples(seen, evidence, knowledge) if evidence and right[0] != HEALTHY else (),
        )


def _expected(folder: Path, knowledge: Database) -> Iterator[Case]:
    import yaml

    for path in sorted(folder.glob("*/expected.yaml")):
        answer: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
        if not isinstance(answer, dict) or "cause" not in answer:
            raise UsageError("names no cause", str(path))
        right = _known((str(answer["cause"]), *map(str, answer.get("accept") or ())), knowledge, str(path))
        logs = sorted(p for p in path.parent.rglob("*") if p.is_file() and p != path)
        yield Case(path.parent.name, right, path.parent.name, False, decision_input_of(logs, knowledge), folder.name)


def _origin(source: str) -> str:
    """The repository or thread of a source: `owner/name` of a path in a repository, else the whole text."""
    plain = source.split()[0] if source.split() else source
    parts = plain.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 and "://" not in plain else source


def _known(right: tuple[str, ...], knowledge: Database, where: str) -> tuple[str, ...]:
    unknown = [c for c in right if c not in knowledge.causes and c != FAILED]
    if unknown:
        raise UsageError(f"no such cause: {unknown[0]}", where, "forensics signatures list shows them")
    return right


def decision_input_of(paths: list[Path], knowledge: Database) -> DecisionInput:
    """The input of the decision that the pipeline makes from `paths`."""
    return _question(_examined(paths, knowledge), knowledge)


def _examined(paths: list[Path], knowledge: Database) -> pipeline.PlacedCase:
    try:
        given = list(sources.open_paths(paths, lambda _w: None))
    except SourceError:
        given = []
    return pipeline.place_case(given, knowledge, workers=1)


def _question(seen: pipeline.PlacedCase, knowledge: Database) -> DecisionInput:
    return pipeline.decision_input(correlation.join_incidents(seen.incidents), seen.asked, knowledge)


def _line_examples(seen: pipeline.PlacedCase, evidence: Sequence[str], knowledge: Database) -> tuple[LineExample, ...]:
    """The labelled lines, and even samples (MAX_OTHER_LINES each) of the other lines with and without words of trouble."""
    lines = candidate_lines([a.scan for a in seen.analyses], line_classes(knowledge))
    wanted = {id(line) for line in lines if is_labelled(line.text, evidence)}
    if not wanted:
        return ()
    trouble = [line for line in lines if line.classes & TROUBLE and id(line) not in wanted]
    rest = [line for line in lines if not line.classes & TROUBLE and id(line) not in wanted]
    chosen = [line for line in lines if id(line) in wanted] + _even(trouble) + _even(rest)
    return tuple(LineExample(line.words, line.structure, id(line) in wanted) for line in chosen)


def _even(lines: list[CandidateLine]) -> list[CandidateLine]:
    return lines[:: max(1, ceil(len(lines) / MAX_OTHER_LINES))]


def is_labelled(text: str, evidence: Sequence[str]) -> bool:
    """Does `evidence` quote this line, completely or in part?"""
    text = text.strip()
    return any(quoted in text or (len(text) >= MIN_QUOTED_CHARS and text in quoted) for quoted in evidence)


def cause_of_labelled_lines(case: Case, knowledge: Database) -> tuple[str, ...]:
    """What a failed case died of, by its labelled lines: the causes that signatures see in them, else the general one.

    Empty for a healthy case and for one without such lines.
    """
    if case.healthy or not case.evidence:
        return ()
    seen = (o.observation for o in case.question.owned if o.owner != "others" and o.observation.cause not in (None, HEALTHY))
    found = [str(o.cause) for o in seen if any(is_labelled(p.text, case.evidence) for p in o.proofs)]
    return tuple(dict.fromkeys(found)) or tuple(knowledge.traits["exception"])


def without_signatures(case: Case, unknown: Callable[[Observation], bool]) -> Case:
    """`case` without the observations for which `unknown` is true, as if no signature matched them."""
    asked = case.question
    kept = [o for o in asked.owned if not unknown(o.observation)]
    return replace(case, question=DecisionInput(kept, asked.lanes, asked.machine, asked.host_log, asked.end))


def without_its_cause(case: Case) -> Case:
    """`case` with every observation of its labelled cause removed."""
    return without_signatures(case, lambda observation: observation.cause == case.right[0])
