"""Decide one incident of a subject: did it end badly, and which cause is the root. The result is a Diagnosis.

The probability of a cause is P(it ended badly) x P(this cause | it ended badly); neither factor can replace the other.

    crash         it ended badly, and a cause with evidence reaches 0.5
    undetermined  it ended badly, and no cause is proven
    no_crash      nothing ended badly in what was given
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import exp, log

from msgspec.structs import replace

from forensics.database import HEALTHY, Database
from forensics.decision import structure, unlinked
from forensics.decision.candidates import FEATURE_NAMES, UNLISTED, candidates
from forensics.decision.ledger import AGAINST_ALL, BAD_END, NO_BAD_END, moved, probability_of, rows_of, total, with_rule
from forensics.decision.model import Model
from forensics.decision.text import trouble_text, trouble_words
from forensics.model import Adjustment, Notice, Verdict
from forensics.model.verdicts import (
    ONE_OF_SEVERAL,
    Aftermath,
    Candidate,
    Diagnosis,
    Lane,
    LaneDigest,
    Outcome,
    OutcomeState,
    OwnedObservation,
)
from forensics.outcome import features as outcome_features
from forensics.outcome import recorded_status
from forensics.outcome.ending_words import EndingModel, ending_rows
from forensics.outcome.own_lanes import OwnLanes
from forensics.outcome.recorded_status import RecordedStatus
from forensics.outcome.tiers import ENDING_STRONG, NOTICE, TIER_OF_WEIGHT, evidence_tier, what_ended
from forensics.outcome.trees import MAX_SILENT_LOG_ODDS, MAX_SILENT_PROBABILITY
from forensics.readers.lanes.line_classes import exit_status, own_status

ENDED_BADLY = 0.5  # the more probable of two answers is given
MAX_CAUSES = 8  # chosen by hand: probabilities add up to one, so little is left for further causes
MAX_NOTICES = 40  # chosen by hand: true facts that ended nothing; nobody reads more of them
MIN_LISTED_PROBABILITY = 0.03  # a report shows such a cause after the first one
NEAR_END_LINES = 50  # after a good end a program may still print how it shuts down
MIN_REPEATED_SIGNS = 3  # of one observation: a traceback shows the line of code and the message, which are two


class DecisionInput:
    """The input of a decision about one subject.

    `owned`: the observations with their owners. `lanes`: the subject's own. `machine`: the subject is a machine. `host_log`: a
    log of its host was given. `end`: the recorded exit status of its command, if there is one.
    """

    def __init__(
        self,
        owned: Sequence[OwnedObservation],
        lanes: Sequence[Lane],
        machine: bool,
        host_log: bool,
        end: RecordedStatus | None = None,
    ) -> None:
        self.owned, self.lanes, self.machine, self.host_log = tuple(owned), OwnLanes.of(lanes), machine, host_log
        self.end = end

    def features_of_outcome(
        self, database: Database, ending: EndingModel, rates: outcome_features.Rates | None = None
    ) -> list[float]:
        """The features for the model of the outcome. `ending`: the model of the last words. `rates`: instead of the
        database's."""
        return outcome_features.features(self.owned, self.lanes, self.machine, self.host_log, database, ending, rates)

    def ending_rows(self, database: Database) -> tuple[int, ...]:
        """The hashed words that the subject's log ends with, see EndingModel."""
        return ending_rows(outcome_features.decisive_lane(self.owned, self.lanes, database))

    def exit_status(self, database: Database) -> int | None:
        """The exit status that the last lines of the subject's log record, see outcome/exit_line.py."""
        return exit_status(outcome_features.decisive_lane(self.owned, self.lanes, database))

    def words(self) -> set[str]:
        """The words of its lines of trouble, see trouble_words."""
        return trouble_words(trouble_text(self.owned, self.lanes.told))


