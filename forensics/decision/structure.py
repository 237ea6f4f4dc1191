"""What the structure of a log decides, whatever its words say: attempts, positions and the last word. Each rule is a ledger row.

CUDA out of memory / (a further attempt) / step 900 / Killed          -> `Killed` is ranked before it
bad sample: index 4 ... / update 62 / update 63 / SIGTERM received    -> the signal is ranked before what the program survived
Traceback ... / (a further attempt) / 100% 1640/1640                  -> the last attempt ended well
step 900 / CRITICAL: the ledger does not fit                          -> it ended with this line, whatever its words are

Before these rules stand the rows of signatures/precedence.yaml, the only absolute rules of the ranking.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from forensics.database import HEALTHY, Database
from forensics.decision.first_failure import failed_process_first
from forensics.decision.last_failure import last_failure_first
from forensics.decision.last_word import (
    MAX_CONTINUED_LINES,
    MAX_LINES_BEHIND_WORD,
    MIN_GROWN,
    all_behind,
    has_lasting_effect,
    is_of_earlier_attempt,
    last_word,
    may_be_word,
    survived,
)
from forensics.decision.ledger import exchange, first_of, moved
from forensics.decision.mere_status import last_try_first, own_reason_first
from forensics.model import Line
from forensics.model.answers import LOST_NUMBERS
from forensics.model.verdicts import Candidate, FailedCell, Lane, OwnedObservation
from forensics.outcome.tiers import ENDING_STRONG, NOTICE, evidence_tier, what_ended
from forensics.readers.capture.own_message import OWN_MESSAGE
from forensics.readers.lanes.line_classes import exit_status, is_error_record, is_low_severity, is_mild_record
from forensics.readers.python.exception_words import tells_of_lost_numbers

MAX_BAD_IF_FINISHED = 0.1  # of a bad end, where the last attempt came to the end of what it counts
MIN_BAD_OF_LAST_ERROR = 0.6  # of a bad end, where the log of a job ends with an error that stands nowhere else in it
# Of a bad end, where a saved notebook shows an error. Measured: both public notebooks in which later cells ran were labelled as
# failures, and no healthy one has such an output.
MIN_BAD_OF_FAILED_CELL = 0.9
# Of a bad end, where the numbers of the last attempt are NaN or grow to its end. Measured: of 955 labelled logs of all kinds
# two show it, both labelled as failures.
MIN_BAD_OF_LOST_NUMBERS = 0.9
MAX_LINES_OF_FAREWELL = 3  # chosen by hand: what a program says of a signal that it obeys at once
MAX_LINES_OF_LAST_RECORDS = 10  # chosen by hand: a reason, what it means, and that the program gives up
MAX_LINES_SINCE_COUNTED = 50  # chosen by hand: a program that counts to its end says little else before it tells why it gives up
MAX_LINES_BEHIND_PROOF = 10  # chosen by hand: a runner that has counted its results prints only a few more lines
MIN_DEATHS = 3  # a restart may succeed, and so may a second one; a supervisor's third says that it does not help
MAX_BAD_IF_AT_WORK = 0.45  # of a bad end, where the log breaks off while the last attempt was at work: hardly less than even
SURVIVED = "rule: the program continued after it, and this was its last message"
OVERTAKEN = "rule: the program continued after it, and another message was its last"
FAILED_STAGE = "rule: a stage that ended with a usage error or was killed explains what a later stage lacks"
LACKING_STAGE = "rule: a stage before it ended with a usage error or was killed"
ENDED_LAST = "rule: the last attempt ended with it"
ENDED_EARLIER = "rule: only an earlier attempt ended this way"
FAILED_ALREADY = "rule: it failed before it was stopped, and nothing continued in between"
STOPPED_BEHIND = "rule: it had failed before"
LOST_BEFORE = "rule: an earlier cell shows these numbers, and the exception of a later cell is about them"
TOLD_BEFORE = "rule: this program reported this death when it happened, and the rest only describes the results"
ONLY_DESCRIBED = "rule: this program reported earlier what the kernel died of"
ABOUT_LOST = "rule: it is about numbers that an earlier cell shows already"
REACHED_END = "rule: the last attempt reached the end of its count"
WARNED = "rule: it was only a warning, and the program continued after it and said that it had finished"
FINISHED_BEHIND = "rule: the program worked on after it, and said that it had finished"
PROVEN_END = "rule: a runner said behind it that nothing failed in the end"
LAST_ERROR = "rule: the log ends with an error that occurs nowhere else in it"
LAST_STATUS = "rule: its last line is an exit status other than 0"
STOPPED_AT_WORK = "rule: a signal stopped it while it was counting"
LOST_TO_END = "rule: its numbers are NaN or grow to the end, although it reports a good end"
SERVICE_DIES_AGAIN = "rule: a service of the machine fails again and again, and its last lines are such a failure"
DIES_AGAIN = "rule: its processes die again and again to the end of the log, and nothing in between shows that one worked"
CELL_FAILED = "rule: an output of the notebook, as it was saved, is the error that ended its cell"
AT_WORK = "rule: the program continued after every failure, and was working where the log ends"


def ranked_by_structure(ranked: Sequence[Candidate], lanes: Sequence[Lane], database: Database) -> list[Candidate]:
    """`ranked` after all rules of the ranking. `lanes`: of the subject."""
    ranked = last_try_first(own_reason_first(ranked, database), database)
    ranked = failed_process_first(last_word_first(ranked, database), lanes, database)
    ranked = failed_stage_first(told_death_first(ranked, database), database)
    ranked = failure_before_stop(ranked, lanes, database)
    return nan_first(last_failure_first(last_attempt_first(ranked, database), database), database)


def last_word_first(ranked: Sequence[Candidate], database: Database) -> list[Candidate]:
    """`ranked`; a cause with the last word exchanges its probability with that of one whose evidence the program survived."""
    found = list(ranked)
    for i, last in enumerate(found):
        word = last_word(last.cause, last.owned, database)
        if word is None:
            continue
        above = [j for j, c in enumerate(found) if c.probability > last.probability]
        ends = [j for j in above if any(evidence_tier(o, database) < NOTICE for o in found[j].every)]
        if ends and all(_was_survived(found[j], word, database) for j in ends):
            exchange(found, i, max(ends, key=lambda j: found[j].probability), (SURVIVED, OVERTAKEN), word)
    return found


def failed_stage_first(ranked: Sequence[Candidate], database: Database) -> list[Candidate]:
    """`ranked`; a usage error or a death, with which a stage ended, exchanges its probability with that of what a later stage
    lacks."""
    found = list(ranked)
    for j, lacking in enumerate(found):
        unstarted = lacking.owned and all("unstarted" in o.observation.fields for o in lacking.owned)  # an argument, or not made
        for i, failed in enumerate(found if unstarted or database.has_trait(lacking.cause, "lacks_input") else ()):
            usage = next((o for o in failed.owned if _is_usage_error(o) or _is_death(o, database)), None)
            if usage and found[j].probability > found[i].probability and all_behind(found[j], usage, database):
                exchange(found, i, j, (FAILED_STAGE, LACKING_STAGE), usage)
    return found


def last_attempt_first(ranked: Sequence[Candidate], database: Database) -> list[Candidate]:
    """`ranked`; what the last attempt ended with exchanges its probability with the first cause, if only earlier attempts show
    that one."""
    found = list(ranked)
    j = first_of(found)
    before = [o for o in found[j].every if evidence_tier(o, database) < NOTICE] if found else []
    worked = all(o.aftermath.progress >= MIN_GROWN for o in before)  # the last attempt: what it ended with is its own
    lasts = has_lasting_effect(found[j].cause, database) and not worked
    if not before or lasts or not all(o.aftermath.later_attempts for o in before):
        return found
    ends = [(c.probability, i, o) for i, c in enumerate(found) for o in c.owned if i != j and _ended_with(o, database, worked)]
    ends = [e for e in ends if is_of_earlier_attempt(before, [e[2]]) and not may_be_word(found[e[1]].cause, database)]
    if ends:
        _, i, last = max(ends, key=lambda e: e[:2])
        exchange(found, i, j, (ENDED_LAST, ENDED_EARLIER), last)
    return found


def failure_before_stop(ranked: Sequence[Candidate], lanes: Sequence[Lane], database: Database) -> list[Candidate]:
    """`ranked`; a failure behind which nothing went on exchanges its probability with that of the stop that cleaned up behind.

    A process that failed leaves the others of its job waiting until the job is cancelled or its time is up.
    """
    found = list(ranked)
    j = first_of(found)
    if not found or not database.has_trait(found[j].cause, "external_stop"):
        return found
    own = [(c.probability, i, o) for i, c in enumerate(found) for o in c.owned if i != j and _ended_with(o, database, True)]
    own = [e for e in own if evidence_tier(e[2], database) <= ENDING_STRONG and all_behind(found[j], e[2], database)]
    own = [e for e in own if not any(_worked_on(lane, e[2]) for lane in lanes)]
    if own:
        _, i, failed = max(own, key=lambda e: e[:2])
        exchange(found, i, j, (FAILED_ALREADY, STOPPED_BEHIND), failed)
    return found


def _worked_on(lane: Lane, failed: OwnedObservation) -> bool:
    """Is it another process of the job, which tells of its progress and printed on behind `failed`?"""
    seen = failed.observation
    other = lane is not failed.lane and lane.kind == "job" and lane.source == seen.source
    return other and lane.digest.progress >= 0 and lane.attempts[-1].last_line > seen.last_line


def _ended_with(o: OwnedObservation, database: Database, of_any_kind: bool = False) -> bool:
    """Is it a sign of the subject's own end near the end of its log, with nothing behind it that went on?

    `of_any_kind`: an exception of any kind is one, as where only a stop from outside stands behind it.
    """
    after, about = o.aftermath, database.causes[str(o.observation.cause)]
    went_on = after.later_attempts or after.repeated or after.progress or after.positions or after.good or after.handled
    raised = not about.fallback or (of_any_kind and "exception" in about.traits)
    near = after.lines_after <= MAX_LINES_BEHIND_WORD and not after.low_severity and raised
    return o.owner == "mine" and near and not went_on and evidence_tier(o, database) < NOTICE


def nan_first(ranked: Sequence[Candidate], database: Database) -> list[Candidate]:
    """`ranked`; numbers that were lost in an earlier cell of a notebook exchange their probability with that of an exception that
    tells of them. The kernel keeps its state from cell to cell."""
    found = list(ranked)
    j = first_of(found)
    about = next((o for o in found[j].owned if _is_about_lost_numbers(o)), None) if found else None
    if about is None or database.has_trait(found[j].cause, "worthless_result"):
        return found
    for i, lost in enumerate(found):
        before = (o for o in lost.owned if o.lane is about.lane and o.aftermath.lines_after > about.aftermath.lines_after)
        if database.has_trait(lost.cause, "worthless_result") and (seen := next(before, None)):
            exchange(found, i, j, (LOST_BEFORE, ABOUT_LOST), seen)
            break
    return found


def told_death_first(ranked: Sequence[Candidate], database: Database) -> list[Candidate]:
    """`ranked`; what this program proved of a kernel's death takes the probability of its restart and of a stop behind it."""
    told = next(
        ((c, o) for c in ranked for o in c.owned if o.observation.kind == OWN_MESSAGE and o.observation.weight == "proof"), None
    )
    if told is None:
        return list(ranked)
    place = told[1].observation.source, told[1].observation.line
    only = [c for c in ranked if c is not told[0] and _only_describes(c, told[0], database) and all_behind(c, told[1], database)]
    more = sum(c.probability for c in only)
    first = moved(replace(told[0], explained_by=None), told[0].probability + more, TOLD_BEFORE, *place)
    return [first if c is told[0] else moved(c, 0.0, ONLY_DESCRIBED, *place) if c in only else c for c in ranked]


