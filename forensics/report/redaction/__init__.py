"""Redact a Report, so that it may be given to others.

    without_secrets(report)          always, in every format: tokens, keys, passwords -> [REDACTED:github-token]
    without_names(report)            on demand: hosts, users, addresses, home paths, jobs -> host-1, user-2, ip-1, ...

A secret that is recognised once, by its name, is masked everywhere in the report.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import TypeVar

from msgspec.structs import replace

from forensics.model import EarlierAttempt, Finding, Line, MessageGroup, Notice, Proof, QuotedLine, Report
from forensics.report.redaction.lines import KEY_HEAD, KEY_LINE, LineMasker, mask_lines, needs_neighbours
from forensics.report.redaction.secrets import LONE_KEY_LINE, MASK, mask_text, swept
from forensics.report.redaction.walk import changed, texts
from forensics.report.subjects import split_outcome_line

T = TypeVar("T")
M = TypeVar("M", EarlierAttempt, MessageGroup, Notice, QuotedLine)

MAX_MASKED_TEXTS = 1024  # chosen by hand: of some 110 texts of a report on a case, 90 are in those on other cases, too


def without_secrets(report: Report) -> Report:
    """`report` with every secret masked; the same object if there is none."""
    shown, seen = set(texts(report)), dict[str, str]()
    masked = _with_masked_lines(report, shown, seen)
    return _masked(masked, shown if masked is report else set(texts(masked)), seen)


def mask_secrets(value: T) -> T:
    """Dataclasses of any kind with the secrets in their texts masked, each line for itself."""
    return _masked(value, set(texts(value)), {})


def _masked(value: T, shown: AbstractSet[str], seen: dict[str, str]) -> T:
    """`value`, in which these texts are `shown`, with the secrets in them masked, each line for itself, and those of `seen`."""
    clean: dict[str, str] = {}
    for text in shown:
        clean[text], secrets = _masked_alone(text)
        for secret, mask in secrets:
            seen.setdefault(secret, mask)
    clean = {k: swept(v, seen) for k, v in clean.items()}
    touched = {k: v for k, v in clean.items() if k != v}
    return changed(value, lambda text: touched.get(text, text)) if touched else value


@lru_cache(maxsize=MAX_MASKED_TEXTS)
def _masked_alone(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """`text` with its secrets masked, and each of these with its mask."""
    found: dict[str, str] = {}
    return mask_text(text, found), tuple(found.items())


def without_names(report: Report, folder: bool = True) -> tuple[Report, dict[str, str]]:
    """`report` with stand-ins for names of persons and places, and the key: stand-in -> name. `folder`: also for the case's."""
    from forensics.report.redaction.names import Names

    names = Names.of(report, folder)
    return changed(report, names.hide) if names.pattern else report, names.key()


def _with_masked_lines(report: Report, texts_of_it: AbstractSet[str], seen: dict[str, str]) -> Report:
    """Lines that are next to each other in the quotations of a log: one may tell what the other shows. Adds to `seen`."""
    subject = report.subject
    shown = [split_outcome_line(line)[1] for line in subject.outcome_lines] if subject else []
    if not any(map(needs_neighbours, {*texts_of_it, *shown})):
        return report
    if subject and shown:
        subject = replace(subject, outcome_lines=tuple(_outcome_lines(subject.outcome_lines, seen)))
    made = replace(
        report,
        causes=_findings(report.causes, seen),
        incidents=tuple(replace(i, findings=_findings(i.findings, seen)) for i in report.incidents),
        unusual=_messages(report.unusual, seen),
        last_lines=_messages(report.last_lines, seen),
        around=_messages(report.around, seen),
        notices=_messages(report.notices, seen),
        earlier_attempts=_messages(report.earlier_attempts, seen),
        subject=subject,
        baseline=replace(told, messages=_messages(told.messages, seen)) if (told := report.baseline) else None,
    )
    return made if made != report else report


def _messages(given: tuple[M, ...], seen: dict[str, str]) -> tuple[M, ...]:
    """Quoted lines that are next to each other."""
    return tuple(replace(m, text=text) for m, text in zip(given, _clean([m.text for m in given], seen), strict=True))


def _outcome_lines(lines: tuple[str, ...], seen: dict[str, str]) -> Iterator[str]:
    places, shown = zip(*map(split_outcome_line, lines), strict=True)
    yield from (f"{place}: {text}" for place, text in zip(places, _clean(list(shown), seen), strict=True))


def _findings(given: tuple[Finding, ...], seen: dict[str, str]) -> tuple[Finding, ...]:
    return tuple(replace(f, evidence=tuple(_proof(p, seen) for p in f.evidence)) for f in given)


def _proof(proof: Proof, seen: dict[str, str]) -> Proof:
    lines = [*(x.text for x in proof.before), proof.text, *(x.text for x in proof.after)]
    clean = _clean(lines, seen)
    if clean == lines:
        return proof
    at = len(proof.before)
    before = tuple(Line(x.number, text) for x, text in zip(proof.before, clean[:at], strict=True))
    after = tuple(Line(x.number, text) for x, text in zip(proof.after, clean[at + 1 :], strict=True))
    return replace(proof, before=before, text=clean[at], after=after, matched=proof.matched if clean[at] == proof.text else "")


def _clean(lines: list[str], seen: dict[str, str]) -> list[str]:
    """Lines without secrets that only their neighbours tell; those of a key also where its first line is not among them.
    They are added to `seen`."""
    if not any(map(needs_neighbours, lines)):
        return lines
    key = any(KEY_HEAD in text or LONE_KEY_LINE.match(text) for text in lines)
    return [_key_line(text) if key else text for text in mask_lines(lines, seen)]


def _key_line(text: str) -> str:
    return MASK.format("key-material") if KEY_LINE.fullmatch(text) and KEY_HEAD not in text else text
