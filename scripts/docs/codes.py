"""A page for each code: Xid, SXid, CUDA error, NCCL result, exit status, signal, NTSTATUS.

signatures/tables/xid.csv, row 79 -> codes/xid-79.md
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from forensics.database import Cause, read_rows
from forensics.database import codes as known
from forensics.database.codes import Code, codes_in_line
from forensics.database.nvlink5 import units
from scripts.docs.markdown import block, code, page, plain, table

EXAMPLES_OF_A_CODE = 4
SIGNAL_EXIT = 128  # what a shell adds to the number of the signal that ended a program
PBS_EXIT = 256  # what PBS adds to it
FORMS = {  # how its program prints it, where no example of the database holds this number
    "Xid": "NVRM: Xid (PCI:<address>): {number}, pid=<pid>, name=<process>, ...",
    "SXid": "nvidia-nvswitch<n>: SXid (PCI:<address>): {number}, <Fatal or Non-fatal>, Link <nn> ...",
    "CUDA error": "CUDA error {number}, {name}",
    "NCCL result": "{name}: ...",
    "exit status": "exited with exit code {number}",
    "signal": "terminated by signal {number} ({name})",
    "NTSTATUS": "exited with code {number}",
}
KINDS = {
    "Xid": "errors of NVIDIA's driver, in the kernel's log",
    "SXid": "errors of NVIDIA's switches (NVSwitch), in the kernel's log or the fabric manager's",
    "CUDA error": "what a call to CUDA returned",
    "NCCL result": "what a call to NCCL returned",
    "exit status": "how a program ended, as a shell, container or scheduler says it",
    "signal": "what ended a program from outside or below",
    "NTSTATUS": "how a Windows program ended",
}


def slug(kind: str, number: str) -> str:
    """`xid-79`, the name of the page."""
    return re.sub(r"[^a-z0-9]+", "-", f"{kind} {'minus ' if number.startswith('-') else ''}{number}".lower()).strip("-")


def code_pages(causes: Mapping[str, Cause]) -> Iterator[tuple[str, str]]:
    """(path, Markdown) of each code, and of the list of all."""
    groups: dict[str, list[Code]] = defaultdict(list)
    for each in _all():
        groups[each.label].append(each)
    examples = _examples(causes)
    for label, group in groups.items():
        yield f"codes/{slug(group[0].kind, group[0].number)}.md", _page(label, group, causes, examples.get(label, ()))
    yield "codes/index.md", _index(groups)
    yield "codes/machine-check.md", _machine_check(causes)


def _all() -> Iterator[Code]:
    for table_name, look in (("xid", known.xid), ("sxid", known.sxid), ("cuda_error", known.cuda), ("nccl_result", known.nccl)):
        for number in dict.fromkeys(row["code"] for row in read_rows(table_name)):
            yield from look(number)
    rows = read_rows("exit_code")
    statuses = {int(r["code"]) if r["kind"] == "exit" else SIGNAL_EXIT + int(r["code"]) for r in rows}
    for status in sorted(statuses):
        yield from known.exit_status(str(status))
    for row in rows:
        if row["kind"] == "signal":
            yield from known.signal(row["code"])
    for row in read_rows("ntstatus"):
        yield from known.ntstatus(row["code"])


def _examples(causes: Mapping[str, Cause]) -> Mapping[str, Sequence[str]]:
    """The lines of the database's examples by the codes that they name, surest signatures first."""
    found: dict[str, list[str]] = defaultdict(list)
    signatures = [s for c in causes.values() for s in c.signatures]
    for signature in sorted(signatures, key=lambda s: ("proof", "strong", "hint").index(s.weight)):
        for example in signature.match:
            for each in codes_in_line(example.text):
                if len(found[each.label]) < EXAMPLES_OF_A_CODE and example.text not in found[each.label]:
                    found[each.label].append(example.text)
    return found


def _page(label: str, group: Sequence[Code], causes: Mapping[str, Cause], examples: Sequence[str]) -> str:
    first = group[0]
    title = (
        (f"{label} ({first.name})" if first.kind in ("signal", "exit status") else f"{label}: {first.name}")
        if first.name
        else label
    )
    parts = [part for each in group for part in _meaning(each, causes)]
    lines = examples or [FORMS[first.kind].format(number=first.number, name=first.name.split(",")[0])]
    head = (
        "## How it looks"
        if examples
        else "## How it looks\n\nIts form; no line of this number is among the examples of the database."
    )
    return page(
        plain(title[:1].upper() + title[1:]),
        *parts,
        f"{head}\n\n{block(lines)}",
        _same(first),
        _sub_codes(first),
        f"In your logs: `forensics analyze LOGS`. On a terminal: `forensics explain '{label.lower()}'`. [All codes](index.md)",
    )


def _meaning(each: Code, causes: Mapping[str, Cause]) -> Iterator[str]:
    yield plain(each.meaning[:1].upper() + each.meaning[1:]) + "."
    if each.action:
        yield f"**What to do**: {plain(each.action)}."
    if each.notes:
        yield "\n".join(f"- {plain(note)}" for note in each.notes)
    if each.causes:
        named = [f"- [{name}](../causes/{name}.md): {plain(causes[name].title)}" for name in each.causes]
        yield "\n".join(("It may speak for these causes, the likeliest first; each page has its remedies.", "", *named))
    else:
        yield "Alone it speaks for no cause."
    yield f"Known from: {plain(each.source)}"


def _same(each: Code) -> str:
    """The other numbers under which the same ending is told."""
    if each.kind == "signal":
        status = SIGNAL_EXIT + int(each.number)
        return f"A shell tells it as [exit status {status}]({slug('exit status', str(status))}.md), Python as -{each.number}."
    if each.kind != "exit status" or not each.name.startswith("SIG"):
        return ""
    number = int(each.number) - (SIGNAL_EXIT if int(each.number) < PBS_EXIT else PBS_EXIT)
    return f"It stands for [signal {number}]({slug('signal', str(number))}.md); Python tells it as -{number}."


def _sub_codes(each: Code) -> str:
    if each.kind != "Xid" or int(each.number) not in known.NVLINK5:
        return ""
    rows = [
        (code(r["unit"]), r["error_status"] or "any", r["severity"], plain(r["at_once"]), plain(r["then"]))
        for r in units(int(each.number))
    ]
    return "## Its units\n\nThe rest of the line names a unit and a status.\n\n" + table(
        ("unit", "status", "severity", "at once", "then"), rows
    )


def _index(groups: Mapping[str, Sequence[Code]]) -> str:
    parts = ["[Machine checks](machine-check.md) of processors have a page of their own."]
    for kind, what in KINDS.items():
        rows = [
            (f"[{g[0].number}]({slug(kind, g[0].number)}.md)", code(g[0].name) if g[0].name else "", plain(g[0].meaning))
            for g in groups.values()
            if g[0].kind == kind
        ]
        parts.append(f"## {kind}\n\n{what[:1].upper()}{what[1:]}.\n\n" + table(("number", "name", "means"), rows))
    return page("All codes", *parts)


def _machine_check(causes: Mapping[str, Cause]) -> str:
    rows = [
        (
            r["kind"],
            code(f"{r['value']} of {r['mask']}"),
            plain(r["name"]),
            plain(r["meaning"]),
            f"[{r['cause']}](../causes/{r['cause']}.md)" if r["cause"] in causes else "",
        )
        for r in read_rows("mce")
    ]
    said = "A machine check tells a status word (`MCi_STATUS`); the bits that the mask leaves say what failed."
    return page("Machine checks (MCE)", said, table(("kind", "value of mask", "name", "means", "cause"), rows))
