"""Make a candidate of each cause with owned observations, with named features, which are the input of the ranker.

    process.worker_died:  Killed (strong, ends process), no line after it, explained by host_memory.oom_cgroup
    -> {"strong": 1, "explained": 1, "no trouble behind": 1, "fallback": 1, ...}

Observations of others make no candidate. The features come in groups: evidence, aftermath, ownership, order, graph, text. The
names are stored in the model file, so they are kept; what they mean is said beside them, and `forensics analyze --why` shows it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import log, log1p

from forensics.database import HEALTHY, Database
from forensics.model.verdicts import Candidate, OwnedObservation
from forensics.outcome.features import Rates, signature_rates
from forensics.outcome.tiers import ENDING_HINT, ENDING_PROOF, ENDING_STRONG, NOTICE, evidence_tier, what_ended

# name -> (group, the sign that its weight must have or 0 for any, what it measures; `it` is the candidate)
FEATURES: Mapping[str, tuple[str, int, str]] = {
    "proof": ("evidence", 1, "a line of weight proof shows it and an end: `Killed process 4711 (python)`"),
    "strong": ("evidence", 1, "a line of weight strong shows it and an end: `CUDA out of memory`"),
    "hint": ("evidence", 0, "a line of weight hint shows it and an end: `exit code 1`"),
    "notice only": ("evidence", -1, "only lines that by their nature end nothing support it: `retrying in 1 s`"),
    "notice proof": ("evidence", 0, "such a line of weight proof or strong supports it, too"),
    "kinds": ("evidence", 0, "ln(1 + different messages that support it)"),
    "rate": ("evidence", 1, "greatest log odds that a log with one of its signatures ended by this cause (rates.csv)"),
    "ends machine": ("evidence", 0, "one of its lines shows the end of a machine: a panic"),
    "ends job": ("evidence", 0, "one of its lines is a scheduler's or launcher's message about the end of a job"),
    "outlived": (
        "aftermath",
        -1,
        "ln(1 + lines by which the program continued longer after it than after any rival with strong evidence)",
    ),
    "earlier attempt": ("aftermath", -1, "ln(1 + attempts that began after it and not after a rival with strong evidence)"),
    "again": (
        "aftermath",
        0,
        "ln(1 + fewest lines after one of its lines that repeat earlier lines or show progress)",
    ),
    "handled": ("aftermath", -1, "all of its lines say that the program continues"),
    "mild": ("aftermath", 0, "all of its lines are warnings or lower"),
    "good behind": ("aftermath", 0, "a good end follows each of its lines"),
    "starts behind": ("aftermath", 0, "a further attempt began after each of its lines"),
    "behind": ("aftermath", 0, "ln(1 + lines after its last line)"),
    "no trouble behind": ("aftermath", 0, "no further error follows its last line"),
    "unknown owner": ("ownership", -1, "nothing but time or place links it to the subject"),
    "unknown seconds": ("ownership", 0, "for unknown owner: ln(1 + seconds between it and the end of the subject's log)"),
    "unknown against own": (
        "ownership",
        -1,
        "for unknown owner: the subject's own log shows another end, which is more than a lost peer",
    ),
    "stop behind": ("order", -1, "it is a stop from outside, first seen after the strong evidence of another candidate"),
    "explained": ("graph", -1, "a cause with strong evidence of an end explains it (`explains:`)"),
    "explained by hint": ("graph", -1, "a cause with weaker evidence explains it"),
    "explained later": ("graph", 0, "the cause that explains it is first seen after it"),
    "explains": ("graph", 0, "ln(1 + candidates that it explains)"),
    "fallback": ("graph", -1, "it only describes the end, and another candidate has strong evidence"),
    "fallback alone": ("graph", 0, "it only describes the end, and no other candidate has strong evidence"),
    "exception": ("graph", 0, "it is the general cause of uncaught exceptions, and another candidate has strong evidence"),
    "stop": ("graph", 0, "a person or program outside stopped it, and another candidate has strong evidence"),
    "text": ("text", 1, "ln of the probability that the words of the error lines give it"),
    "text first": ("text", 0, "by the words it is the most probable cause"),
    "no evidence": ("text", 0, "only words support it, no known message"),
    "exception by words": ("text", 0, "no cause has a known message, and it is the general cause of uncaught exceptions"),
    "exception beside others": (
        "text",
        0,
        "it is the general cause of uncaught exceptions without a known message, and other causes have one",
    ),
    "exception, behind others": ("text", 0, "the same: ln(1 + lines after the last line of those causes)"),
    "unlisted": ("unlisted", 0, "none of the candidates"),
    "unlisted weak": ("unlisted", 0, "none of the candidates, and none has strong evidence of an end"),
    "unlisted bare": ("unlisted", 0, "none of the candidates, and none has a known message"),
}
FEATURE_NAMES = tuple(FEATURES)
UNLISTED = ""
NEAREST_BY_WORDS = 3  # chosen by hand: candidates by words alone, if no message is known
MIN_TEXT_PROBABILITY = 1e-4  # keeps the logarithm finite; smaller probabilities mean the same


def candidates(owned: Sequence[OwnedObservation], text: Mapping[str, float], database: Database, rates: Rates) -> list[Candidate]:
    """Every cause with an observation of the subject's or of unknown owner, and the general cause of exceptions.

    If no cause has an observation: the most probable ones by words, and the general one. `text`: cause -> probability by the
    words. `rates`: signature -> log likelihood ratios. The last candidate is UNLISTED: a cause that is none of the others.
    """
    by_cause: dict[str, list[OwnedObservation]] = defaultdict(list)
    for o in owned:
        if o.owner != "others" and o.observation.cause not in (None, HEALTHY):
            by_cause[str(o.observation.cause)].append(o)
    tiers = {id(o): evidence_tier(o, database) for o in owned}
    case = _Case(by_cause, tiers, database)
    likely = sorted((c for c in text if c in database.causes and c != HEALTHY), key=lambda c: (-text[c], c))[:NEAREST_BY_WORDS]
    made = [
        Candidate(c, tuple(own), case.features(c, own, rates) | _text(c, text, likely)) for c, own in sorted(by_cause.items())
    ]
    general = [c for c, about in database.causes.items() if "exception" in about.traits]
    if made:
        bare = dict.fromkeys(FEATURE_NAMES, 0.0) | {
            "exception beside others": 1.0,
            "exception, behind others": min(c.features["behind"] for c in made),
        }
        made += [Candidate(c, (), bare | _text(c, text, likely)) for c in general if c not in by_cause]
    else:
        bare = dict.fromkeys(FEATURE_NAMES, 0.0) | {"no evidence": 1.0}
        made = [
            Candidate(c, (), bare | _text(c, text, likely) | {"exception by words": float(c in general)})
            for c in dict.fromkeys([*likely, *general])
        ]
    weak = not any(case.is_strong(c) for c in by_cause)
    none = dict.fromkeys(FEATURE_NAMES, 0.0) | {
        "unlisted": 1.0,
        "unlisted weak": float(weak),
        "unlisted bare": float(not by_cause),
    }
    explained = {c.cause: case.explainer(c.cause) if c.cause in by_cause else None for c in made}
    return [*(Candidate(c.cause, c.owned, c.features, 0.0, explained[c.cause]) for c in made), Candidate(UNLISTED, (), none)]


def _text(cause: str, text: Mapping[str, float], likely: Sequence[str]) -> dict[str, float]:
    return {"text": log(max(text.get(cause, 0.0), MIN_TEXT_PROBABILITY)), "text first": float(likely[:1] == [cause])}


class _Case:
    """The candidates of one case in relation to each other."""

    def __init__(self, by_cause: Mapping[str, Sequence[OwnedObservation]], tiers: Mapping[int, int], database: Database) -> None:
        self.by_cause, self.tiers, self.database = by_cause, tiers, database
        self.strong = {c for c, own in by_cause.items() if any(tiers[id(o)] <= ENDING_STRONG for o in own)}
        self.firsts = {c: self._first_places(own) for c, own in by_cause.items()}

    def is_strong(self, cause: str) -> bool:
        return cause in self.strong

    def _first_places(self, own: Sequence[OwnedObservation]) -> dict[str, int]:
        """Source -> line of the first observation of an end in it; of the first notice if no observation shows an end."""
        ending = [o for o in own if self.tiers[id(o)] < NOTICE] or list(own)
        places: dict[str, int] = {}
        for o in ending:
            places[o.observation.source] = min(o.observation.line, places.get(o.observation.source, o.observation.line))
        return places

    def explainer(self, cause: str) -> str | None:
        """The candidate that explains `cause`; one with strong evidence is preferred."""
        found = self._explainers(cause)
        return min(found, key=lambda r: (r not in self.strong, r), default=None)

    def _explainers(self, cause: str) -> list[str]:
        """The candidates that `cause` may be a consequence of.

        A stop from outside that is first seen after the end does not explain it. A candidate of unknown owner explains only
        causes that describe an end, or, if it is a fault of the machine, causes that are no error of the program. An error of the
        program explains nothing in later attempts.
        """
        found = [r for r in self.by_cause if r != cause and self.database.explains(r, cause)]
        found = [r for r in found if not (self.database.has_trait(r, "external_stop") and self._is_seen_later(r, cause))]
        found = [r for r in found if not (self.database.has_trait(r, "program_error") and self._is_of_earlier_attempt(r, cause))]
        return [r for r in found if self.is_own(r) or self._only_describes_an_end(cause) or self._may_cause(r, cause)]

    def is_own(self, cause: str) -> bool:
        """Is one of the subject's own observations evidence for it?"""
        return any(o.owner == "mine" for o in self.by_cause[cause])

    def _may_cause(self, fault: str, cause: str) -> bool:
        """Is `fault` a fault of the machine, which may affect every program on it, and `cause` no error of the program itself?"""
        return self.database.has_trait(fault, "machine_fault") and not self.database.has_trait(cause, "program_error")

    def _only_describes_an_end(self, cause: str) -> bool:
        """Does `cause` only describe an end, as a dead worker does? The program's own uncaught exception is more than that."""
        about = self.database.causes[cause]
        return about.fallback and "exception" not in about.traits

    def _is_seen_later(self, cause: str, other: str) -> bool:
        """Is `cause` first seen after `other`, in each source that has both?"""
        first, theirs = self.firsts[cause], self.firsts[other]
        shared = [s for s in first if s in theirs]
        return bool(shared) and all(first[s] > theirs[s] for s in shared)

    def _is_of_earlier_attempt(self, cause: str, other: str) -> bool:
        """Did a further attempt begin between all of `cause` and all of `other`, in the one source that has both?"""
        first, second = (self.by_cause[c] for c in (cause, other))
        one_source = len({o.observation.source for o in (*first, *second)}) == 1
        return one_source and min(o.aftermath.later_attempts for o in first) > max(o.aftermath.later_attempts for o in second)

    def features(self, cause: str, own: Sequence[OwnedObservation], rates: Rates) -> dict[str, float]:
        found = dict.fromkeys(FEATURE_NAMES, 0.0)
        tiers = [self.tiers[id(o)] for o in own]
        ending = [o for o, t in zip(own, tiers, strict=True) if t < NOTICE]
        live = ending or list(own)
        found["proof"] = float(ENDING_PROOF in tiers)
        found["strong"] = float(ENDING_STRONG in tiers)
        found["hint"] = float(ENDING_HINT in tiers)
        found["notice only"] = float(not ending)
        found["notice proof"] = float(any(o.observation.weight != "hint" for o, t in zip(own, tiers, strict=True) if t == NOTICE))
        found["kinds"] = log1p(len({o.observation.kind for o in own}))
        found["rate"] = max(signature_rates(o, rates)[1] for o in own)
        for what in ("machine", "job"):
            found[f"ends {what}"] = float(any(what_ended(o.observation, self.database) == what for o in ending))
        found["outlived"], found["earlier attempt"] = self._against_rivals(cause, live)
        found |= self._aftermath(live) | self._ownership(cause, live) | self._order(cause) | self._graph(cause)
        return found

    def _aftermath(self, live: Sequence[OwnedObservation]) -> dict[str, float]:
        after = [o.aftermath for o in live]
        last = min(after, key=lambda a: a.lines_after)
        return {
            "again": log1p(min(a.repeated + a.progress for a in after)),
            "handled": float(all(a.handled for a in after)),
            "mild": float(all(a.low_severity for a in after)),
            "good behind": float(all(a.good for a in after)),
            "starts behind": float(all(a.later_attempts for a in after)),
            "behind": log1p(last.lines_after),
            "no trouble behind": float(any(a.trouble == 0 for a in after)),
        }

    def _against_rivals(self, cause: str, live: Sequence[OwnedObservation]) -> tuple[float, float]:
        """How much longer the program continued after it than after any strong rival: ln(1 + lines), ln(1 + attempts)."""
        rivals = [
            o for c in self.strong - {cause} for o in self.by_cause[c] if self.tiers[id(o)] <= ENDING_STRONG and o.owner == "mine"
        ]
        lines = min((a.repeated + a.progress for a in (o.aftermath for o in live)), default=0)
        least = min((o.aftermath.repeated + o.aftermath.progress for o in rivals), default=lines)
        starts = min((o.aftermath.later_attempts for o in live), default=0)
        fewest = min((o.aftermath.later_attempts for o in rivals), default=starts)
        return log1p(max(0, lines - least)), log1p(max(0, starts - fewest))

    def _ownership(self, cause: str, live: Sequence[OwnedObservation]) -> dict[str, float]:
        if any(o.owner == "mine" for o in live):
            return {}
        gaps = [abs(o.seconds_before) for o in live if o.seconds_before is not None]
        own = [c for c in self.strong - {cause} if self.is_own(c) and not self._stopped_later(c)]
        own_end = any(not self._only_describes_an_end(c) and cause not in self._explainers(c) for c in own)
        return {
            "unknown owner": 1.0,
            "unknown seconds": log1p(min(gaps)) if gaps else 0.0,
            "unknown against own": float(own_end),
        }

    def _order(self, cause: str) -> dict[str, float]:
        return {"stop behind": float(self._stopped_later(cause))}

    def _stopped_later(self, cause: str) -> bool:
        """Is it a stop from outside, first seen after strong evidence of another cause? Then it cleaned up after the end."""
        stop = self.database.has_trait(cause, "external_stop")
        return stop and any(self._is_seen_later(cause, c) for c in self.strong - {cause})

    def _graph(self, cause: str) -> dict[str, float]:
        explainers = self._explainers(cause)
        strong = [r for r in explainers if r in self.strong]
        rivals = bool(self.strong - {cause})
        first = self.firsts[cause]
        later = [r for r in strong if any(s in first and line > first[s] for s, line in self.firsts[r].items())]
        about = self.database.causes[cause]
        return {
            "explained": float(bool(strong)),
            "explained by hint": float(bool(explainers) and not strong),
            "explained later": float(bool(later) and len(later) == len(strong)),
            "explains": log1p(sum(cause in self._explainers(c) for c in self.by_cause)),
            "fallback": float(about.fallback and rivals),
            "fallback alone": float(about.fallback and not rivals),
            "exception": float("exception" in about.traits and rivals),
            "stop": float("external_stop" in about.traits and rivals),
        }
