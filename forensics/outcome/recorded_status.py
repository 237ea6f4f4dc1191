"""The exit status of the subject's command, as the process that started it recorded it, independent of the command's output.

    ... forensics run: the command, pid 4711 (python3), ended with exit status 7 after 14.2 s      -> RecordedStatus(7, ...)
    ... forensics run: the command, pid 4712 (grep), ended with exit status 1 after 0.1 s          -> None: grep found nothing
    run.json of a capture that was killed with its job                                             -> RecordedStatus(None, ...)

A command with such a status failed even if its output shows nothing bad. What the output does show is then less likely to be the
reason.
"""

from collections.abc import Iterable
from signal import Signals

from msgspec import Struct

from forensics.database import HEALTHY
from forensics.model import Observation
from forensics.model.verdicts import OwnedObservation

COMMAND_STATUS_FIELD = (
    "command_status"  # a field of an observation: the status as in a shell, 128 + n for signal n, or UNKNOWN_STATUS
)
UNKNOWN_STATUS, RUNNING = "unknown", "running"
FAILED_STATUS_PROBABILITY = (
    0.98  # the kernel reports the status; the rest is for programs that use a status other than 0 as an answer
)
# The share of bad ends among runs whose output shows none. Of jobs with an outcome from the scheduler, 3 in 100 fail silently;
# programs that choose a status on purpose add to them. It is a prior, not a measured count.
SILENT_FAILURE_SHARE = 0.1
UNKNOWN_STATUS_PROBABILITY = 0.5  # no end was recorded: it still runs, or the process that watched it was killed with it


class RecordedStatus(Struct, frozen=True):
    """How the subject's command ended: its status, 1 to 255 or None if unknown, and the line that records it.

    `runs`: it had not ended when its capture was written.
    """

    status: int | None
    source: str
    line: int
    text: str
    runs: bool = False

    def bad_end_probability(self, by_output: float) -> float:
        """The probability of a bad end. `by_output`: the probability according to the output alone."""
        return max(by_output, UNKNOWN_STATUS_PROBABILITY if self.status is None else FAILED_STATUS_PROBABILITY)

    @property
    def why(self) -> str:
        """The sentence of the report if nothing else is known about the end."""
        if self.runs:
            return "it was still running when this was recorded"
        if self.status is None:
            return "nothing shows how it ended: it may still be running, or whatever ended it also ended the capture"
        return f"it {ended_with(self.status)}, and none of the given logs says why"


def ended_with(status: int) -> str:
    """The end in words: `ended with exit status 1`, `was ended by SIGKILL, exit status 137`."""
    known = {128 + one: one.name for one in Signals}
    return f"was ended by {known[status]}, exit status {status}" if status in known else f"ended with exit status {status}"


def recorded_status(
    observations: Iterable[Observation], own: Iterable[str], owned: Iterable[OwnedObservation]
) -> RecordedStatus | None:
    """The last bad end that is recorded in one of the sources `own`.

    None if there is none, or if a line of the source says that the status is an answer and no failure.
    """
    sources = set(own)
    found = [o for o in observations if COMMAND_STATUS_FIELD in o.fields and o.source in sources and o.proofs]
    known = [o for o in found if o.fields[COMMAND_STATUS_FIELD] not in (UNKNOWN_STATUS, RUNNING)]
    if not found:
        return None
    last = max(known or found, key=lambda o: (o.time is not None, o.time.timestamp() if o.time else 0.0, o.line))
    end = last.proofs[-1]
    answers = {(o.observation.source, p.line) for o in owned if o.observation.cause == HEALTHY for p in o.observation.proofs}
    if (end.source, end.line) in answers:
        return None
    status = last.fields[COMMAND_STATUS_FIELD]
    code = None if status in (UNKNOWN_STATUS, RUNNING) else int(status)
    return RecordedStatus(code, end.source, end.line, end.text, status == RUNNING)


def share_shown_by_output(by_output: float) -> float:
    """The probability that a recorded bad end is the one that the output shows. `by_output`: P(bad end) by the output alone.

    Either the output shows the end, or it shows none and the end was silent: Bayes' rule with SILENT_FAILURE_SHARE.
    """
    return by_output / (by_output + (1 - by_output) * SILENT_FAILURE_SHARE)
