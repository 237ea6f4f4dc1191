"""Redact a Report, so that it may be given to others.

    without_secrets(report)          always, in every format: tokens, keys, passwords -> [REDACTED:github-token]
    without_names(report)            on demand: hosts, users, addresses, home paths, jobs -> host-1, user-2, ip-1, ...

A secret that is recognised once, by its name, is masked everywhere in the report.
"""

import re
from typing import Any, TypeVar

from msgspec.structs import replace

from forensics.model import EarlierAttempt, Finding, Line, MessageGroup, Notice, Proof, Report
from forensics.report.redaction.names import Names
from forensics.report.redaction.secrets import LONE_KEY_LINE, MASK, mask_text
from forensics.report.redaction.walk import changed, texts
from forensics.report.subject import split_outcome_line

__all__ = ["mask_secrets", "without_names", "without_secrets"]

T = TypeVar("T")
M = TypeVar("M", EarlierAttempt, MessageGroup, Notice)

SWEPT = 8  # characters of a secret that is also searched for in the rest of the report; shorter ones may be ordinary words
KEY_HEAD = "PRIVATE KEY-----"
KEY_LINE = re.compile(r"\A\S*+(?<=[A-Za-z0-9+/=]{4})\s*\Z")


def without_secrets(report: Report) -> Report:
    """`report` with every secret masked; the same object if there is none."""
    return mask_secrets(_without_key_blocks(report))


def mask_secrets(value: T) -> T:
    """Dataclasses of any kind with the secrets in their texts masked, each line for itself."""
    seen: dict[str, str] = {}
    clean = {text: mask_text(text, seen) for text in set(texts(value))}
    sweep = [s for s in sorted(seen, key=len, reverse=True) if len(s) >= SWEPT]
    if sweep:
        pattern = re.compile("|".join(map(re.escape, sweep)))
        clean = {k: pattern.sub(lambda m: seen[m[0]], v) for k, v in clean.items()}
    touched = {k: v for k, v in clean.items() if k != v}
    return changed(value, lambda text: touched.get(text, text)) if touched else value


def without_names(report: Report) -> tuple[Report, dict[str, str]]:
    """`report` with stand-ins for names of persons and places, and the key: stand-in -> name."""
    names = Names.of(report)
    return changed(report, names.hide) if names.pattern else report, names.key()


def _without_key_blocks(report: Report) -> Report:
    """Lines of a private key that are next to each other in the quotations of a log."""
    subject = report.subject
    shown = [split_outcome_line(line)[1] for line in subject.outcome_lines] if subject else []
    if not any(_is_key(text) for text in {*texts(report), *shown}):
        return report
    if subject and any(map(_is_key, shown)):
        subject = replace(subject, outcome_lines=tuple(map(_key_outcome_line, subject.outcome_lines)))
    return replace(
        report,
        causes=tuple(_finding(f) for f in report.causes),
        incidents=tuple(replace(i, findings=tuple(_finding(f) for f in i.findings)) for i in report.incidents),
        unusual=_messages(report.unusual),
        notices=_messages(report.notices),
        earlier_attempts=_messages(report.earlier_attempts),
        subject=subject,
    )


def _messages(given: tuple[M, ...]) -> tuple[M, ...]:
    """Quoted lines that are next to each other; all of them are tested if one belongs to a key."""
    return tuple(replace(m, text=_key_line(m.text)) for m in given) if any(_is_key(m.text) for m in given) else given


def _key_outcome_line(line: str) -> str:
    place, text = split_outcome_line(line)
    return f"{place}: {_key_line(text)}"


def _finding(finding: Finding) -> Finding:
    return replace(finding, evidence=tuple(_proof(p) for p in finding.evidence))


def _proof(proof: Proof) -> Proof:
    lines = [x.text for x in (*proof.before, *proof.after)] + [proof.text]
    if not any(map(_is_key, lines)):
        return proof

    def line(given: Any) -> Line:
        return Line(given.number, _key_line(given.text))

    around = {"before": tuple(map(line, proof.before)), "after": tuple(map(line, proof.after))}
    return replace(proof, text=_key_line(proof.text), matched="", **around)


def _is_key(text: str) -> bool:
    return KEY_HEAD in text or LONE_KEY_LINE.match(text) is not None


def _key_line(text: str) -> str:
    return MASK.format("key-material") if KEY_LINE.fullmatch(text) and KEY_HEAD not in text else text
