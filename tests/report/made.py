"""Reports made for the tests: one with a given text wherever text of a log can stand, and a big one."""

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from forensics.model import (
    Adjustment,
    Advice,
    Curve,
    Difference,
    EarlierAttempt,
    Finding,
    IncidentCause,
    IncidentSummary,
    Line,
    MessageGroup,
    Notice,
    OpenQuestion,
    Possible,
    ProcessMemory,
    Proof,
    QuotedLine,
    Report,
    Setting,
    SourceSummary,
    SubjectSummary,
    TimelineEntry,
    Warning,
)
from forensics.model.answers import Change
from forensics.model.dumps import Call, Frame
from forensics.model.ranks import GroupRow, LastCalls, OddRank, ProofPlace, RankPicture, RankRow

START = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def proof(text: str, line: int = 7, source: str = "logs/run/train.log", seconds: float = 0.0, link: str | None = None) -> Proof:
    return Proof(
        source,
        line,
        text,
        "code.exception/some",
        "proof",
        before=(Line(max(1, line - 1), text),),
        after=(Line(line + 1, text),),
        time=START + timedelta(seconds=seconds),
        time_uncertainty_s=1.0,
        linked_by=link,
    )


def report(text: str = "RuntimeError: it broke", case: str | None = None) -> Report:
    """A report of two causes in two sources, with `text` wherever something from a log can stand."""
    root = Finding(
        "host_memory.oom_cgroup", "A memory limit was hit", "root", 0.93, f"It was {text}.", (proof(text), proof(text, 9)),
        {"task": text, "limit_bytes": 1 << 30},
        (Advice(1, "user", f"Raise the limit of {text}", f"As {text} said.", (f"echo {text}", "true"), "https://docs.example.org/x"),
         Advice(2, "admin", "Ask", "", (), None)),
        (Adjustment("proof", 1.0, 1.2, "logs/run/train.log", 7), Adjustment("text", -2.0, -0.5)), f"rank 3 on {text}", (0, 3),
    )  # fmt: skip
    symptom = Finding(
        "notebook.kernel_died",
        "The notebook kernel died",
        "symptom",
        0.05,
        text,
        (proof(text, 20, "logs/run/jupyter.log", 2.5, f"process name {text}"),),
        {},
        (),
    )
    return Report(
        tool={"name": "forensics", "version": "1", "signatures": "0" * 16, "model": "m"},
        case=text if case is None else case,
        verdict="crash",
        causes=(root, symptom),
        incidents=(incident(1, root, text), incident(2, symptom, text)),
        timeline=(
            TimelineEntry(START, "wall", "logs/run/train.log", 7, "code.exception/some", root.id, "root"),
            TimelineEntry(START + timedelta(seconds=2.5), "wall", "logs/run/jupyter.log", 20, "n/k", symptom.id, "symptom"),
            TimelineEntry(START + timedelta(seconds=3), "wall", "logs/run/jupyter.log", 21, "none.healthy/x", "none.healthy", "noise"),
        ),
        sources=(
            SourceSummary("logs/run/train.log", "plain", None, 100, 30, 2, START, None, "wall", (text,)),
            SourceSummary("logs/run/jupyter.log", "plain", "gzip", 100, 30, 1, None, None, "none"),
            SourceSummary(f"logs/run/{text}", "plain", None, 1, 1, 0, None, None, "none"),
        ),
        missing=(OpenQuestion("which cell", f"It tells {text}.", f"grep {text} x.log"),),
        possible=(
            Possible(("process.segfault",), "It dies at once", ("ls",), "Run it in a debugger"),
            Possible(("process.stalled",), "The log stands", (), "Take the stacks", "x.log", 3, "it ended there"),
        ),
        warnings=(Warning("zone", text, "logs/run/train.log", 3), Warning("zone", text)),
        environment=(Setting("GPU", text, "logs/run/train.log", 2),),
        curves=(
            Curve("rss", "memory", "B", "logs/run/train.log", None, tuple((i, None if i == 5 else i * 1e8) for i in range(1, 40))),
        ),
        processes=(ProcessMemory("logs/run/train.log", 5, 4711, text, 5 << 30, True), ProcessMemory("logs/run/train.log", 6, 1, "sh", 1, False)),
        ranks=RankPicture(
            2,
            (RankRow(0, "waits", text, Call(3, text, text, 1, True, False, None, ()), Frame(text, 3, text)), RankRow(1, "silent")),
            ((0, 1),),
            (OddRank(1, "no_dump", text, text, text, None, Frame(text, 3, text), (0,), proofs=(ProofPlace("fr/rank_0", 3, text),)),),
            (1,),
            last=(LastCalls(1, 0, (text,), (text, text)),),
            matrix=(GroupRow("0", text, (0, 1), {0: 3}, {0: 3}),),
        ),
        unusual=(
            MessageGroup("logs/run/train.log", 9, "logs/run/train.log", 9, 1, text, True),
            MessageGroup("logs/run/train.log", 11, "logs/run/train.log", 20, 3, text, False),
        ),
        last_lines=(MessageGroup("logs/run/train.log", 30, "logs/run/train.log", 30, 2, text, True),),
        baseline=Difference(
            ("good.log",), ("logs/run/train.log",), 30, 4, (MessageGroup("logs/run/train.log", 12, "logs/run/train.log", 12, 1, text, True),), 0,
            (Warning("unlike", text),), (Change(text, text, text, 1, 6),),
        ),
        around=(QuotedLine(3, text), *(QuotedLine(n, text, True) for n in (4, 5, 6)), QuotedLine(7, text), QuotedLine(8, text)),
        subject=SubjectSummary(
            "job", text, 2, 2, "failed", "nothing shows that it went on", (f"logs/run/train.log:7: {text}",), 0.95
        ),
        earlier_attempts=(
            EarlierAttempt(1, "logs/run/train.log", 1, 5, "numerics.nan", "The numbers became NaN", 4, text, {"op": text}, False, (Change(text, text, text, 1, 6),), (text,)),
        ),
        notices=(
            Notice("logs/run/train.log", 3, text, "network.link_down", "mine", "it was not held for the cause"),
            Notice("logs/run/jupyter.log", 4, text, None, "others", f"not this job's: unit {text} is another one"),
        ),
    )  # fmt: skip


