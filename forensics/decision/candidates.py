"""Make a candidate of each event, with named features, which are the input of the ranker.

    process.worker_died:  Killed (strong, ends process), no line after it, explained by host_memory.oom_cgroup
    -> {"strong": 1, "explained": 1, "behind": 0, "fallback": 1, ...}

An event is what observations of one cause tell together (events.py). Observations of others make no candidate. The features come
in groups: evidence, aftermath, ownership, order, graph, text. The names are stored in the model file, so they are kept; what they
mean is said in features.csv, and `forensics analyze --why` shows it.
"""

import csv
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from functools import cached_property
from math import log, log1p
from pathlib import Path

from msgspec.structs import replace

from forensics.database import HEALTHY, Database
from forensics.decision.events import Names, events_of, name_others, names_of
from forensics.decision.last_word import is_of_earlier_attempt
from forensics.model import Observation
from forensics.model.verdicts import Candidate, OwnedObservation
from forensics.outcome.features import Rates, signature_rates
from forensics.outcome.tiers import ENDING_HINT, ENDING_PROOF, ENDING_STRONG, NOTICE, evidence_tier, what_ended

with Path(__file__).with_name("features.csv").open(encoding="utf-8", newline="") as table:
    # name -> (group, the sign that its weight must have or 0 for any, what it measures; `it` is the candidate)
    FEATURES = {row["feature"]: (row["group"], int(row["sign"]), row["measures"]) for row in csv.DictReader(table)}
FEATURE_NAMES = tuple(FEATURES)
UNLISTED = ""
OWN_KINDS = ("job", "notebook")  # of the lanes that a program itself writes
NEAREST_BY_WORDS = 3  # chosen by hand: candidates by words alone, if no message is known
DOINGS_OF_THE_PROGRAM = (  # what a rank does instead of meeting the others, where no fault of a machine makes it do so
    *("raised", "lock", "hook", "barrier", "left_out"),
    *("other_call", "other_shape", "other_order", "other_batches"),
)
MAX_DELAY_S = 10.0  # chosen by hand: within which a service manager reports a kill
MIN_TEXT_PROBABILITY = 1e-4  # keeps the logarithm finite; smaller probabilities mean the same


def candidates(owned: Sequence[OwnedObservation], text: Mapping[str, float], database: Database, rates: Rates) -> list[Candidate]:
    """Every event of the subject's or of unknown owner, and the general cause of exceptions.

    If there is none: the most probable causes by words, and the general one. `text`: cause -> probability by the words. `rates`:
    signature -> log likelihood ratios. The last candidate is UNLISTED: a cause that is none of the others.
    """
    case = _Case(owned, database)
    made = [Candidate(e.cause, e.owned, case.features(e, rates), 0.0, case.explainer(e)) for e in case.events]
    return with_words(made, bool(case.strong), text, database.causes, database.traits["exception"])


def with_words(
    events: Sequence[Candidate], strong: bool, text: Mapping[str, float], known: Container[str], general: Sequence[str]
) -> list[Candidate]:
    """All candidates, of which `events` are without the features of the group `text`.

    `strong`: has one of them strong evidence of an end? `text`: as in `candidates`. `known`: the causes of the database;
    `general`: the general ones of uncaught exceptions.
    """
    likely = sorted((c for c in text if c in known and c != HEALTHY), key=lambda c: (-text[c], c))[:NEAREST_BY_WORDS]
    unlearned = text[likely[0]] if likely else 0.0  # of a taught cause, of which no words were learned: they speak no less for it
    made = [replace(e, features={**e.features, **_text(e.cause, text, likely, unlearned)}) for e in events]
    seen = {e.cause for e in events}
    if made:
        bare = dict.fromkeys(FEATURE_NAMES, 0.0) | {
            "exception beside others": 1.0,
            "exception, behind others": min(c.features["behind"] for c in made),
        }
        made += [Candidate(c, (), bare | _text(c, text, likely)) for c in general if c not in seen]
    else:
        bare = dict.fromkeys(FEATURE_NAMES, 0.0) | {"no evidence": 1.0}
        made = [
            Candidate(c, (), bare | _text(c, text, likely) | {"exception by words": float(c in general)})
            for c in dict.fromkeys([*likely, *general])
        ]
    none = dict.fromkeys(FEATURE_NAMES, 0.0) | {
        "unlisted": 1.0,
        "unlisted weak": float(not strong),
        "unlisted bare": float(not seen),
    }
    return [*made, Candidate(UNLISTED, (), none)]


