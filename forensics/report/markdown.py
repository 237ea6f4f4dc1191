"""The report as Markdown for an issue or a ticket: log text only inside fences that it cannot close."""

import re
from collections.abc import Iterator

from forensics.model import Finding, Report
from forensics.report.phrases import VERDICTS, WHO, others, percent, place
from forensics.text import shown

PROOFS = 8


def render(report: Report) -> str:
    """The whole document, ending with a line end."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    first = report.causes[0]
    yield f"## {first.title} ({percent(first.probability)})"
    yield ""
    yield f"`{first.id}` {VERDICTS[report.verdict]}".rstrip()
    yield ""
    yield plain(first.summary)
    yield from _evidence(first)
    symptoms, rest = others(report)
    if symptoms:
        yield from ("", "### What followed from it", "")
        yield from (f"- `{f.id}`: {f.title} ({code(place(f))})" for f in symptoms)
    if rest:
        yield from ("", "### Also seen", "")
        yield from (f"- `{f.id}` {percent(f.probability)}: {f.title} ({code(place(f))})" for f in rest)
    if first.advice:
        yield from ("", "### What to do", "")
        for advice in first.advice:
            yield f"- [ ] **{WHO[advice.who]}**: {plain(advice.action)} {plain(advice.why)}"
            yield from (f"  - {code(command)}" for command in advice.commands)
            if advice.reference:
                yield f"  - <{advice.reference}>"
    if report.missing:
        yield from ("", "### Not known", "")
        yield from (f"- {plain(m.what)}: {plain(m.why)} {code(m.command)}" for m in report.missing)
    yield from ("", "<details><summary>What was read</summary>", "", "| source | lines | format | clock |", "|---|---|---|---|")
    yield from (f"| {cell(s.name)} | {s.lines} | {s.format} | {s.clock} |" for s in report.sources)
    yield from (
        "",
        *(f"- {plain((w.source or '') + ': ' if w.source else '')}{plain(w.message)}" for w in report.warnings),
        "",
        "</details>",
    )


def _evidence(finding: Finding) -> Iterator[str]:
    if not finding.proofs:
        return
    lines = [f"{shown(p.source)}:{p.line}: {shown(p.text, 500)}" for p in finding.proofs[:PROOFS]]
    fence = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
    yield from ("", "### Evidence", "", fence + "text", *lines, fence)


def plain(text: str) -> str:
    """Text in which nothing acts as Markdown or HTML, on one line."""
    return re.sub(r"([\\`*_\[\]<>|#~@!])", r"\\\1", " ".join(shown(text).split()))


def code(text: str) -> str:
    """Text as inline code that its own backticks cannot end."""
    text = " ".join(shown(text).split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") or len(fence) > 1 else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""


def cell(text: str) -> str:
    """Inline code for a table's cell."""
    return code(text.replace("|", "¦"))
