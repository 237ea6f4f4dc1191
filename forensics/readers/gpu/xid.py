"""An NVIDIA Xid line: the code, looked up in the table, names the cause; GPU, process and details become fields.

    NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus.

It reads all forms that the driver prints (open-gpu-kernel-modules kernel_rc.c) and older ones: without `PCI:`, with a MIG
instance in the parentheses, with pid and name missing or `<unknown>`, with `caused by previous Xid N`.
"""

import functools

from forensics.data_files.named_parts import patterns_of
from forensics.database import HEALTHY, read_table
from forensics.model import Region, Trigger, Value, Weight
from forensics.readers.base import EVENT_TITLE, Record

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