def _only_describes(candidate: Candidate, told: Candidate, database: Database) -> bool:
    """Is it a consequence of `told`, or a stop, which ends a server whatever its kernels did?"""
    return candidate.cause in database.causes[told.cause].explains or database.has_trait(candidate.cause, "external_stop")


def _is_about_lost_numbers(o: OwnedObservation) -> bool:
    told = str(o.observation.fields.get("exc_message", ""))
    return o.owner == "mine" and o.lane is not None and o.lane.kind == "notebook" and tells_of_lost_numbers(told)


def _is_usage_error(o: OwnedObservation) -> bool:
    """Does it name a program and its argument, or a compiler without its source? So a program ends before it begins."""
    known = o.observation.fields.keys()
    return o.owner == "mine" and ({"program", "argument"} <= known or "compiler" in known)


def _is_death(o: OwnedObservation, database: Database) -> bool:
    """Does a shell tell of the signal that ended its command, of which no further attempt began?"""
    told = o.owner == "mine" and "signal_name" in o.observation.fields and evidence_tier(o, database) <= ENDING_STRONG
    return told and database.has_trait(str(o.observation.cause), "process_death") and not o.aftermath.later_attempts


def has_last_word(candidate: Candidate) -> bool:
    """Is it ranked by its last word?"""
    return any(a.feature == SURVIVED for a in candidate.ledger)


