"""A page for each cause: what it means, how it looks, what explains it, what to do, and how often its messages were right.

signatures/host_memory/oom_cgroup.yaml and rates.csv -> causes/host_memory.oom_cgroup.md
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from forensics.database import HEALTHY, Cause, Database, Signature, builtin_folder, read_rows
from forensics.explain import explain
from scripts.docs.codes import slug
from scripts.docs.markdown import block, code, page, plain, table

EXAMPLES_OF_A_SIGNATURE = 2
Causes = Mapping[str, Cause]
Rates = Mapping[str, Mapping[str, str]]


def cause_pages(causes: Causes, database: Database) -> Iterator[tuple[str, str]]:
    """(path, Markdown) of each cause, and of the list of all. `causes`: with their examples, which a compiled database lacks."""
    rates = _rates()
    for cause in causes.values():
        yield f"causes/{cause.id}.md", _page(cause, causes, database, rates)
    yield "causes/index.md", _index(causes)


def _rates() -> Rates:
    with (builtin_folder() / "rates.csv").open(encoding="utf-8", newline="") as file:
        return {row["signature"]: row for row in csv.DictReader(file)}


def _index(causes: Causes) -> str:
    families: dict[str, list[Cause]] = defaultdict(list)
    for cause in causes.values():
        families[cause.id.split(".")[0]].append(cause)
    parts = [
        f"{len(causes)} causes are known, with {sum(len(c.signatures) for c in causes.values()):,} messages. "
        "Search this site for the words of a message, or ask `forensics explain 'the message'`."
    ]
    for family, members in sorted(families.items()):
        rows = [(f"[{c.id}]({c.id}.md)", plain(c.title), plain(c.means)) for c in members]
        parts.append(f"## {family}\n\n" + table(("cause", "in a sentence", "means"), rows))
    return page("All causes", *parts)


def _page(cause: Cause, causes: Causes, database: Database, rates: Rates) -> str:
    return page(
        plain(cause.title),
        f"Cause {code(cause.id)}. {plain(cause.means)}",
        _words(cause),
        _looks(cause),
        _links(
            "What explains it", "Where one of these is shown, too, this is its consequence.", causes, _explained_by(cause, causes)
        ),
        _links("What it explains", "Where this is shown, these are its consequences.", causes, _explains(cause, causes)),
        _remedies(cause, database),
        _missing(cause),
        _codes(cause),
        _measured(cause, rates),
    )


def _words(cause: Cause) -> str:
    terms = [row["term"] for row in read_rows("words") if cause.id in row["causes"].split()]
    return f"People call it: {plain(', '.join(terms))}." if terms else ""


def _looks(cause: Cause) -> str:
    if not cause.signatures:
        return ""
    said = "it did not end, or ended well" if cause.id == HEALTHY else "an ending"
    parts = [
        "## How it looks",
        f"Each of these lines speaks for it. Names and numbers are invented; a *proof* alone shows {said}, a *strong* "
        "line nearly always does, a *hint* needs others beside it.",
    ]
    for signature in sorted(cause.signatures, key=lambda s: ("proof", "strong", "hint").index(s.weight)):
        lines = [e.text for e in signature.match[:EXAMPLES_OF_A_SIGNATURE]]
        parts.append(f"**{signature.name}**, {signature.weight}{_known_from(signature)}\n\n{block(lines)}")
    return "\n\n".join(parts)


def _known_from(signature: Signature) -> str:
    since = f", since {signature.since}" if signature.since else ""
    return plain(f"{since}; known from: {signature.source}" if signature.source else since)


def _explained_by(cause: Cause, causes: Causes) -> Iterator[str]:
    yield from (c.id for c in causes.values() if c.leads_to(cause.id))


def _explains(cause: Cause, causes: Causes) -> Iterator[str]:
    yield from (name for name in causes if cause.leads_to(name))


def _links(title: str, means: str, causes: Causes, names: Iterable[str]) -> str:
    lines = [f"- [{n}]({n}.md): {plain(causes[n].title)}" for n in names]
    return "\n".join((f"## {title}", "", means, "", *lines)) if lines else ""


def _remedies(cause: Cause, database: Database) -> str:
    (known,) = explain(cause.id, database).causes
    parts = []
    for step in known.advice:
        commands = "\n\n" + block(step.commands, "sh") if step.commands else ""
        source = f"\n\nSource: {plain(step.reference)}" if step.reference else ""
        who = "You" if step.who == "user" else "The administrator"
        parts.append(f"**{step.rank}. {plain(step.action)}**\n\n{who}. {plain(step.why)}{commands}{source}")
    head = "A report shows those of them that fit the case, with its own numbers; `<...>` stands for such a number."
    return "\n\n".join(("## What to do", head, *parts)) if parts else ""


def _missing(cause: Cause) -> str:
    rows = [(plain(m.what), plain(m.why), ", ".join(map(code, m.commands))) for m in cause.missing]
    return "## What a log may leave open\n\n" + table(("not known", "why it matters", "what settles it"), rows) if rows else ""


def _codes(cause: Cause) -> str:
    found = []
    for name, kind in (
        ("xid", "Xid"),
        ("sxid", "SXid"),
        ("cuda_error", "CUDA error"),
        ("nccl_result", "NCCL result"),
        ("ntstatus", "NTSTATUS"),
    ):
        for row in read_rows(name):
            if cause.id in (row.get("causes") or row.get("cause") or "").split():
                found.append(f"[{kind} {row['code']}](../codes/{slug(kind, row['code'])}.md)")
    for row in read_rows("exit_code"):
        if cause.id in row["causes"].split():
            kind = "signal" if row["kind"] == "signal" else "exit status"
            found.append(f"[{kind} {row['code']}](../codes/{slug(kind, row['code'])}.md)")
    return "## Codes that may speak for it\n\n" + ", ".join(dict.fromkeys(found)) if found else ""


def _measured(cause: Cause, rates: Rates) -> str:
    rows = [(s.name, s.weight, *(rates[s.id][k] for k in ("healthy", "own", "other"))) for s in cause.signatures if s.id in rates]
    head = "## How often its messages were right"
    if not rows:
        return f"{head}\n\nNone of them stood in [the logs that were counted](../signature-rates.md): no rate is known."
    said = (
        f"Of its {len(cause.signatures)} messages {len(rows)} stood in "
        "[the logs that were counted](../signature-rates.md): in how many healthy ones, failed ones of this cause, of another. "
        "Logs of one origin count as a few at most, so these are no whole numbers."
    )
    return f"{head}\n\n{said}\n\n" + table(("message", "weight", "healthy", "this cause", "another"), rows, right=3)
