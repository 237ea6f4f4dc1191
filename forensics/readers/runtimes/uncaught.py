"""Reads the error that ended a program of R, Julia, Java, Node, Octave or Erlang. What their runtimes print last only says that
it ended.

Error in read_layer(path) :                 the head
  Opening layer failed.                     what is told
Calls: main -> load -> read_layer
Execution halted                            the end

R: src/main/errors.c (verrorcall_dflt), rlang's cnd-entrace. Julia: base/errorshow.jl, stdlib Test. Java: OpenJDK's
Throwable.printStackTrace: the innermost cause comes last, and a class that could not be initialised failed above. Node:
src/node_errors.cc, lib/events.js. Octave: error.cc. Erlang/OTP: proc_lib's crash reports, init, erl_crash.dump.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from msgspec import Struct

from forensics.data_files.named_parts import first_row, patterns_of
from forensics.model import Line, Region, Trigger, Value, Weight
from forensics.readers.base import Record
from forensics.readers.lanes.line_classes import is_error_record

UNFOLLOWS_ERROR = "uncaught"
TRIGGER = Trigger(UNFOLLOWS_ERROR, of="runtimes", before=250, after=120)
PATTERNS = patterns_of("runtimes")
RAISED, FOLLOWS, UNREADY = "raised", "follows", "unready"
OUTCOMES = (RAISED, FOLLOWS, UNREADY, "full", "busy", "unreached", "missing", "corrupt")
WORDS_OF_ERRORS = "uncaught errors"  # the group of patterns
MAX_LINES_OF_ERROR = 12  # chosen by hand: between the head of an error and its stack or its end
MAX_NODE_LINES = 60  # chosen by hand: a stack of Node has ten frames, and the properties of the error stand below
MAX_CHARS_OF_ERROR = 500  # as of a Python traceback

R_UNOPENED = "cannot open the connection"  # which file, and why, stands in the warning that is printed below the calls
JULIA_TESTS_END = "Some tests did not pass"
JAVA_UNREADY = "Could not initialize class "
JAVA_FAILED_CLASS = "ExceptionInInitializerError"
OCTAVE_FRAMES = "error: called from"
ERLANG_OF_APPLICATION = "application_master:init"


class Told(Struct, frozen=True):
    """An error: the line that tells it, the lines of its whole report, and what is said. `told_to`: see Record."""

    line: Line
    first: int
    last: int
    message: str
    exc_type: str = ""
    weight: Weight = "strong"
    also: tuple[Line, ...] = ()
    told_to: int = 0
    place: tuple[str, int] | None = None


def read(region: Region) -> Record | None:
    """The error whose end, or whose innermost cause, the region's line tells; None where it is not in the lines around."""
    if PATTERNS.java_cause.match(region.text):
        return _java(region)
    told = next(filter(None, (form(region) for form in (_r, _julia, _node, _octave, _erlang_report, _erlang_end))), None)
    return _record(told) if told else None


def _record(told: Told, outcome: str = "") -> Record:
    row = first_row(WORDS_OF_ERRORS, f"{told.exc_type}: {told.message}")
    outcome = outcome or (row.name if row else RAISED)
    fields: dict[str, Value] = {"exc_message": told.message.strip()[:MAX_CHARS_OF_ERROR]} if told.message.strip() else {}
    if told.exc_type:
        fields["exc_type"] = told.exc_type
    if told.place:
        fields |= {"file": told.place[0], "line_no": told.place[1]}
    quote = (told.line, *told.also)
    return Record(
        UNFOLLOWS_ERROR,
        told.first,
        told.last,
        outcome,
        told.weight,
        quote,
        fields,
        lends=outcome == RAISED,
        told_to=told.told_to,
        strengthens=outcome != FOLLOWS,
    )