def _was_survived(candidate: Candidate, word: OwnedObservation, database: Database) -> bool:
    """Did the program go on behind all of its evidence of an end, which stands before `word` in the same log?"""
    ending = [o for o in candidate.every if evidence_tier(o, database) < NOTICE]
    if not ending or has_lasting_effect(candidate.cause, database):
        return False
    seen = word.observation
    before = all(o.observation.source == seen.source and o.observation.last_line < seen.line for o in ending)
    return before and all(map(survived, ending))


def last_position(
    owned: Sequence[OwnedObservation], lanes: Sequence[Lane], decisive: Lane | None, database: Database
) -> tuple[Lane, Line, float, str] | None:
    """The last position of the subject's last attempt, if the program survived all evidence of an end.

    It is that of the lane with all the evidence, or of the program that came to its end while a process of it (`decisive` is the
    lane that ends worst) had trouble. With it the greatest probability of a bad end and the rule that says so.
    """
    own = [o for o in owned if o.owner != "others" and o.observation.cause != HEALTHY and evidence_tier(o, database) < NOTICE]
    lane = own[0].lane if own and all(o.lane is own[0].lane for o in own) else decisive
    if own and lane and (proven := _proven_end(owned, own, lane, database)):
        return lane, proven, MAX_BAD_IF_FINISHED, PROVEN_END
    if own and lane and (over := lane.closing):
        if all(_only_warned(o, lane, over.number) for o in own):
            return lane, over, MAX_BAD_IF_FINISHED, WARNED
        if all(_went_on_to(over.number, o, lane, database) for o in own):
            return lane, over, MAX_BAD_IF_FINISHED, FINISHED_BEHIND
    if lane and not lane.reached_end:
        ended = (x for x in lanes if x.reached_end and x.source == lane.source)
        finished = (x for x in ended if x.closing or x.entity.kind == "job")
        lane = next(finished, lane)
    if lane is None or lane.kind != "job" or not (last := lane.reached_end or lane.at_work):
        return None
    told = lane.reached_end is not None  # a good end behind an error is one only if all was counted
    if not (own or told) or not all(_is_overcome(o, lane, last.number, database) for o in own):
        return None
    return (lane, last, MAX_BAD_IF_FINISHED, REACHED_END) if told else (lane, last, MAX_BAD_IF_AT_WORK, AT_WORK)


