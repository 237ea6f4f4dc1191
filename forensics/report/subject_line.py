"""Say in one line what the verdict is about, how it ended and why it is said to.

SubjectSummary("job", "logs/slurm-4711.out", ..., "failed", "its last lines tell of it")
-> slurm-4711.out ended badly: its last lines tell of it

Where no end is shown - a log that may go on, the output of a query, a server that restarts what died - it claims none:
-> in slurm-4711.out something went wrong
"""

from collections.abc import Callable, Mapping

from msgspec import Struct

from forensics.core import lazy
from forensics.model import Report, SubjectSummary, shows_slow_down
from forensics.report.phrases import shows_no_crash

MAX_NAME_CHARS = 60  # so that it stays one line
PLACE_AND_TEXT = lazy.regex(r"(?s)(.*?:\d+): (.*)")
POD = lazy.regex(r"pod ([^\s,;]+)")
# outcome -> its words if the verdict is sure, and if it is not
OUTCOME_PHRASES: Mapping[str, tuple[str, str]] = {
    "failed": ("ended badly", "probably ended badly"),
    "stalled": ("hung", "probably hung"),
    "spoiled": ("went wrong", "probably went wrong"),
    "stopped": ("was stopped", "was probably stopped"),
    "ended_well": ("ended well", "ended well"),
    "going_on": ("is still going on", "is still going on"),
    "cut_off": ("breaks off", "breaks off"),
}
# outcome -> its words if no line shows that the subject itself ended
WORDS_WITHOUT_END: Mapping[str, str] = {
    "failed": "something {}went wrong",
    "stalled": "something {}hung",
    "stopped": "something was {}stopped",
}
SERVER_FORMATS = ("jupyter server", "classic notebook")  # such a server goes on after the end of a kernel
SERVED_CAUSES = "notebook."  # the family of what ends a kernel or its connection, and no server
OF_CELL = "its cell "  # so begins the reason that decision/decide.py gives for a notebook one of whose cells failed
BAD = ("failed", "stalled", "spoiled", "stopped")


class EndingSentence(Struct, frozen=True):
    """One sentence in four parts. `name` comes from a log or a file's name; `lead` and `said` are fixed words."""

    lead: str
    name: str
    said: str
    why: str

    def __str__(self) -> str:
        """The sentence: `job 4711 ended badly: its last lines tell of it`."""
        return self.written(str, str)

    def written(self, name: Callable[[str], str], why: Callable[[str], str]) -> str:
        """The sentence, with its name and its reason escaped as the format needs it."""
        parts = " ".join(filter(None, (self.lead, name(self.name), self.said)))
        return f"{parts}: {why(self.why)}" if self.why else parts


def ending_sentence(report: Report) -> EndingSentence | None:
    """How the subject ended; None if nothing was read, or if an earlier version wrote the report."""
    subject = report.subject
    if subject is None or not report.sources:
        return None
    sure, unsure = OUTCOME_PHRASES.get(subject.outcome, ("", ""))
    said = unsure if report.verdict == "undetermined" else sure
    if subject.kind == "machine":
        return _of_machine(subject, said, report.verdict == "undetermined")
    if _is_slow_down(report):
        slow = "probably became slow" if report.verdict == "undetermined" else "became slow"
        return EndingSentence(*_named(subject, report), slow, "its steps go on, and each takes longer than before")
    lead, name = _named(subject, report)
    unshown = WORDS_WITHOUT_END.get(subject.outcome)
    if unshown and (not subject.why or _is_of_server(subject, report)):
        doubt = "probably " if report.verdict == "undetermined" else ""
        return EndingSentence(
            " ".join(filter(None, ("in", lead.removeprefix("the notebook in")))),
            name,
            unshown.format(doubt),
            subject.why if subject.why.startswith(OF_CELL) else "",
        )
    return EndingSentence(lead, name, said, subject.why)


def split_outcome_line(line: str) -> tuple[str, str]:
    """Place and text of one of a subject's `outcome_lines`: `a.log:7: Killed` -> `a.log:7`, `Killed`."""
    found = PLACE_AND_TEXT.fullmatch(line)
    return (found[1], found[2]) if found else ("", line)


def _is_of_server(subject: SubjectSummary, report: Report) -> bool:
    """Is it the log of a server, which goes on after the end of what it serves? Of a notebook file, too, one cell ended."""
    formats, served = {s.name: s.format for s in report.sources}, report.causes[0].id.startswith(SERVED_CAUSES)
    return served or subject.kind == "notebook" or formats.get(subject.name, "") in SERVER_FORMATS


def _is_slow_down(report: Report) -> bool:
    """Is the first cause shown by steps that take longer, not by an end of them?"""
    first, subject = report.causes[0], report.subject
    return subject is not None and subject.outcome == "stalled" and shows_slow_down(first.facts, first.evidence)


def _of_machine(subject: SubjectSummary, said: str, unsure: bool) -> EndingSentence:
    """The sentence for a machine's log, which is about something on the machine: the machine itself need not have ended, and
    its log need not show how it went on."""
    if subject.outcome == "failed":
        return EndingSentence("on this machine something", "", "probably went wrong" if unsure else "went wrong", "")
    if subject.outcome in BAD:
        return EndingSentence("on this machine something", "", said, subject.why)
    if subject.outcome == "ended_well":
        return EndingSentence("nothing on this machine ended badly", "", "", "")
    return EndingSentence("this machine", "", said, subject.why)


def _named(subject: SubjectSummary, report: Report) -> tuple[str, str]:
    """The words before the subject's name, and the name; that of a file without its folders if it is unique."""
    names = [s.name for s in report.sources]
    if not subject.name:
        return f"the {subject.kind}", ""
    if subject.name not in names:
        return subject.kind, _cut(subject.name)
    pod = POD.match(report.causes[0].where) if not shows_no_crash(report) else None
    if pod:
        return "pod", _cut(pod[1])
    last = subject.name.rsplit("/", 1)[-1]
    alone = sum(n.rsplit("/", 1)[-1] == last for n in names) == 1
    return ("the notebook in" if subject.kind == "notebook" else ""), _cut(last if alone else subject.name)


def _cut(name: str) -> str:
    return name if len(name) <= MAX_NAME_CHARS else "…" + name[1 - MAX_NAME_CHARS :]
