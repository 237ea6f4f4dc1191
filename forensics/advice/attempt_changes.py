"""The differences between an earlier attempt of a run and the last, by the facts that each prints about itself.

    Namespace(batch_size=64, lr=0.1) ... Epoch 3 ... Namespace(batch_size=32, lr=0.1) ... Epoch 7
    -> Change("--batch-size", "64", "32", 1, 90), Change("reached", "epoch 3", "epoch 7", 80, 170); the same: --lr 0.1

Only values that both attempts print are compared.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from forensics.core import lazy
from forensics.core.text import format_size
from forensics.model import EarlierAttempt, Finding, Habit
from forensics.model.answers import Change
from forensics.readers.settings.attempts import REACHED, SPEED, AttemptFacts, Said

NUMBER = lazy.regex(r"\d+(?:\.\d+)?")
COMPARED_FACTS = {"limit_bytes": "memory limit", "gpu": "GPU", "node": "node", "host": "node", "device": "device"}  # of evidence
SPEED_RATIO = 1.2  # chosen by hand: the pace of one program on one machine varies by less from run to run
FIRST = (SPEED, "job", "node", "GPU", "visible GPUs", "processes", "memory limit", "batch size", "commit")

AllSaid = Mapping[str, tuple[Said, ...]]  # name -> values with their lines


def settings_of_last_attempt(run: Iterable[Habit], known: Mapping[str, Sequence[AttemptFacts]]) -> tuple[Habit, ...]:
    """The settings of `run` that no later attempt of the same log sets again. `known`: facts of the attempts by source."""
    placed = [(r, bisect_right([a.first_line for a in known.get(r.source, ())], r.line)) for r in run]
    last: dict[tuple[str, str], int] = {}
    for remark, attempt in placed:
        last[remark.source, remark.kind] = max(attempt, last.get((remark.source, remark.kind), 0))
    return tuple(remark for remark, attempt in placed if attempt == last[remark.source, remark.kind])


def with_changes(
    attempts: tuple[EarlierAttempt, ...], known: Mapping[str, Sequence[AttemptFacts]], first: Finding
) -> tuple[EarlierAttempt, ...]:
    """`attempts`, each with what changed until the attempt that the report is about. `known`: by source."""
    by_place = {(name, a.first_line): a for name, found in known.items() for a in found}
    about = next((p.source for p in first.evidence if p.source in known), attempts[-1].source if attempts else "")
    lines = [p.line for p in first.evidence if p.source == about]
    shown = [a for a in known.get(about, ()) if not lines or a.first_line <= max(lines)]
    last = max(shown, key=lambda a: a.first_line, default=None)
    return tuple(_with_changes(a, by_place.get((a.source, a.first_line)), last, first) for a in attempts)


def _with_changes(attempt: EarlierAttempt, own: AttemptFacts | None, last: AttemptFacts | None, first: Finding) -> EarlierAttempt:
    said = _with_evidence(own.said if own else {}, attempt.facts, attempt.line)
    now = _with_evidence(last.said if last else {}, first.facts, first.evidence[0].line if first.evidence else 0)
    changes, same = _compared(said, now)
    return replace(attempt, same_cause=_is_same(attempt, first), changes=changes, unchanged=same)


def changes_between(good: Iterable[Sequence[AttemptFacts]], bad: Iterable[Sequence[AttemptFacts]]) -> tuple[Change, ...]:
    """What the run `bad` says of itself otherwise than the run `good`. Of each source of a run the last attempt counts, with what
    one before it said and it does not say again."""
    return _compared(_last_said(good), _last_said(bad))[0]


def _last_said(run: Iterable[Sequence[AttemptFacts]]) -> dict[str, tuple[Said, ...]]:
    said: dict[str, tuple[Said, ...]] = {}
    for attempts in run:
        for attempt in reversed(attempts):
            for name, values in attempt.said.items():
                if attempt is attempts[-1] or name not in (REACHED, SPEED):
                    said.setdefault(name, values)
    return said


def _compared(then: AllSaid, now: AllSaid) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    """The values that differ, and those that stay, of the names that both have."""
    changes: list[Change] = []
    same: list[str] = []
    for name in sorted(then.keys() & now.keys(), key=_worth):
        old, new = dict(then[name]), dict(now[name])
        if old.keys() <= new.keys() or new.keys() <= old.keys() or (name == SPEED and _is_near(*old, *new)):
            same.append(f"{name} {', '.join(k for k in old if k in new)}")
        else:
            changes.append(Change(name, ", ".join(old), ", ".join(new), min(old.values()), min(new.values())))
    return tuple(changes), tuple(same)


def _is_near(one: str, other: str) -> bool:
    a, b = (float(NUMBER.findall(text)[0]) for text in (one, other))
    return max(a, b) < SPEED_RATIO * min(a, b)


def _is_same(attempt: EarlierAttempt, first: Finding) -> bool:
    """Did it end by the cause that is told, and, if both are exceptions, with the same message but for its numbers?"""
    messages = [NUMBER.sub("0", str(f["exc_message"])) for f in (attempt.facts, first.facts) if "exc_message" in f]
    return attempt.cause == first.id and len(set(messages)) < 2


def _with_evidence(said: AllSaid, facts: Mapping[str, object], line: int) -> AllSaid:
    """`said`, with facts of the evidence added."""
    more: dict[str, tuple[Said, ...]] = {}
    for key, name in COMPARED_FACTS.items():
        value = facts.get(key)
        if value is not None and name not in said:
            more[name] = ((format_size(value) if key.endswith("_bytes") and isinstance(value, int) else str(value), line),)
    return {**said, **more}


def _worth(name: str) -> tuple[bool, int, bool, str]:
    """The sort key: how far it came first, then resources, then versions, then arguments by name."""
    return name != REACHED, FIRST.index(name) if name in FIRST else len(FIRST), name.startswith("--"), name
