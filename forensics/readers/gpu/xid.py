"""An NVIDIA Xid line: the code, looked up in the table, names the cause; GPU, process and details become fields.

    NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus.

It reads all forms that the driver prints (open-gpu-kernel-modules kernel_rc.c) and older ones: without `PCI:`, with a MIG
instance in the parentheses, with pid and name missing or `<unknown>`, with `caused by previous Xid N`.

Xids whose meaning depends on other records near them: caused by a program or by the GPU; and the sub-codes of NVLink 5.

    NVRM: Xid (PCI:0000:3b:00): 48, ... DBE (double bit error) ...
    NVRM: Xid (PCI:0000:3b:00): 13, ... Graphics SM Warp Exception on (GPC 1, TPC 3, SM 0): Out Of Range Address
        -> the 13 is a consequence of the 48: reason "the same GPU reported Xid 48 (...) before it, ..."

The driver prints Xid 13, 31 and similar ones for a program with an invalid memory access, and for a GPU with wrong addresses.
NVIDIA's catalogue of Xids distinguishes them by what repeats: the same unit (GPC, TPC), or the same GPU with different programs,
points to the hardware; many units at once in one program point to the program.
"""

import functools
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from forensics.data_files.named_parts import patterns_of
from forensics.database import HEALTHY, Database, read_table
from forensics.database.nvlink5 import decode_line
from forensics.model import Region, Trigger, Value, Weight
from forensics.readers.base import EVENT_TITLE, Record
from forensics.readers.kernel.aer import HOST_LINK

TRIGGER = Trigger("xid", ("NVRM: Xid",))
PATTERNS = patterns_of("xid")
LINK_CODE = "74"
CODED, HARMLESS, UNKNOWN_CODE = "coded", "harmless", "unknown_code"
OUTCOMES = (CODED, HARMLESS, UNKNOWN_CODE)


def read(region: Region) -> Record | None:
    """The Xid of the region's line; None when the line only looks like one."""
    found = PATTERNS.xid_line.search(region.text)
    if found is None:
        return None
    code = found["xid"]
    if PATTERNS.nvlink_error.match(
        found["detail"]
    ):  # node agents print these words of Xid 74 behind other numbers; 71 is a copy engine's
        code = LINK_CODE
    previous = PATTERNS.previous_xid.search(found["detail"])
    row = _row(code)
    speaking = _row(previous[1]) if previous and previous[1] != code else row
    outcome, weight = _speaks_for(speaking)
    if PATTERNS.nonfatal.search(found["detail"]):
        weight = "hint"
    if PATTERNS.recovery_done.search(found["detail"]):
        outcome = HARMLESS
    fields: dict[str, Value] = {
        "xid": int(found["xid"]),
        "pci": found["pci"],
        "xid_name": row.get("name", f"unknown Xid {code}"),
        "xid_meaning": row.get("meaning", "a code that the table does not know"),
        "xid_action": row.get("action", "look the code up in the driver's documentation"),
    }
    if found["pid"] and found["pid"].isdecimal():
        fields["pid"] = int(found["pid"][:18])
    if found["task"] and not found["task"].startswith("<"):
        fields["task"] = found["task"].strip()
    if found["detail"]:
        fields["detail"] = found["detail"].strip()[:300]
    if row.get("words"):
        fields["xid_words"] = row["words"]
    if asked := PATTERNS.recovery_action.search(found["detail"]):
        fields["recovery_action"] = asked["action"]
    if row.get("words") and row["role"] != "root":
        fields[EVENT_TITLE] = f"Xid {code}: {row['words']}" + (f" to {asked['action']}" if asked else "")
    cause = speaking["cause"] if outcome == CODED else None
    return Record(f"xid/{code}", region.number, region.number, outcome, weight, (region.line,), fields, cause=cause)


@functools.cache
def _table() -> dict[str, dict[str, str]]:
    return read_table("xid")


def _row(code: str) -> dict[str, str]:
    return _table().get(code, {})


def _speaks_for(row: dict[str, str]) -> tuple[str, Weight]:
    """Outcome and weight for a row of the table; a code that the table lacks is an unknown code, as a hint."""
    if not row:
        return UNKNOWN_CODE, "hint"
    if row["cause"] == HEALTHY:
        return HARMLESS, "hint"
    if row["role"] == "root":
        return CODED, "proof" if row["severity"] == "fatal" else "strong"
    return CODED, "hint"