def decide(
    given: DecisionInput,
    database: Database,
    model: Model,
    precedence: structure.Precedence,
    rates: outcome_features.Rates | None = None,
    explained: bool = False,
) -> Diagnosis:
    """The Diagnosis of `given`; its candidates are most probable first, none.healthy among them.

    `rates`: instead of the database's, for cross-validation. `explained`: say what each group of features contributes to the
    outcome, which takes some milliseconds.
    """
    rates = database.rates if rates is None else rates
    rows = _outcome_rows(given, database, model, rates, explained)
    by_structure, positioned = _row_by_structure(given, rows, database)
    rows += by_structure
    shown = probability_of(rows)
    bad, share = shown, 1.0
    if given.end and not given.end.runs:
        bad, share = given.end.bad_end_probability(shown), recorded_status.share_shown_by_output(shown)
        rows = with_rule(rows, bad, RECORDED, given.end.source, given.end.line) if bad != shown else rows
    offered = candidates(given.owned, model.text(given.words()), database, rates)
    causes = unlinked.ranked_by_links(causes_of(_ranked(offered, model)), database)
    ranked = precedence.applied(causes, database)
    ranked = structure.ranked_by_structure(ranked, given.lanes, database)
    listed = [_with_probability(c, bad, share) for c in ranked if c.cause != UNLISTED]
    healthy_lines = tuple(o for o in given.owned if o.observation.cause == HEALTHY and o.owner == "mine")
    healthy = moved(Candidate(HEALTHY, healthy_lines, {}, 1.0), 1 - bad, NO_BAD_END)
    listed.sort(key=lambda c: (-c.probability, c.cause))
    found = [healthy, *(c for c in listed if c.owned)] if bad < ENDED_BADLY else [*_causes_to_list(listed), healthy]
    found = [replace(c, probability=round(c.probability, 4)) for c in found]
    verdict = _verdict(bad, found[0], database)
    outcome = _outcome(given, bad, found[0], database)
    if positioned and bad < ENDED_BADLY:
        outcome = _with_last_position(given, outcome, positioned)
    outcome = replace(outcome, ledger=rows)
    return Diagnosis(
        verdict, outcome, tuple(found[:MAX_CAUSES]), _notices(given, found, bad, database), _none_of_these(ranked, bad)
    )


def _none_of_these(ranked: Sequence[Candidate], bad: float) -> float:
    """The probability that it ended badly, by a cause that is none of the candidates."""
    return round(bad * sum(c.probability for c in ranked if c.cause == UNLISTED), 4)


def _outcome_rows(
    given: DecisionInput, database: Database, model: Model, rates: outcome_features.Rates, explained: bool
) -> tuple[Adjustment, ...]:
    """The rows of the log odds that it ended badly by what the output shows."""
    features, status = given.features_of_outcome(database, model.ending, rates), given.exit_status(database)
    if explained:
        base, shares = model.outcome.shares(features, status)
        groups: dict[str, float] = {}
        for name, part in shares.items():
            group = f"outcome {name.partition('.')[0]}"
            groups[group] = groups.get(group, 0.0) + part
        rows = rows_of([(BEFORE_FEATURES, 1.0, base), *((g, 1.0, part) for g, part in groups.items())])
    else:
        rows = rows_of([(OF_OUTCOME, 1.0, model.outcome.log_odds(features, status))])
    silent = outcome_features.is_silent(given.owned, given.lanes)
    odds = total(rows)
    if (
        outcome_features.is_terminal_by_nature(given.owned, given.lanes, given.machine, database)
        and odds < model.outcome.terminal
    ):
        rows = with_rule(rows, 1 / (1 + exp(-model.outcome.terminal)), TERMINAL)
    if silent and odds > MAX_SILENT_LOG_ODDS:
        rows = with_rule(rows, MAX_SILENT_PROBABILITY, NO_TROUBLE)
    return rows


def _row_by_structure(
    given: DecisionInput, rows: tuple[Adjustment, ...], database: Database
) -> tuple[tuple[Adjustment, ...], Lane | None]:
    """The row of what the last lines show, and the lane whose last position it is, see structure.last_position."""
    bad, owned = probability_of(rows), given.owned
    if given.machine and (death := structure.service_dies_again(owned, database)):
        return _at_least(rows, structure.MIN_BAD_OF_LAST_ERROR, structure.SERVICE_DIES_AGAIN, death), None
    decisive = outcome_features.decisive_lane(owned, given.lanes, database)
    if (failed := structure.cell_that_failed(given.lanes.told)) and bad < structure.MIN_BAD_OF_FAILED_CELL:
        place = failed[0], failed[1].line.number
        return with_rule(rows, structure.MIN_BAD_OF_FAILED_CELL, structure.CELL_FAILED, *place)[-1:], None
    told = structure.last_position(owned, given.lanes.told, decisive, database)
    if told is None or given.exit_status(database) or (bad <= told[2] and told[3] != structure.REACHED_END):
        return _row_of_last_lines(given, decisive, rows, database), None
    lane, line, most, rule = told
    return with_rule(rows, most, rule, lane.source, line.number)[-1:] if bad > most else (), lane