def _only_warned(o: OwnedObservation, lane: Lane, over: int) -> bool:
    """Is its record's own level a warning or lower, and does the program of `lane` work on and close behind it?"""
    after = o.aftermath
    return o.lane is lane and after.low_severity and after.progress > 0 and o.observation.last_line < over


def _went_on_to(over: int, o: OwnedObservation, lane: Lane, database: Database) -> bool:
    """Does the program of `lane` work on behind `o`, as before it or by its own words, and close in line `over`?"""
    after = o.aftermath
    as_before = survived(o) or (after.repeated >= MIN_GROWN and after.progress >= MIN_GROWN)
    went_on = as_before or (after.handled and after.progress > 0)
    return (
        went_on
        and o.lane is lane
        and o.observation.last_line < over
        and not has_lasting_effect(str(o.observation.cause), database)
    )


def _proven_end(
    owned: Sequence[OwnedObservation], own: Sequence[OwnedObservation], lane: Lane, database: Database
) -> Line | None:
    """The line with which a runner proves that nothing failed in the end, behind all of `own` and with no trouble behind it.

    A runner of tests proves nothing of a program that had counted steps before it failed."""
    last = max(o.observation.last_line for o in own)
    counted = 0 < lane.first_position < last
    for o in reversed(owned):
        seen, after = o.observation, o.aftermath
        proves = seen.cause == HEALTHY and seen.weight == "proof" and o.owner == "mine" and o.lane is lane
        near = not after.trouble and after.lines_after <= MAX_LINES_BEHIND_PROOF and seen.last_line > last
        speaks = what_ended(seen, database) == "job" or not counted
        if proves and near and speaks and all(x.lane is lane for x in own):
            return Line(seen.last_line, next((p.text for p in seen.proofs if p.line == seen.last_line), seen.proofs[0].text))
    return None