PROGRAM_OR_GPU = {13, 31, 32, 69, 137}
XID_CONTEXT_PATTERNS = patterns_of("xid context")
MAX_XID_CONTEXT_LINES = 2000  # records further away in a kernel log are unrelated
NEAR_RECORDS = 32  # on either side; in a flood, the nearest records are enough


def resolve_xids(found: Mapping[str, list[Record]], knowledge: Database) -> dict[str, list[Record]]:
    """`found`, by kind; the Xids whose meaning depends on other records of the same source are completed."""
    xids = found.get("xid", [])
    if not xids:
        return dict(found)
    by_gpu: dict[str, list[Record]] = defaultdict(list)
    for record in sorted((*xids, *found.get("aer", ())), key=lambda r: r.first):
        if "pci" in record.fields:
            by_gpu[slot(str(record.fields["pci"]))].append(record)
    judged = [_with_link(_classified(r, by_gpu[slot(str(r.fields["pci"]))], knowledge)) for r in xids]
    return {**found, "xid": judged}


def slot(pci: str) -> str:
    """Bus and device of a PCI address in any spelling: `0000:3b:00.0`, `00000000:3B:00`, `3b:00` -> `3b:00`; a domain other
    than 0 is kept."""
    parts = pci.lower().split(".")[0].split(":")
    domain = parts[-3].lstrip("0") if len(parts) > 2 else ""
    return ":".join([domain, *parts[-2:]] if domain else parts[-2:])


def _classified(record: Record, same_gpu: Sequence[Record], knowledge: Database) -> Record:
    """An Xid that a program or the GPU can cause, with the reason for one of them if there is one; any other Xid unchanged."""
    if record.fields.get("xid") not in PROGRAM_OR_GPU:
        return record
    at = bisect_left(same_gpu, record.first, key=lambda r: r.first)
    near = [
        r for r in same_gpu[max(0, at - NEAR_RECORDS) : at + NEAR_RECORDS] if abs(r.first - record.first) <= MAX_XID_CONTEXT_LINES
    ]
    fault = next((r for r in near if r.first <= record.first and _is_fault(r, knowledge)), None)
    if fault:
        fault_name = (
            f"Xid {fault.fields['xid']} ({fault.fields['xid_meaning']})" if "xid" in fault.fields else "PCIe errors (AER)"
        )
        reason = f"the same GPU reported {fault_name} before it, so it is taken for a consequence of that"
        return replace(record, cause=fault.cause, weight="hint", fields={**record.fields, "reason": reason})
    alike = [r for r in near if r.fields.get("xid") == record.fields["xid"]]
    reason, doubt = _pattern(alike)
    if reason:
        more: dict[str, Value] = {"reason": reason, **({"gpu_suspected": "yes"} if doubt else {})}
        weight = "strong" if doubt and record.weight == "proof" else record.weight
        return replace(record, weight=weight, fields={**record.fields, **more})
    return record


def _is_fault(record: Record, knowledge: Database) -> bool:
    """Does the record show a broken GPU, with more weight than a hint?"""
    return record.weight != "hint" and record.outcome != HOST_LINK and knowledge.has_trait(record.cause, "device_fault")


def _pattern(alike: Sequence[Record]) -> tuple[str, bool]:
    """The pattern in repeated Xids of one code on one GPU, in words, and whether it points to the GPU."""
    programs = {str(r.fields["task"]) for r in alike if "task" in r.fields}
    units = {m.group(1, 2) for r in alike if (m := XID_CONTEXT_PATTERNS.gpc_tpc.search(str(r.fields.get("detail", ""))))}
    if len(programs) > 1 and len(units) <= 1:
        where = "GPC {} TPC {}".format(*next(iter(units))) if units else "one GPU"
        names = ", ".join(sorted(programs)[:4])
        return f"different programs ({names}) met it on {where}, which speaks for a fault of the GPU", True
    if len(units) > 1 and len(programs) <= 1:
        return f"{len(units)} or more units of the GPU reported it, which speaks for the program and against a broken unit", False
    return "", False


def _with_link(record: Record) -> Record:
    """Xid 144 to 150 with the meaning of its two status words from the table; the first row if several match."""
    row = next(decode_line(record.quote[0].text), None) if record.quote else None
    if row is None:
        return record
    facts: dict[str, Value] = {"nvlink_unit": row["unit"], "nvlink_origin": row["origin"], "nvlink_driver": row["driver"]}
    facts |= {"nvlink_reason": int(row["reason"]), "nvlink_severity": row["severity"], "nvlink_action": row["at_once"]}
    if row["then"]:
        facts["nvlink_then"] = row["then"]
    return replace(record, fields={**record.fields, **facts})