def _row_of_last_lines(
    given: DecisionInput, lane: Lane | None, rows: tuple[Adjustment, ...], database: Database
) -> tuple[Adjustment, ...]:
    """The row of what the last lines show, where they show an error of no known kind."""
    least, owned = structure.MIN_BAD_OF_LAST_ERROR, given.owned
    if lost := structure.lost_to_end(owned):
        return _at_least(rows, structure.MIN_BAD_OF_LOST_NUMBERS, structure.LOST_TO_END, lost)
    if probability_of(rows) >= least:
        return ()
    if given.exit_status(database) == 0:
        return ()
    if stop := structure.stopped_at_work(owned, lane, database):
        return _at_least(rows, least, structure.STOPPED_AT_WORK, stop)
    if lane and (said := own_status(lane)):
        return with_rule(rows, least, structure.LAST_STATUS, lane.source, said.number)[-1:]
    if death := structure.dies_again(owned, lane, database):
        return _at_least(rows, least, structure.DIES_AGAIN, death)
    line = structure.last_error(lane) if lane else None
    return with_rule(rows, least, structure.LAST_ERROR, lane.source, line.number)[-1:] if lane and line else ()


def _at_least(rows: tuple[Adjustment, ...], bad: float, rule: str, shown: OwnedObservation) -> tuple[Adjustment, ...]:
    seen = shown.observation
    return with_rule(rows, bad, rule, seen.source, seen.last_line)[-1:] if probability_of(rows) < bad else ()


def _with_last_position(given: DecisionInput, outcome: Outcome, lane: Lane) -> Outcome:
    closed = structure.closing_at_end(lane)
    last = lane.reached_end or closed or lane.at_work
    if last is None or (given.end and given.end.runs):
        return outcome
    state: OutcomeState = "ended_well" if lane.reached_end or closed else "cut_off"
    why = CAME_TO_ITS_END if lane.reached_end else WHY[state]
    return replace(outcome, state=state, why=why, lines=((lane.source, last.number, last.text),))


def _causes_to_list(listed: Sequence[Candidate]) -> list[Candidate]:
    """The causes with evidence; if the first of them is less likely than not, the general one with them.

    If no cause has evidence, the causes that only words support.
    """
    shown = [c for c in listed if c.owned]
    if shown and shown[0].probability < ENDED_BADLY:
        shown = [c for c in listed if c.owned or not c.features["no evidence"]]
    return shown or list(listed)


def _ranked(offered: Sequence[Candidate], model: Model) -> list[Candidate]:
    """`offered`, the candidate events, with their probabilities and the rows that make them."""
    rows = [[c.features[n] for n in FEATURE_NAMES] for c in offered]
    utilities = model.utilities(rows)
    most = max(utilities)
    all_of_them = most + log(sum(exp(u - most) for u in utilities))
    return [
        replace(c, probability=exp(u - all_of_them), ledger=_ledger(c, row, model, all_of_them))
        for c, u, row in zip(offered, utilities, rows, strict=True)
    ]


def _ledger(candidate: Candidate, row: Sequence[float], model: Model, all_of_them: float) -> tuple[Adjustment, ...]:
    """What each feature adds to the logarithm of the candidate's probability, with the last line of its evidence."""
    last = max((o.observation for o in candidate.owned), key=lambda o: o.last_line, default=None)
    parts = [(n, x, x * w) for n, x, w in zip(FEATURE_NAMES, row, model.feature_weights, strict=True) if x * w]
    rows = rows_of(parts, last.source if last else None, last.line if last else None)
    return (*rows, *rows_of([(AGAINST_ALL, 1.0, -all_of_them)]))


