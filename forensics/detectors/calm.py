"""What a program printed before its trouble, and again behind it, shows that it went on.

    INFO:prefetch:prefetched 6 of 24 shards
    ERROR:prefetch:shard 00017: attempt 1 of 3
    Traceback (most recent call last):
    ...
    ConnectionResetError: [Errno 104] Connection reset by peer
    INFO:prefetch:prefetched 12 of 24 shards

Whose lines these are and whether they could have been held back is `work.resumed`'s to tell.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from forensics import lazy
from forensics.database import HEALTHY
from forensics.model import Observation, Scan
from forensics.work import AT_WORK, LOGGED, WARNED, alarmed, finds_way, form, goes_on, repeated, resumed, shows_work, works_on

Test = Callable[[str], bool]

RAISED = lazy.regex(r"\b[A-Za-z]\w*(?:Error|Exception)(?:: |\s*$)")
FRAME = lazy.regex(r"\bFile \"|\.py:\d+\b|^\s{2,}\w[\w.]{0,60}(?:\(| = )|^\s*\^+\s*$")
LOSS = lazy.regex(r"(?i)loss\w{0,12}['\"]?[^\w\n]{0,4}\d")
NAN = lazy.regex(r"(?i)(?<![\w/])[-+]?(?:nan|inf)(?![\w/])")
INFO = lazy.regex(r"\bINFO\b|^\W?I\b")
ENDS = ("notebook.kernel_died", "process.segfault", "process.abort")
INFORMS_EARLY = 80  # characters in which a record tells its level


def is_calm(scan: Scan, events: Sequence[Observation], ends: Mapping[int, str], shown: Test = bool) -> bool:
    """Did the program go on as before behind the last trouble that the log tells, up to its end? Warnings are none, nor is what
    it told in front of all trouble, too, for information. `shown`: what one of the lines behind it must hold."""
    told = [e for e in events if e.cause not in (None, HEALTHY)]
    first = min((e.line for e in told), default=0)
    noise = {line.number for h in scan.hits if h.cause == HEALTHY and h.weight == "hint" for line in h.lines}
    routine = {form(text) for n, text in ends.items() if n < first and INFO.search(text[:INFORMS_EARLY])}
    loud = {n: text for n, text in ends.items() if n not in noise and _is_loud(text)}
    loud = {n: text for n, text in loud.items() if not WARNED.match(text) and form(text) not in routine}
    last = max([*loud, *map(end_of, told)], default=0)
    if last and shown is bool and not scan.regions.get("traceback") and not LOGGED.match(ends.get(last, "")):
        later = [text for n, text in ends.items() if n > last and not tells_way(text)]  # on the stream of what it told before
        return works_on(later) or _resumes(ends, last, shown)
    return bool(last) and _resumes(ends, last, shown)


def _resumes(ends: Mapping[int, str], last: int, shown: Test) -> bool:
    return resumed(ends, last) >= AT_WORK and any(map(shown, repeated(ends, last)))


def _is_loud(text: str) -> bool:
    return (alarmed(text) or (FRAME.search(text) is not None and not LOGGED.match(text))) and not tells_way(text)


def left_behind(events: Sequence[Observation], ends: Mapping[int, str], families: tuple[str, ...]) -> list[Observation]:
    """`events`, those of `families` as hints behind which the program went on as before, until another of these ended it."""
    loud = [e for e in events if e.weight != "hint" and str(e.cause).startswith((*families, *ENDS))]
    return [
        replace(e, weight="hint") if e in loud and str(e.cause).startswith(families) and _is_left_behind(e, ends, loud) else e
        for e in events
    ]


def _is_left_behind(event: Observation, ends: Mapping[int, str], loud: Sequence[Observation]) -> bool:
    if str(event.cause).startswith("numerics."):
        return is_finite_again(event, ends)
    others = any(e.cause != event.cause and end_of(e) > end_of(event) for e in loud)
    return others and resumed(ends, end_of(event)) >= AT_WORK


def is_finite_again(event: Observation, ends: Mapping[int, str]) -> bool:
    """Are the losses behind `event`, which told of one that is none, numbers up to the end?"""
    later = [text for n, text in ends.items() if n > end_of(event)]
    return sum(bool(LOSS.search(text)) for text in later) >= AT_WORK and not any(NAN.search(text) for text in later)


def end_of(event: Observation) -> int:
    """The last line of `event`; of one traceback that of its exception, as what follows may or may not be its message."""
    if event.kind == "traceback" and event.count == 1 and event.proofs:
        return max(event.proofs[0].line, event.line)
    return max(event.last_line, event.line)


def is_caught(event: Observation, ends: Mapping[int, str], traced: Sequence[tuple[int, int]]) -> bool:
    """Did the program tell `event` in words of its own, without a traceback, and then show that it works?"""
    raw = any(
        RAISED.match(p.text) or LOGGED.match(p.text) or any(first <= p.line <= last for first, last in traced)
        for p in event.proofs
    )
    later = [text for n, text in sorted(ends.items()) if n > end_of(event)]
    until = next((i for i, text in enumerate(later) if alarmed(text)), len(later))
    return bool(event.proofs) and not raw and sum(map(shows_work, later[:until])) >= AT_WORK


def tells_way(text: str) -> bool:
    """Does a line, other than that of an exception alone, tell a way around?"""
    return finds_way(text) or (alarmed(text) and goes_on(text) and not RAISED.match(text))