def _is_overcome(o: OwnedObservation, lane: Lane, last: int, database: Database) -> bool:
    """Did the program of `lane` go on behind `o`? `last`: the line of its last position."""
    if has_lasting_effect(str(o.observation.cause), database):
        return False
    after, told = o.aftermath, lane.reached_end is not None
    if o.lane is not lane:  # of one of its processes: it printed on behind that process
        return told and o.observation.source == lane.source and o.observation.last_line < lane.attempts[-1].last_line
    if o.observation.last_line > last:
        return told and after.repeated > 0
    least = MIN_GROWN if told else MAX_CONTINUED_LINES
    return after.later_attempts > 0 or after.positions >= least or (told and after.good > 0)


def dies_again(owned: Sequence[OwnedObservation], lane: Lane | None, database: Database) -> OwnedObservation | None:
    """The death of a job's process that is told MIN_DEATHS times or more, up to the end of the log, if nothing behind the first
    one shows work, and strong evidence of an end stands beside it; or any failure of a job that is started as often."""
    if lane is None or lane.kind != "job" or lane.digest.good >= 0 or lane.digest.progress >= 0:
        return None
    own = [o for o in owned if o.owner == "mine" and o.lane is lane and evidence_tier(o, database) < NOTICE]
    if all(evidence_tier(o, database) > ENDING_STRONG for o in own):
        return None
    strong = [o for o in reversed(own) if evidence_tier(o, database) <= ENDING_STRONG and not o.aftermath.low_severity]
    if lane.starts_alike and _deaths(strong) >= MIN_DEATHS:
        return strong[0]
    deaths = (o for o in own if database.has_trait(str(o.observation.cause), "process_death") and not o.aftermath.later_attempts)
    return next((o for o in deaths if o.observation.count >= MIN_DEATHS and _is_going_on(o)), None)


def service_dies_again(owned: Sequence[OwnedObservation], database: Database) -> OwnedObservation | None:
    """The last of MIN_DEATHS or more failures of one service of a machine, with which the lines of that service end."""
    failures: dict[str, list[OwnedObservation]] = {}
    for o in (o for o in owned if o.owner == "mine" and evidence_tier(o, database) <= ENDING_STRONG):
        stop = database.has_trait(str(o.observation.cause), "external_stop")
        if o.lane and o.lane.kind == "service" and o.lane.entity.kind == "unit" and not stop:
            failures.setdefault(o.lane.entity.name, []).append(o)
    found = (max(f, key=lambda o: o.observation.last_line) for f in failures.values() if _deaths(f) >= MIN_DEATHS)
    return next((last for last in found if last.aftermath.lines_after <= MAX_LINES_BEHIND_WORD), None)


def _deaths(told: Sequence[OwnedObservation]) -> int:
    return sum(max(1, o.observation.count) for o in told)


def _is_going_on(o: OwnedObservation) -> bool:
    """Is it told to the end, or is less than a tenth of the lines in which it is told behind the last one?"""
    span = o.observation.last_line - o.observation.line
    return o.aftermath.lines_after * 10 <= span or o.aftermath.lines_after <= MAX_LINES_BEHIND_WORD


def cell_that_failed(lanes: Sequence[Lane]) -> tuple[str, FailedCell] | None:
    """The source and the last cell of a saved notebook that an error ended, whatever ran behind it."""
    return next(((x.source, x.failed_cell) for x in lanes if x.failed_cell), None)


