"""The report as plain text: the answer first, then its proof, what followed, what to do, what is not known."""

import textwrap
from collections.abc import Iterator

from forensics.model import Finding, Proof, Report
from forensics.report.phrases import VERDICTS, WHO, links_to, others, percent, place
from forensics.text import shown

WIDTH = 110
LINE_CHARS = 220
PROOFS = 6


def render(report: Report) -> str:
    """The whole text, ending with a line end."""
    return "\n".join(line.rstrip() for line in _lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    first = report.causes[0]
    head = f"{first.id}   {first.title}"
    yield f"{head}{percent(first.probability):>{max(6, WIDTH - len(head))}}"
    if VERDICTS[report.verdict]:
        yield VERDICTS[report.verdict]
    yield from textwrap.wrap(first.summary, WIDTH)
    yield from _evidence(first)
    yield from _followed(report)
    yield from _remedies(first)
    yield from _unknown(report)
    yield from _read(report)


def _evidence(finding: Finding) -> Iterator[str]:
    if not finding.proofs:
        return
    yield ""
    yield "evidence"
    told: set[tuple[str, int]] = set()
    for i, proof in enumerate(finding.proofs[:PROOFS]):
        if (proof.source, proof.line) in told:
            continue
        context = i == 0
        for line in proof.before if context else ():
            yield f"      {line.number:>6}  {shown(line.text, LINE_CHARS)}"
        yield f"  {_where(proof)}  {proof.weight}"
        yield f"    > {proof.line:>6}  {shown(proof.text, LINE_CHARS)}"
        told.add((proof.source, proof.line))
        for line in proof.after if context else ():
            yield f"      {line.number:>6}  {shown(line.text, LINE_CHARS)}"
    if len(finding.proofs) > PROOFS:
        yield f"  and {len(finding.proofs) - PROOFS} more lines (--format json has all)"


def _where(proof: Proof) -> str:
    return f"{shown(proof.source)}:{proof.line}"


def _followed(report: Report) -> Iterator[str]:
    symptoms, rest = others(report)
    if symptoms:
        yield ""
        yield "what followed from it"
        yield from (f"  {f.id}: {f.title} ({shown(place(f))})" for f in symptoms)
        yield from (f"  linked: {shown(link)}" for link in links_to(report)[:3])
    if rest:
        yield ""
        yield "also possible" if report.causes[0].probability < 0.8 else "also seen"
        yield from (f"  {f.id} {percent(f.probability)}: {f.title} ({shown(place(f))})" for f in rest)


def _remedies(finding: Finding) -> Iterator[str]:
    if not finding.advice:
        return
    yield ""
    yield "what to do"
    for advice in finding.advice:
        yield from textwrap.wrap(
            f"{advice.rank} {WHO[advice.who]:<5}  {advice.action}", WIDTH, initial_indent="  ", subsequent_indent=" " * 11
        )
        yield from textwrap.wrap(advice.why, WIDTH, initial_indent=" " * 11, subsequent_indent=" " * 11)
        yield from (f"{' ' * 11}$ {command}" for command in advice.commands)
        if advice.reference:
            yield f"{' ' * 11}{advice.reference}"


def _unknown(report: Report) -> Iterator[str]:
    if not report.missing:
        return
    yield ""
    yield "not known"
    for unknown in report.missing:
        yield from textwrap.wrap(f"{unknown.what}: {unknown.why}", WIDTH, initial_indent="  ", subsequent_indent="    ")
        yield f"    $ {unknown.command}"


def _read(report: Report) -> Iterator[str]:
    yield ""
    yield "read"
    for s in report.sources:
        yield f"  {shown(s.name)}: {s.lines} lines, {s.format}, clock {s.clock}"
    for w in report.warnings:
        where = f"{shown(w.source)}{f':{w.line}' if w.line else ''}: " if w.source else ""
        yield f"  note: {where}{shown(w.message)}"