def causes_of(events: Sequence[Candidate]) -> list[Candidate]:
    """Each cause with its most probable event; its probability is that of all its events together."""
    of_cause: dict[str, list[Candidate]] = {}
    for event in events:
        of_cause.setdefault(event.cause, []).append(event)
    return [_whole_cause(found) for found in of_cause.values()]


def _whole_cause(events: Sequence[Candidate]) -> Candidate:
    best = max(events, key=lambda e: e.probability)
    if len(events) == 1:
        return best
    others = tuple(o for e in events if e is not best for o in e.owned)
    return replace(moved(best, sum(e.probability for e in events), FURTHER_EVENTS), others=others)


def _with_probability(candidate: Candidate, bad: float, share: float) -> Candidate:
    """`candidate` with the probability that it ended badly and by this cause. `share`: of a recorded bad end that the output
    shows."""
    found = moved(moved(candidate, candidate.probability * bad, BAD_END), candidate.probability * bad * share, BY_OUTPUT)
    return unlinked.at_most(found)


def _verdict(bad: float, first: Candidate, database: Database) -> Verdict:
    if bad < ENDED_BADLY:
        return "no_crash"
    proven = structure.has_last_word(first) or any(evidence_tier(o, database) <= ENDING_STRONG for o in first.owned)
    return "crash" if first.probability >= ENDED_BADLY and proven and not unlinked.is_guessed(first) else "undetermined"


def _outcome(given: DecisionInput, bad: float, first: Candidate, database: Database) -> Outcome:
    lane = given.lanes.worst
    state = _state(given, bad, first, lane, database)
    shows_no_end = first.cause == HEALTHY and state != "ended_well" and lane  # harmless messages further up show none
    telling = () if shows_no_end else first.owned
    lines = [(o.observation.source, p.line, p.text) for o in telling for p in o.observation.proofs[:1]]
    why = WHY[state]
    if state == "failed":
        decisive = outcome_features.decisive_lane(given.owned, given.lanes, database)
        status = given.end.status if given.end else None
        why = bad_end_shown(first.owned, decisive, given.exit_status(database), status, database)
        if decisive and (failed := decisive.failed_cell) and not status and len(given.lanes.last_begun) == 1:
            later = ", and later cells ran" if failed.ran_on else ""
            cell = failed.cell if any(map(str.isdigit, failed.cell)) else "that was running"  # a dead kernel gives no number
            why = f"its cell {cell} ended with {failed.error}{later}"
    elif state == "stalled" and any(o.observation.ends == "job" for o in first.owned):
        why = ENDED_FOR_SILENCE
    elif state == "stalled" and any(map(_has_work_behind, first.owned)):
        why = ""
    elif state == "spoiled" and lane and (lane.closing or lane.reached_end):
        why = RAN_TO_ITS_END
    if not lines and given.end:
        end = given.end
        return Outcome(state, round(bad, 4), end.why, ((end.source, end.line, end.text),), status=end.status)
    if lane and (not lines or (state == "ended_well" and lane.closing and _are_hints(first))):
        good = ((lane.closing,) if lane.closing else lane.good_lines) if state == "ended_well" else ()
        shown = lane.trouble_lines[-1:] if bad >= ENDED_BADLY and lane.trouble_lines else (good or lane.last_lines)[-1:]
        lines = [(lane.source, x.number, x.text) for x in shown]
    return Outcome(state, round(bad, 4), why, tuple(lines[:3]))


def _state(given: DecisionInput, bad: float, first: Candidate, lane: Lane | None, database: Database) -> OutcomeState:
    if bad >= ENDED_BADLY:
        traits = database.causes[first.cause].traits if first.cause in database.causes else ()
        named: Mapping[str, OutcomeState] = {"external_stop": "stopped", "worthless_result": "spoiled", "stalls": "stalled"}
        state: OutcomeState = next((named[t] for t in traits if t in named), "failed")
        ran_on = any(map(_continued, first.owned)) and not (lane and _stopped_at_end(lane.digest))
        return "failed" if state == "spoiled" and not ran_on else state
    if not _are_hints(first):
        return "ended_well"
    if given.end and given.end.runs:
        return "going_on"
    if lane is None:
        return "unknown"
    told = 0 <= lane.digest.good <= NEAR_END_LINES and not 0 <= lane.digest.progress <= lane.digest.good
    if lane.closing or lane.farewell or told:
        return "ended_well"
    if given.machine or lane.kind not in ("job", "notebook"):
        return "going_on"
    return "ended_well" if lane.kind == "notebook" else "cut_off" if lane.digest.progress == 0 else "unknown"