def closing_at_end(lane: Lane) -> Line | None:
    """The line with which the program says that it is over, if it is the last one of its log."""
    return lane.closing if lane.closing and lane.closing.number == lane.attempts[-1].last_line else None


def stopped_at_work(owned: Sequence[OwnedObservation], lane: Lane | None, database: Database) -> OwnedObservation | None:
    """The signal or death with which the log of a job ends whose last attempt was counting, with nothing of an end behind it."""
    if lane is None or lane.kind != "job" or not lane.at_work:
        return None
    told = (o for o in owned if o.lane is lane and last_word(str(o.observation.cause), [o], database))
    return next((o for o in told if o.aftermath.lines_after <= MAX_LINES_OF_FAREWELL), None)


def lost_to_end(owned: Sequence[OwnedObservation]) -> OwnedObservation | None:
    """The strong sign of a series of its own that the last attempt's numbers are NaN, or grow, up to its end."""
    lost = (o for o in owned if o.observation.kind in LOST_NUMBERS and o.observation.weight == "strong" and o.owner == "mine")
    return next((o for o in lost if not o.aftermath.later_attempts), None)


def last_error(lane: Lane | None) -> Line | None:
    """The error with which a job's lane ends, its stack behind it, if no line like it stands before it; each attempt may have
    one. Servers write records of errors, each of one request, and may have counted while they started: such a record is one only
    of a program that counted shortly before it."""
    last = lane.last_error if lane and not is_one_of_many(lane) else None
    if lane is None or last is None or is_mild_record(last.text) or is_low_severity(last.text):
        return None
    counted = 0 <= lane.digest.progress <= MAX_LINES_SINCE_COUNTED
    return last if counted or not is_error_record(last.text, fatal=False) else None


def last_record(lanes: Sequence[Lane]) -> Line | None:
    """The record of an error, behind no other line, with which one of `lanes` ends; None if it may be one of many."""
    found = (x.last_error for x in lanes if x.last_error and not is_one_of_many(x) and exit_status(x) != 0)
    return next((line for line in found if is_error_record(line.text)), None)


def is_one_of_many(lane: Lane) -> bool:
    """Is it no job, has it lines like its last error before it, or records of errors that it went on behind?"""
    last = lane.last_error.number if lane.last_error else 0
    before = (x for x in lane.trouble_lines if x.number < last - MAX_LINES_OF_LAST_RECORDS)
    alike = lane.digest.trouble_repeats > len(lane.attempts)
    return (
        lane.kind != "job"
        or alike
        or (
            lane.last_error is not None
            and is_error_record(lane.last_error.text, fatal=False)
            and any(is_error_record(x.text) for x in before)
        )
    )


class Row(Struct, frozen=True):
    """`before` is ranked before `after` if it has strong evidence of an end."""

    before: str
    after: str
    why: str


class Precedence(Struct, frozen=True):
    """The rows, in order."""

    rows: tuple[Row, ...]

    def applied(self, ranked: Sequence[Candidate], database: Database) -> list[Candidate]:
        """`ranked`; if a row forbids the order of two candidates, their probabilities are exchanged.

        Where the first explains the second, both tell one story, which the first begins: it gets the probability of both.
        """
        found = {c.cause: c for c in ranked}
        for row in self.rows:
            before, after = found.get(row.before), found.get(row.after)
            if not before or not after or not _strong(before, database):
                continue
            more, less = max(before.probability, after.probability), min(before.probability, after.probability)
            if after.explained_by == before.cause:
                more, less = more + less, 0.0
            rule = f"rule: {row.before} before {row.after}, as {row.why}"
            found |= {row.before: moved(before, more, rule), row.after: moved(after, less, rule)}
        return list(found.values())


def _strong(candidate: Candidate, database: Database) -> bool:
    return any(o.owner == "mine" and evidence_tier(o, database) <= ENDING_STRONG for o in candidate.owned)


def precedence_of(database: Database) -> Precedence:
    """The rows that come with `database`."""
    return Precedence(tuple(Row(*row) for row in database.precedence))