def _r(region: Region) -> Told | None:
    """The last error above the end of Rscript: its message stands behind the call, or in the lines below it. The head of the one
    that has calls may stand behind a bar of progress, in one line with it."""
    if not region.text.strip().endswith("Execution halted"):
        return None
    above = region.lines_before()
    calls = next((i for i in range(len(above) - 1, -1, -1) if above[i].text.startswith("Calls: ")), len(above))
    heads = [i for i in range(max(0, calls - MAX_LINES_OF_ERROR), calls) if PATTERNS.r_head.match(above[i].text)]
    if not heads and calls == len(above):
        heads = [i for i, line in enumerate(above) if PATTERNS.r_head.match(line.text)]
    at = heads[-1] if heads else calls - 1
    if at < 0:
        return None
    found = PATTERNS.r_head.match(above[at].text)
    below = [x for x in takewhile(lambda x: not PATTERNS.r_beside.match(x.text), above[at + bool(found) :]) if x.text.strip()]
    message = " ".join([found["said"] if found else "", *(x.text.strip() for x in below[:MAX_LINES_OF_ERROR])])
    line = above[at] if not below or (found and found["said"]) else below[0]
    if R_UNOPENED in message and (warned := [x for x in above[calls + 1 :] if x.text.strip()]):
        line, message = warned[-1], warned[-1].text
    head = (above[at],) if line.number != above[at].number else ()
    return Told(line, above[at].number, region.number, message, also=(*head, region.line))


def _julia(region: Region) -> Told | None:
    """The error at the top level; where it only counts tests, the first test that failed above."""
    head = PATTERNS.julia_head.match(region.text)
    if head is None:
        return None
    if head["said"].startswith(JULIA_TESTS_END):
        return _julia_test(region)
    below = region.lines_after()[:MAX_LINES_OF_ERROR]
    inner = next(((x, found["said"]) for x in below if (found := PATTERNS.julia_inner.match(x.text))), None)
    line, said = inner if inner and inner[1] else (region.line, head["said"])
    return Told(line, region.number, max(line.number, region.number), said)


def _julia_test(region: Region) -> Told | None:
    above = region.lines_before()
    at, head = next(((i, found) for i, x in enumerate(above) if (found := PATTERNS.julia_test.search(x.text))), (0, None))
    if head is None:
        return None
    rows = [x for x in above[at + 1 : at + 1 + MAX_LINES_OF_ERROR] if x.text.strip() and "outside of a @test" not in x.text]
    return Told(
        line=rows[0] if rows else above[at],
        first=above[at].number,
        last=region.number,
        message=(rows[0] if rows else above[at]).text,
        also=(above[at], region.line),
        told_to=region.number - 1,
        place=(head["file"], int(head["line_no"])) if "Error During Test" in head[0] else None,  # else it is the test's own
    )


def _node(region: Region) -> Told | None:
    """The error with a stack, above the line of Node's version or below the line that throws it."""
    if PATTERNS.node_version.match(region.text):
        rows, last = region.lines_before()[-MAX_NODE_LINES:], region.number
    elif PATTERNS.node_thrown.match(region.text):
        rows, last = region.lines_after()[:MAX_NODE_LINES], 0
        if any(PATTERNS.node_version.match(x.text) for x in rows):
            return None  # read from there
    else:
        return None
    heads = [(i, found) for i, x in enumerate(rows) if (found := PATTERNS.node_head.match(x.text))]
    heads = [
        (i, found) for i, found in heads if any(PATTERNS.node_frame.match(x.text) for x in rows[i + 1 : i + MAX_LINES_OF_ERROR])
    ]
    if not heads:
        return None
    i, found = heads[-1] if last else heads[0]
    end = last or rows[i].number + len(list(takewhile(lambda x: PATTERNS.node_frame.match(x.text), rows[i + 1 :])))
    return Told(rows[i], rows[i].number, end, found["said"] or "", found["exc_type"])