def _are_hints(first: Candidate) -> bool:
    return all(o.observation.weight == "hint" for o in first.owned)


def _stopped_at_end(digest: LaneDigest) -> bool:
    """Does a traceback or a bad end stand among its last lines, with no progress behind it?"""
    ends = (d for d in (digest.traceback, digest.bad_end) if 0 <= d <= NEAR_END_LINES)
    return any(digest.progress < 0 or d < digest.progress for d in ends)


def _continued(o: OwnedObservation) -> bool:
    """Did the program continue after it? A finding of a time series always covers the log to its end."""
    return (
        bool(o.aftermath.progress or o.aftermath.repeated)
        or o.observation.count >= MIN_REPEATED_SIGNS
        or o.observation.kind.startswith("series/")
    )


def _has_work_behind(o: OwnedObservation) -> bool:
    """Do lines behind it show that something was at work again, or was shut down in order?"""
    after = o.aftermath
    return bool(after.progress or after.repeated or after.good or after.later_attempts or after.handled)


FURTHER_EVENTS = "further events of this cause"
BEFORE_FEATURES = "before any feature"
OF_OUTCOME = "all features of the outcome"
BY_OUTPUT = "rule: a recorded failure may print nothing, and the output shows another one"
RECORDED = "rule: the exit status of the command was recorded"
TERMINAL = "rule: the kernel failed, or killed it for memory, which always ends it"
NO_TROUBLE = "rule: no line shows any trouble"
CAME_TO_ITS_END = "its last attempt reached the end of its count"
ENDED_FOR_SILENCE = "what watches it ended it, because it did not answer"
RAN_TO_ITS_END = "it ran to the end, but its result is useless"
WHY: Mapping[OutcomeState, str] = {
    "failed": "",  # see bad_end_shown
    "stalled": "no later line shows that it continued",
    "spoiled": "",
    "stopped": "someone or something else ended it",
    "ended_well": "its last lines say that it did what it was asked to do",
    "going_on": "its lines continue to the end of the log, and nothing shows that it ended",
    "cut_off": "the log stops while it was working, and nothing shows that it ended",
    "unknown": "none of its last lines is a known sign of an end",
}


def _notices(given: DecisionInput, found: Sequence[Candidate], bad: float, database: Database) -> tuple[Notice, ...]:
    """Observations that ended nothing, and those of others, the weightiest first, of these those nearest to the end that is told.
    Evidence of the first cause is not repeated."""
    shown = {id(o) for c in found[:1] for o in c.every} if bad >= ENDED_BADLY else set()
    listed = {id(o) for c in found if c.probability >= MIN_LISTED_PROBABILITY for o in c.every}
    more = _further_lines(given.owned)
    made: dict[tuple[str, int], Notice] = {}
    told = next((o.observation.moment for c in found[:1] for o in c.owned if o.observation.moment is not None), None)
    for o in sorted(given.owned, key=lambda o: (*_rank_of_notice(o, database), _distance(o, told))):
        if o.observation.cause == HEALTHY or id(o) in shown or id(o) in more or not o.observation.proofs:
            continue
        among_causes = o.owner == "mine" or (o.owner == "unknown" and id(o) in listed)
        if bad >= ENDED_BADLY and among_causes and evidence_tier(o, database) < NOTICE:
            continue  # it is listed among the causes
        proof = o.observation.proofs[0]
        made.setdefault(
            (proof.source, proof.line),
            Notice(proof.source, proof.line, proof.text, o.observation.cause, o.owner, _why(o, database)),
        )
    return tuple(made.values())[:MAX_NOTICES]