def _text(cause: str, text: Mapping[str, float], likely: Sequence[str], unlearned: float = 0.0) -> dict[str, float]:
    return {"text": log(max(text.get(cause, unlearned), MIN_TEXT_PROBABILITY)), "text first": float(likely[:1] == [cause])}


class _Event:
    """One event. `ending`: its tellings that show an end. `live`: these, or all if there are none. `firsts`: source -> first
    line."""

    def __init__(self, cause: str, owned: Sequence[OwnedObservation], tiers: Mapping[int, int]) -> None:
        self.cause, self.owned = cause, tuple(owned)
        self.tiers = [tiers[id(o)] for o in owned]
        self.ending = [o for o in owned if tiers[id(o)] < NOTICE]
        self.live = self.ending or list(owned)
        self.is_strong = min(self.tiers) <= ENDING_STRONG
        self.is_own = any(o.owner == "mine" for o in owned)
        self.firsts: dict[str, int] = {}
        for o in (x.observation for x in self.live):
            self.firsts[o.source] = min(o.line, self.firsts.get(o.source, o.line))

    @property
    def is_of_program(self) -> bool:
        """Does it tell what a rank does that keeps the others waiting, and is that of the program's own doing?"""
        return any(o.observation.fields.get("culprit_kind") in DOINGS_OF_THE_PROGRAM for o in self.owned)

    @cached_property
    def names(self) -> Names:
        """What its tellings name, read once for all events that it may have to do with."""
        return names_of(self.owned)


def _is_proven_kill(o: Observation, database: Database) -> bool:
    return o.weight == "proof" and "pid" in o.fields and database.has_trait(o.cause, "memory_kill")


def _told_cause(o: Observation, kills: Sequence[Observation], database: Database) -> str:
    """Its cause; where its message shows less than that, the cause of the kill at that time which a proof tells."""
    cause = database.causes[str(o.cause)]
    if not database.has_trait(cause.id, "memory_kill") or cause.title_of(o.kind) == cause.title:
        return cause.id
    near = [k for k in kills if o.time is None or k.time is None or abs((k.time - o.time).total_seconds()) <= MAX_DELAY_S]
    return str(near[-1].cause) if near else cause.id


