"""The facts about a subject's end as named numbers: the input of the model that says whether it ended badly.

    train.log: 4,000 lines, a traceback 3 lines before the end, after it no earlier template is repeated
    -> strong.count 0.69, strong.behind 1.1, strong.again 0, lane.traceback 1.4, lane.good -1, ...

Counts and distances are in lines, as ln(1 + n); -1 means that there is no such line. Groups of features: `proof`, `strong`,
`hint`, `notice` (the subject's observations, by how strongly they show an end, see tiers.py), `trait` (of the causes that they
name), `lane` (the digest of the lane that ends worst), `setting` (what kind of logs these are), `ending` (see ending_words.py).
The names are stored in the model file, so they are kept even where a field of the values has a better name today.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import log1p

from msgspec.structs import astuple

from forensics.database import HEALTHY, Database
from forensics.database.rates import prior_rate
from forensics.model.verdicts import Lane, LaneDigest, OwnedObservation
from forensics.outcome.ending_words import EndingModel, ending_rows
from forensics.outcome.own_lanes import OwnLanes
from forensics.outcome.tiers import NOTICE, TIER_NAMES, evidence_tier, what_ended

ABSENT = -1.0  # below every real value, so that one split of a tree separates them
MAX_LINES_AFTER_GOOD_END = 10  # a program that has finished prints only a few more lines
Rates = Mapping[str, tuple[float, float]]  # signature -> the two log odds of signature_rates
OF_TIER = {
    "count": "how many different observations",
    "behind": "lines after the last of them, in its lane",
    "again": "lines after the last of them whose template also occurred before it",
    "least again": "the smallest such number of any of them: 0 if nothing shows that the program continued",
    "progress": "lines of progress after the last of them",
    "good": "lines of a good end after the last of them",
    "trouble": "further lines of trouble after the last of them",
    "handled": "share of them whose own line, or a line next to it, says that the program continues",
    "mild": "share of them whose own record is a warning or lower",
    "starts": "attempts that began after the last of them",
    "repeats": "how often the most frequent one occurs",
    "rate": "greatest log odds that a log with one of them ended badly (signatures/rates.csv)",
}
TRAITS: tuple[str, ...] = (
    *("exception", "process_death", "program_error", "machine_fault", "external_stop", "waits_for_peer"),
    *("worthless_result", "kernel_fault", "memory_kill", "stalls"),
)
OF_LANE: tuple[str, ...] = (
    *("lines", "trouble", "traceback", "good", "progress", "start", "trouble_count", "traceback_count"),
    *("good_count", "progress_count"),
    *("again_after_trouble", "again_after_traceback", "bad_end", "bad_end_count", "again_after_bad_end", "frame", "run_failed"),
    *("run_failed_count", "again_after_run_failed", "trouble_repeats", "bad_end_repeats", "attempts_behind_trouble"),
    *("attempts_behind_bad_end", "traceback_in_record", "trouble_in_record", "records_at_end"),
)
# Names of features that differ from the field of LaneDigest that they are read from.
DIGEST_FIELDS = {f"attempts_behind_{name}": f"attempts_after_{name}" for name in ("trouble", "bad_end")}
BEFORE_GOOD_END = ("run_failed", "bad_end", "trouble")
ENDS_WITH = tuple(f"{what} in last {n}" for what in ("trouble", "good", "progress", "bad end") for n in (1, 3, 10, 50))
KINDS = ("job", "notebook", "kernel", "scheduler", "runtime", "service")
HEALTHY_FEATURES = ("healthy.told", "healthy.behind", "healthy.trouble behind")
UNKNOWN_FEATURES = ("unknown.count", "unknown.least seconds before", "unknown.most severe")
SETTING = ("setting.machine", "setting.host log beside", "setting.own lanes", "setting.attempts", "setting.lines per lane")

ENDING = "ending.words"  # log odds by the last words, see EndingModel
OTHER_LANES_FEATURES = ("lanes.best good", "lanes.best progress", "lanes.with traceback", "lanes.own end good")

OUTCOME_FEATURES: tuple[str, ...] = (
    *(f"{t}.{n}" for t in TIER_NAMES for n in OF_TIER),
    *(f"trait.{t}" for t in TRAITS),
    "ends.machine",
    "ends.job",
    *HEALTHY_FEATURES,
    *UNKNOWN_FEATURES,
    *(f"lane.{n}" for n in OF_LANE),
    *(f"lane.{n}" for n in ENDS_WITH),
    *(f"lane.good end behind {n}" for n in BEFORE_GOOD_END),
    *(f"lane.is {k}" for k in KINDS),
    *SETTING,
    *OTHER_LANES_FEATURES,
    ENDING,
)


def features(
    owned: Sequence[OwnedObservation],
    lanes: Sequence[Lane],
    machine: bool,
    host_log: bool,
    database: Database,
    ending: EndingModel,
    rates: Rates | None = None,
) -> list[float]:
    """The values of OUTCOME_FEATURES, in their order.

    `lanes`: the subject's own. `machine`: the subject is a machine. `host_log`: a log of its host was given, too. `ending`: the
    learned model of the last words. `rates`: of the signatures; those of the database by default.
    """
    rates, owned = database.rates if rates is None else rates, [o for o in owned if not o.observation.reads_another]
    own = [o for o in owned if o.owner == "mine" and o.observation.cause != HEALTHY]
    tiers = {id(o): evidence_tier(o, database) for o in owned}
    found: dict[str, float] = {}
    for number, name in enumerate(TIER_NAMES):
        found |= {f"{name}.{k}": v for k, v in _of_tier([o for o in own if tiers[id(o)] == number], rates).items()}
    ending_evidence = [o for o in own if tiers[id(o)] < TIER_NAMES.index("hint")]
    lanes = _of_decisive_sources(OwnLanes.of(lanes), ending_evidence)
    worst = lanes.worst
    found[ENDING] = ending.log_odds(ending_rows(worst))
    for trait in TRAITS:
        shown = own if trait == "worthless_result" else ending_evidence  # its signatures are hints at most
        found[f"trait.{trait}"] = float(any(database.has_trait(o.observation.cause, trait) for o in shown))
    for what in ("machine", "job"):
        found[f"ends.{what}"] = float(any(what_ended(o.observation, database) == what for o in ending_evidence))
    found |= _healthy([o for o in owned if o.observation.cause == HEALTHY and o.owner == "mine"])
    well = ended_well(lanes, ending_evidence, owned)
    unowned = [] if well else [o for o in owned if o.owner == "unknown" and tiers[id(o)] < NOTICE]
    found |= _unknown(unowned, tiers)
    found |= _others(lanes, well)
    found |= _of_lane(worst.digest if worst else None)
    found |= {f"lane.is {k}": float(worst is not None and worst.kind == k) for k in KINDS}
    found["setting.machine"], found["setting.host log beside"] = float(machine), float(host_log)
    found["setting.own lanes"] = log1p(len(lanes))
    found["setting.attempts"] = log1p(max((len(lane.attempts) for lane in lanes.told), default=min(1, len(lanes))))
    found["setting.lines per lane"] = log1p(sum(d.lines * count for d, count in lanes.digests.items()) / max(1, len(lanes)))
    return [found[name] for name in OUTCOME_FEATURES]


def decisive_lane(owned: Sequence[OwnedObservation], lanes: Sequence[Lane], database: Database) -> Lane | None:
    """The lane that shows how the subject ended: the worst one of the sources with evidence of an end."""
    own = (o for o in owned if o.owner == "mine" and o.observation.cause != HEALTHY)
    ending = [o for o in own if evidence_tier(o, database) < TIER_NAMES.index("hint")]
    return _of_decisive_sources(OwnLanes.of(lanes), ending).worst


def _of_decisive_sources(lanes: OwnLanes, ending: Sequence[OwnedObservation]) -> OwnLanes:
    """The lanes of the sources with evidence of an end; all lanes where no source has any. Other logs do not show this end."""
    decisive = lanes.failed_sources.union(o.observation.source for o in ending)
    return (lanes.in_sources(decisive) if decisive else None) or lanes


def _of_tier(found: Sequence[OwnedObservation], rates: Rates) -> Mapping[str, float]:
    if not found:
        return dict.fromkeys(OF_TIER, ABSENT) | {"count": 0.0, "handled": 0.0, "mild": 0.0, "repeats": 0.0}
    last = min(found, key=lambda o: o.aftermath.lines_after)
    after = last.aftermath
    return {
        "count": log1p(len({(o.observation.kind, o.observation.source) for o in found})),
        "behind": log1p(after.lines_after),
        "again": log1p(after.repeated),
        "least again": log1p(min(o.aftermath.repeated + o.aftermath.progress for o in found)),
        "progress": log1p(after.progress),
        "good": log1p(after.good),
        "trouble": log1p(after.trouble),
        "handled": sum(o.aftermath.handled for o in found) / len(found),
        "mild": sum(o.aftermath.low_severity for o in found) / len(found),
        "starts": log1p(after.later_attempts),
        "repeats": log1p(max(o.observation.count for o in found)),
        "rate": max(signature_rates(o, rates)[0] for o in found),
    }


def is_terminal_by_nature(owned: Sequence[OwnedObservation], lanes: Sequence[Lane], machine: bool, database: Database) -> bool:
    """Did the kernel itself fail, or did it kill the subject for memory? Either ended it, whatever other lanes show.

    For a job, only a kill counts that a number or a name links to it, and only if its own log does not show a good end.
    """
    traits = ("kernel_fault", "memory_kill") if machine else ("memory_kill",)
    ending = [o for o in owned if o.owner == "mine" and evidence_tier(o, database) < TIER_NAMES.index("hint")]
    terminal = [o for o in ending if machine or (o.lane is not None and o.lane.kind == "kernel")]
    fatal = any(database.has_trait(o.observation.cause, trait) for o in terminal for trait in traits)
    return fatal and (machine or not ended_well(lanes, ending, owned))


def is_silent(owned: Iterable[OwnedObservation], lanes: Sequence[Lane]) -> bool:
    """Is there no sign of trouble: no observation, not even a notice, and no line with an error word?

    Words are no sign in a kernel's log: drivers print errors all day, and only messages of a known cause show an end.
    """
    observed = [o.observation for o in owned if o.owner != "others" and not o.observation.reads_another]
    if OwnLanes.of(lanes).kinds == {"kernel"}:
        return not any(o.cause not in (None, HEALTHY) for o in observed)
    troubled = any(digest.trouble_count or digest.traceback_count for digest in OwnLanes.of(lanes).digests)
    return not troubled and all(o.cause == HEALTHY for o in observed)


def signature_rates(o: OwnedObservation, rates: Rates) -> tuple[float, float]:
    """Two log odds for a log in which this signature occurs: that it ended badly, and that it ended by the signature's cause."""
    measured = rates.get(o.observation.kind)
    return measured or astuple(prior_rate(o.observation.weight))