def _further_lines(owned: Sequence[OwnedObservation]) -> set[int]:
    """The ids of hints that directly follow one of the same cause: the frames of a stack are no notice each."""
    hints = [o for o in owned if o.observation.weight == "hint" and o.observation.proofs]
    hints.sort(key=lambda o: (o.observation.source, str(o.observation.cause), o.observation.line))
    return {
        id(b)
        for a, b in pairwise(hints)
        if (a.observation.source, a.observation.cause) == (b.observation.source, b.observation.cause)
        and b.observation.line - a.observation.last_line <= MAX_LINES_OF_MESSAGE
    }


def _rank_of_notice(o: OwnedObservation, database: Database) -> tuple[bool, int, int]:
    """The weightiest first; a stop in order, of which a machine that goes down prints dozens, behind all that went wrong."""
    stopped = database.has_trait(str(o.observation.cause), "external_stop")
    return stopped, evidence_tier(o, database), TIER_OF_WEIGHT[o.observation.weight]


def _distance(o: OwnedObservation, told: float | None) -> float:
    """How many seconds before or after the end that is told, the moment `told`, something of others happened; 0 if unknown, or
    its own."""
    moment = o.observation.moment
    return 0.0 if o.owner == "mine" or moment is None or told is None else abs(moment - told)


def _why(o: OwnedObservation, database: Database) -> str:
    """Why it is a notice: what was found about it, and no more."""
    if o.link == ONE_OF_SEVERAL:
        return o.link
    if o.owner == "others":
        return f"not this job's: {o.link}"
    if o.owner == "unknown" and evidence_tier(o, database) < NOTICE:
        return "no number or name links it to this job"
    after = o.aftermath
    if after.repeated or after.progress:
        return "the log continues after it"
    return "its wording suggests a warning, a retry or a recovery" if after.handled else ""


MAX_LINES_BEHIND = 10  # chosen by hand: what a launcher, a shell or an interpreter prints behind the reason of an end
MAX_LINES_OF_MESSAGE = 2  # chosen by hand: a message and what it goes on with
MAX_LINES_OF_STACK = 50  # chosen by hand: from the head of a traceback to its exception


def bad_end_shown(
    owned: Sequence[OwnedObservation], lane: Lane | None, status: int | None, command_status: int | None, database: Database
) -> str:
    """Why the subject is said to have ended badly; empty if no end of it is shown.

    `owned`: the evidence of the first cause. `lane`: the subject's own that shows how it ended. `status`: the exit status that
    its last lines record; `command_status`: the one that the process recorded that started it.
    """
    if command_status:
        return f"it {recorded_status.ended_with(command_status)}"
    if lane is None or lane.kind not in ("job", "notebook") or 0 <= lane.digest.good <= MAX_LINES_BEHIND:
        return ""
    if status is not None:
        return f"its last lines show exit status {status}" if status else ""
    ends = _ends(o for o in owned if o.owner == "mine" and o.lane is lane and evidence_tier(o, database) < NOTICE)
    if _is_over(lane.digest) or any(_is_last(o.aftermath) for o in ends if what_ended(o.observation, database) != "machine"):
        return "see its last lines"
    return ""


def _ends(owned: Iterable[OwnedObservation]) -> list[OwnedObservation]:
    """Those that are messages of an end. Measured numbers show a course, and a course has no last line."""
    return [o for o in owned if o.observation.weight != "hint" and not o.observation.kind.startswith("series/")]


def _is_last(after: Aftermath) -> bool:
    """Is it among the last lines, with nothing behind it that shows that the program went on?"""
    went_on = after.repeated or after.progress or after.good or after.later_attempts or after.handled or after.low_severity
    return after.lines_after <= MAX_LINES_OF_MESSAGE and not went_on


def _is_over(digest: LaneDigest) -> bool:
    """Does the log end with a stack, or with a line that says that what was asked for failed?"""
    stack = 0 <= digest.traceback <= MAX_LINES_OF_STACK and not digest.again_after_traceback and not digest.traceback_in_record
    said = 0 <= digest.bad_end < MAX_LINES_OF_MESSAGE and not digest.again_after_bad_end and not digest.attempts_after_bad_end
    nearest = min([digest.traceback] * stack + [digest.bad_end] * said, default=-1)
    return nearest >= 0 and not 0 <= digest.progress < nearest and not 0 <= digest.good < nearest