class _Case:
    """The events of one case in relation to each other."""

    def __init__(self, owned: Sequence[OwnedObservation], database: Database) -> None:
        self.database = database
        by_cause: dict[str, list[OwnedObservation]] = defaultdict(list)
        able = [o for o in owned if o.owner != "others" and o.observation.cause not in (None, HEALTHY)]
        kills = [o.observation for o in able if _is_proven_kill(o.observation, database)]
        for o in able:
            by_cause[_told_cause(o.observation, kills, database)].append(o)
        tiers = {id(o): evidence_tier(o, database) for own in by_cause.values() for o in own}
        self.tiers = tiers
        self.events = [_Event(c, e, tiers) for c, own in sorted(by_cause.items()) for e in events_of(own, tiers, database)]
        self.strong = [e for e in self.events if e.is_strong]
        self.explainers = {id(e): self._explainers(e) for e in self.events}

    def explainer(self, event: _Event) -> str | None:
        """The cause of the event that explains `event`; one with strong evidence is preferred."""
        found = self.explainers[id(event)]
        return min(((not r.is_strong, r.cause) for r in found), default=(False, None))[1]

    def _explainers(self, event: _Event) -> list[_Event]:
        """The events that `event` may be a consequence of.

        A stop from outside that is first seen after the end does not explain it. One of unknown owner explains only causes that
        describe an end, or, if it is a fault of the machine, causes that are no error of the program; it explains nothing that a
        rank does of the program's own doing. An error of the program explains nothing in later attempts. What names another
        job, container or device explains only that a peer was waited for.
        """
        has = self.database.has_trait
        found = [r for r in self.events if r.cause != event.cause and self.database.explains(r.cause, event.cause)]
        found = [r for r in found if not (has(r.cause, "external_stop") and self._is_seen_later(r, event))]
        found = [r for r in found if not (has(r.cause, "program_error") and is_of_earlier_attempt(r.owned, event.owned))]
        if not has(event.cause, "waits_for_peer"):
            found = [r for r in found if not name_others(r.names, event.names)]
        if event.is_of_program:
            return [r for r in found if r.is_own]
        return [r for r in found if r.is_own or self._only_describes_an_end(event.cause) or self._may_cause(r, event)]

    def _may_cause(self, fault: _Event, event: _Event) -> bool:
        """Is `fault` a fault of the machine, which may affect every program on it, and `event` no error of the program itself?"""
        has = self.database.has_trait
        return has(fault.cause, "machine_fault") and not has(event.cause, "program_error")

    def _only_describes_an_end(self, cause: str) -> bool:
        """Does `cause` only describe an end, as a dead worker does? The program's own uncaught exception is more than that."""
        about = self.database.causes[cause]
        return about.fallback and "exception" not in about.traits

    def _is_seen_later(self, event: _Event, other: _Event) -> bool:
        """Is `event` first seen after `other`, in each source that has both?"""
        shared = [s for s in event.firsts if s in other.firsts]
        return bool(shared) and all(event.firsts[s] > other.firsts[s] for s in shared)

    def features(self, event: _Event, rates: Rates) -> dict[str, float]:
        found = dict.fromkeys(FEATURE_NAMES, 0.0)
        own, tiers = event.owned, event.tiers
        found["proof"] = float(ENDING_PROOF in tiers)
        found["strong"] = float(ENDING_STRONG in tiers)
        found["hint"] = float(ENDING_HINT in tiers)
        found["notice proof"] = float(any(o.observation.weight != "hint" for o, t in zip(own, tiers, strict=True) if t == NOTICE))
        found["rate"] = max(signature_rates(o, rates)[1] for o in own)
        found["ends job"] = float(any(what_ended(o.observation, self.database) == "job" for o in event.ending))
        found["behind"] = log1p(min(o.aftermath.lines_after for o in event.live))
        found["no trouble behind"] = float(any(not o.aftermath.trouble for o in event.live))
        found["outlived"], found["earlier attempt"] = self._against_rivals(event)
        return found | self._ownership(event) | self._order(event) | self._graph(event)

    def _against_rivals(self, event: _Event) -> tuple[float, float]:
        """How much longer the program continued after it than after any strong rival: ln(1 + lines), ln(1 + attempts)."""
        rivals = [
            o.aftermath
            for e in self.strong
            if e is not event
            for o in e.owned
            if self.tiers[id(o)] <= ENDING_STRONG and o.owner == "mine"
        ]
        own = [o.aftermath for o in event.live]
        lines = min((a.repeated + a.progress for a in own), default=0)
        least = min((a.repeated + a.progress for a in rivals), default=lines)
        starts = min((a.later_attempts for a in own), default=0)
        fewest = min((a.later_attempts for a in rivals), default=starts)
        return log1p(max(0, lines - least)), log1p(max(0, starts - fewest))

    def _ownership(self, event: _Event) -> dict[str, float]:
        found = {"named": float(any(o.named and (o.lane is None or o.lane.kind not in OWN_KINDS) for o in event.owned))}
        if any(o.owner == "mine" for o in event.live):
            return found
        own = [e for e in self.strong if e.cause != event.cause and e.is_own and not self._stopped_later(e)]
        own = [e for e in own if e.is_of_program or not self._only_describes_an_end(e.cause)]
        own_end = any(event not in self.explainers[id(e)] for e in own)
        return found | {"unknown against own": float(own_end)}

    def _order(self, event: _Event) -> dict[str, float]:
        alike = [e for e in self.events if e.cause == event.cause and e is not event and e.ending]
        others = [e for e in self.strong if e.cause != event.cause]
        return {
            "of cause behind": log1p(sum(self._is_seen_later(e, event) for e in alike)),
            "of cause before": log1p(sum(self._is_seen_later(event, e) for e in alike)),
            "ends behind": log1p(sum(self._is_seen_later(e, event) for e in others)),
            "ends before": log1p(sum(self._is_seen_later(event, e) for e in others)),
        }

    def _stopped_later(self, event: _Event) -> bool:
        """Is it a stop from outside, first seen after strong evidence of another cause? Then it cleaned up after the end."""
        stop = self.database.has_trait(event.cause, "external_stop")
        return stop and any(self._is_seen_later(event, e) for e in self.strong if e.cause != event.cause)

    def _graph(self, event: _Event) -> dict[str, float]:
        explainers = self.explainers[id(event)]
        is_explained = any(r.is_strong for r in explainers)
        rivals = any(e.cause != event.cause for e in self.strong)
        about = self.database.causes[event.cause]
        return {
            "explained": float(is_explained),
            "explained by hint": float(bool(explainers) and not is_explained),
            "explains": log1p(len({e.cause for e in self.events if event in self.explainers[id(e)]})),
            "fallback": float(about.fallback and rivals),
            "exception": float("exception" in about.traits and rivals),
        }