def _octave(region: Region) -> Told | None:
    """The line above the one that heads the functions that were called."""
    above = region.lines_before()
    found = PATTERNS.octave_head.match(above[-1].text) if above and region.text.startswith(OCTAVE_FRAMES) else None
    return Told(above[-1], above[-1].number, region.number, found["said"]) if found else None


def _java(region: Region) -> Record | None:
    """The innermost cause with a message of its own. Each trace is read once, at its first cause; one that no thread ended with,
    and no record calls an error, is left to the messages in it: the program may have caught it."""
    above = region.lines_before()
    frames = list(takewhile(lambda x: PATTERNS.java_frame.match(x.text) or PATTERNS.java_cause.match(x.text), reversed(above)))
    if any(PATTERNS.java_cause.match(x.text) for x in frames):
        return None
    head = next(
        (x for x in reversed(above[: len(above) - len(frames)][-MAX_LINES_OF_ERROR:]) if PATTERNS.java_head.search(x.text)), None
    )
    chain = [region.line, *_causes(region.lines_after())]
    told = [(x, found) for x in chain if (found := PATTERNS.java_cause.match(x.text))]
    own = [(x, found) for x, found in told if (found["exc_message"] or "null").strip() != "null"]
    line, found = (own or told)[-1]
    first = head.number if head else region.number
    message, weight = found["exc_message"] or "", _java_weight(head, above)
    inner = Told(line, first, chain[-1].number, message, found["exc_type"], weight, (head,) if head else ())
    if JAVA_UNREADY in message and any(JAVA_FAILED_CLASS in x.text for x in above):
        return _record(inner, FOLLOWS)
    unready = any(word in x.text for x in (*inner.also, *chain) for word in (JAVA_UNREADY, JAVA_FAILED_CLASS))
    return _record(inner, UNREADY if unready else "") if unready or weight == "strong" else None


def _causes(below: Sequence[Line]) -> Iterator[Line]:
    """The further causes of a trace: between a cause and its frames may stand more of its message, behind them not."""
    between = 0
    for line in below:
        if PATTERNS.java_cause.match(line.text):
            yield line
            between = 0
        elif PATTERNS.java_frame.match(line.text):
            between = MAX_LINES_OF_ERROR
        elif line.text.strip():
            between += 1
        if between > MAX_LINES_OF_ERROR:
            return


def _java_weight(head: Line | None, above: Sequence[Line]) -> Weight:
    """Does a thread end with it, or does the record itself call it an error?"""
    near = [x for x in above if head and head.number - 3 <= x.number <= head.number]
    ends = head is not None and head.text.startswith("Exception in thread ")
    severe = any(is_error_record(x.text) for x in near)
    return "strong" if ends or severe else "hint"


def _erlang_report(region: Region) -> Told | None:
    """The reason in a crash report; a process that is no application is restarted by its supervisor."""
    found = PATTERNS.erlang_report.match(region.text)
    if found is None:
        return None
    below = region.lines_after()[:MAX_LINES_OF_ERROR]
    rows = list(takewhile(lambda x: not PATTERNS.erlang_below.match(x.text), below))
    ends = any(ERLANG_OF_APPLICATION in x.text for x in below[len(rows) : len(rows) + 2]) or region.text.startswith("escript")
    whole = " ".join([found["said"], *(x.text.strip() for x in rows)])
    texts = [x for x in (region.line, *rows) if PATTERNS.erlang_text.search(x.text)]
    last = rows[-1].number if rows else region.number
    line = texts[0] if texts else region.line
    return Told(line, region.number, last, _erlang_text(whole), weight="strong" if ends else "hint")


def _erlang_end(region: Region) -> Told | None:
    found = PATTERNS.erlang_end.search(region.text)
    return Told(region.line, region.number, region.number, _erlang_text(found["said"])) if found else None


def _erlang_text(term: str) -> str:
    """The text in a term, if it has one."""
    found = PATTERNS.erlang_text.search(term)
    return found["said"] if found else term