def _healthy(observed: Sequence[OwnedObservation]) -> Mapping[str, float]:
    sure = [o for o in observed if o.observation.weight != "hint"]
    if not sure:
        return dict(zip(HEALTHY_FEATURES, (0.0, ABSENT, ABSENT), strict=True))
    last = min(sure, key=lambda o: o.aftermath.lines_after)
    weight = 2.0 if any(o.observation.weight == "proof" for o in sure) else 1.0
    return dict(zip(HEALTHY_FEATURES, (weight, log1p(last.aftermath.lines_after), log1p(last.aftermath.trouble)), strict=True))


def ended_well(lanes: Sequence[Lane], ending: Sequence[OwnedObservation], owned: Sequence[OwnedObservation]) -> bool:
    """Do the subject's own lanes show a good end? Then an event that only time links to the subject did not end it."""
    good_ends = [o for o in owned if o.observation.cause == HEALTHY and o.owner == "mine" and o.observation.weight != "hint"]
    good = any(0 <= digest.good <= MAX_LINES_AFTER_GOOD_END for digest in OwnLanes.of(lanes).digests)
    later = [o for o in ending if o.aftermath.good == 0 and o.aftermath.later_attempts == 0]
    return not later and (good or any(o.aftermath.lines_after <= MAX_LINES_AFTER_GOOD_END for o in good_ends))


