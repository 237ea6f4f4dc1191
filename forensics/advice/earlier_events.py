"""Which evidence lines of a cause show another event than the one that a report tells: an earlier one, or another's death.

KeyError: 'a' / loading data / step 1 / KeyError: 'b'          -> the first line: of an attempt before
python[11]: segfault ... / (an hour) / python[22]: segfault    -> the first line: a death before
dmesg: Killed process 11, Killed process 22   job.log: pid 22  -> the first line: the death of another process
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Sequence, Set
from itertools import pairwise

from forensics.advice.evidence import LIMIT_FACT, Place
from forensics.advice.wording import DEATHS
from forensics.database import Database
from forensics.model import Fields, Observation, Value
from forensics.model.verdicts import Attempt, Candidate, Diagnosis, OwnedObservation

MAX_CONTINUED_LINES = 10  # while it ends a program may print a few lines like earlier ones
MAX_DEATH_GAP_S = 10.0  # processes of one job die within seconds of each other
MAX_SAME_DEATH_S = 1.0  # chosen by hand: of deaths this close neither is the later one, whatever their limits
# Chosen by hand: what is shorter is a message that each rank or thread printed, or a retry by one process, as often as a start.
MIN_ATTEMPT_LINES = 6


def earlier_lines(candidate: Candidate, events: Sequence[Observation], traits: Collection[str]) -> tuple[set[Place], set[Place]]:
    """The lines of `events` that are not the ones to tell, and those among them that show events of their own: of attempts and
    of deaths before. `traits`: of the cause."""
    attempts = _in_earlier_attempts(candidate)
    apart = {place for place, is_start in attempts.items() if is_start}
    if "process_death" in traits:
        unnamed = _unnamed_deaths(candidate)
        apart |= unnamed | _earlier_deaths([e for e in events if (e.source, e.line) not in unnamed])
    earlier = {*attempts, *apart}
    if "worthless_result" not in traits:  # of a spoiled result the first sign is the one to read
        earlier |= _continued_from(candidate, earlier)
    return earlier, apart


def observations_shown(candidate: Candidate, database: Database) -> list[Observation]:
    """The subject's own observations of it; all of them if there are none, or if it is a fault of the machine, which affects
    every program."""
    of_the_machine = database.has_trait(candidate.cause, "machine_fault")
    mine = [o.observation for o in candidate.owned if o.owner == "mine" or of_the_machine]
    return mine or [o.observation for o in candidate.owned]


def lines_of_other_deaths(diagnosis: Diagnosis, database: Database) -> frozenset[Place]:
    """All lines of the deaths that the first cause has evidence of, and that are not the one to tell. What they name is not the
    environment of that one."""
    first = diagnosis.candidates[0]
    if not database.has_trait(first.cause, "process_death"):
        return frozenset()
    events = observations_shown(first, database)
    _, apart = earlier_lines(first, events, ("process_death",))
    others = [e for e in events if "pid" in e.fields and all((e.source, n) in apart for n in e.shown_on)]
    places: set[Place] = set()
    reached: dict[str, int] = {}  # by source: the last line that is in `places`; folded deaths may each span the whole log
    for e in sorted(others, key=lambda e: e.line):
        places.update((e.source, n) for n in range(max(e.line, reached.get(e.source, 0) + 1), e.last_line + 1))
        reached[e.source] = max(e.last_line, reached.get(e.source, 0))
    return frozenset(places)


def _unnamed_deaths(candidate: Candidate) -> set[Place]:
    """The (source, line) of deaths of processes that the own logs do not name, if a death of one that they name is shown."""
    deaths = [o for o in candidate.owned if "pid" in o.observation.fields]
    named = any(o.named for o in deaths)
    return {(o.observation.source, n) for o in deaths if named and not o.named for n in o.observation.shown_on}


def deaths_of(events: Sequence[Observation], facts: Fields, apart: Set[Place]) -> dict[str, Value]:
    """How many processes of the same program died in the same way, if the one that `facts` tell died last, and some before it."""
    same = [e for e in events if "pid" in e.fields and e.fields.get("task") == facts.get("task")]
    last = max(same, key=lambda e: e.moment or 0.0, default=None)
    if last is None or last.fields["pid"] != facts.get("pid"):
        return {}
    is_before = {str(e.fields["pid"]): (e.source, e.line) in apart for e in same}
    return {DEATHS: len(is_before)} if any(is_before.values()) and not all(is_before.values()) else {}


def is_another_start(attempt: Attempt, end: Observation) -> bool:
    """Is the attempt that ended with `end` a start of its own, and no line that threads, ranks or retries repeat?

    A notebook's server starts a kernel again under its name: that is one event.
    """
    long = attempt.last_line - attempt.first_line >= MIN_ATTEMPT_LINES - 1
    return "kernel_id" not in end.fields and ("pid" in end.fields or long)


def _in_earlier_attempts(candidate: Candidate) -> dict[Place, bool]:
    """The evidence in earlier attempts than the last one of the same source with this evidence: is it of another start?"""
    found: dict[str, dict[int, tuple[int, bool]]] = defaultdict(dict)  # by source: line -> number of its attempt, another start
    for o in _ends_of_programs(candidate):
        attempts = o.lane.attempts if o.lane else ()
        starts = [a.first_line for a in attempts]
        for line in o.observation.shown_on:
            number = bisect_right(starts, line)
            of_start = bool(attempts) and is_another_start(attempts[max(number, 1) - 1], o.observation)
            found[o.observation.source][line] = number, of_start
    last = {source: max(number for number, _ in lines.values()) for source, lines in found.items()}
    return {(s, n): of_start for s, lines in found.items() for n, (number, of_start) in lines.items() if number < last[s]}


def _continued_from(candidate: Candidate, earlier: Set[Place]) -> set[Place]:
    """The evidence after which the program continued for longer than after other evidence of the source.

    Lines of `earlier` attempts are not compared: what follows them is another attempt.
    """
    continued: dict[str, dict[int, int]] = defaultdict(dict)  # by source: line -> lines by which the program continued
    for o in _ends_of_programs(candidate):
        for line in (n for n in o.observation.shown_on if (o.observation.source, n) not in earlier):
            continued[o.observation.source][line] = o.aftermath.repeated + o.aftermath.progress
    last = {s: min(lines.values()) + MAX_CONTINUED_LINES for s, lines in continued.items()}
    return {(s, n) for s, lines in continued.items() for n, more in lines.items() if more > last[s]}


def _ends_of_programs(candidate: Candidate) -> list[OwnedObservation]:
    return [o for o in candidate.owned if o.observation.ends != "nothing" and o.lane and o.lane.kind in ("job", "notebook")]


def _earlier_deaths(events: Sequence[Observation]) -> set[Place]:
    """The (source, line) of deaths that are followed by later deaths of other processes after a gap of more than
    MAX_DEATH_GAP_S seconds, or, some seconds later, by those of another memory limit."""
    deaths = [e for e in events if "pid" in e.fields and e.moment is not None]
    deaths.sort(key=lambda e: e.moment or 0.0)
    cut = next((i for i, (later, before) in enumerate(pairwise(deaths[::-1])) if _are_of_two_jobs(before, later)), None)
    before = [] if cut is None else deaths[: len(deaths) - 1 - cut]
    return {(e.source, n) for e in before for n in e.shown_on}


def _are_of_two_jobs(before: Observation, later: Observation) -> bool:
    gap = (later.moment or 0.0) - (before.moment or 0.0)
    limits = [e.fields.get(LIMIT_FACT) for e in (before, later)]
    return gap > MAX_DEATH_GAP_S or (gap > MAX_SAME_DEATH_S and None not in limits and limits[0] != limits[1])