def incident(number: int, cause: Finding, subject: str, minutes: float = 0.0, events: int = 3) -> IncidentSummary:
    """An incident of one cause; told in full unless it is the first."""
    time = START + timedelta(minutes=minutes)
    return IncidentSummary(
        number,
        time,
        time + timedelta(seconds=3),
        (cause.id,),
        events,
        (subject,),
        (subject,),
        time,
        "crash",
        subject,
        (IncidentCause(cause.id, cause.title, cause.role, cause.probability),),
        () if number == 1 else (cause,),
    )


def many(incidents: int = 200, every_min: float = 7.0) -> Report:
    """A report of jobs that hit their limit one after the other: job 4000, job 4001, ..."""
    made = report("the limit")
    told = tuple(incident(i + 1, made.causes[0], f"job {4000 + i}", i * every_min, 1) for i in range(incidents))
    moments = tuple(
        TimelineEntry(i.time, "wall", "logs/run/train.log", n + 1, "a/b", i.causes[0], "root") for n, i in enumerate(told[:500])
    )
    return replace(made, incidents=told, timeline=moments)


def big(incidents: int = 200) -> Report:
    """A report of many incidents with as many moments as a report holds, and wordy evidence."""
    made = report("the message of a log line that is about as long as such lines are: " + "word " * 20, case="big")
    moments = tuple(
        TimelineEntry(
            START + timedelta(seconds=i * 60), "wall", f"logs/node{i % 40}/train.log", i + 1, "a/b", made.causes[0].id, "root"
        )
        for i in range(max(500, 2 * incidents))
    )
    return replace(
        made,
        incidents=tuple(
            IncidentSummary(i + 1, START, START + timedelta(seconds=60), (made.causes[0].id,), 2, (f"node{i}",), ("a by b",) * 20)
            for i in range(incidents)
        ),
        timeline=moments,
        sources=tuple(replace(made.sources[0], name=f"logs/node{i}/train.log") for i in range(incidents)),
        warnings=tuple(Warning("zone", f"message {i}", f"logs/node{i}/train.log") for i in range(incidents)),
    )