def _others(lanes: OwnLanes, well: bool) -> Mapping[str, float]:
    good = [digest.good for digest in lanes.digests if digest.good >= 0]
    progress = [digest.progress for digest in lanes.digests if digest.progress >= 0]
    traced = sum(count for digest, count in lanes.digests.items() if digest.traceback >= 0)
    numbers = (
        log1p(min(good)) if good else ABSENT,
        log1p(min(progress)) if progress else ABSENT,
        traced / len(lanes) if lanes else 0.0,
        float(well),
    )
    return dict(zip(OTHER_LANES_FEATURES, numbers, strict=True))


def _unknown(found: Sequence[OwnedObservation], tiers: Mapping[int, int]) -> Mapping[str, float]:
    if not found:
        return dict(zip(UNKNOWN_FEATURES, (0.0, ABSENT, ABSENT), strict=True))
    gaps = [abs(o.seconds_before) for o in found if o.seconds_before is not None]
    severe = float(NOTICE - min(tiers[id(o)] for o in found))
    return dict(zip(UNKNOWN_FEATURES, (log1p(len(found)), log1p(min(gaps)) if gaps else ABSENT, severe), strict=True))


def _of_lane(digest: LaneDigest | None) -> Mapping[str, float]:
    if digest is None:
        return {f"lane.{n}": ABSENT for n in (*OF_LANE, *ENDS_WITH, *(f"good end behind {x}" for x in BEFORE_GOOD_END))}
    numbers = {n: getattr(digest, DIGEST_FIELDS.get(n, n)) for n in OF_LANE}
    found = {f"lane.{n}": ABSENT if v < 0 else log1p(v) for n, v in numbers.items()}
    found |= {f"lane.good end behind {n}": float(0 <= digest.good < getattr(digest, n)) for n in BEFORE_GOOD_END}
    return found | {f"lane.{n}": v for n, v in zip(ENDS_WITH, digest.ends_with, strict=True)}
