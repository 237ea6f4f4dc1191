"""An SXid line of an NVSwitch: the code, looked up in the table, names the cause; switch, link and severity become fields.

    nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)
    nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Severity 0 Engine instance 32 Sub-engine instance 00
    nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 26006, SOE HALTED
    [ERROR] [tid 12] detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:85:00.0 physical id 2 port 31

The driver prints the first three (open-gpu-kernel-modules, nvswitch errors); the fabric manager prints the last. The severity in
the line counts for more than the one in the table. A code that the table lacks is reported as unknown.
"""

import functools

from forensics.data_files.named_parts import patterns_of
from forensics.database import HEALTHY, read_table
from forensics.model import Region, Trigger, Value, Weight
from forensics.readers.base import Record

TRIGGER = Trigger("sxid", ("SXid (", "NVSwitch fatal error", "NVSwitch non-fatal error"))
PATTERNS = patterns_of("sxid")
CODED, HARMLESS, UNKNOWN_CODE = "coded", "harmless", "unknown_code"
OUTCOMES = (CODED, HARMLESS, UNKNOWN_CODE)
# The link corrects these errors or only counts them; working systems report them, too.
MINOR = {"11012", "11021", "11022", "11023", "19049", "19084", "20009", "20012", "22013"}


def read(region: Region) -> Record | None:
    """The SXid of the region's line; None when the line only looks like one."""
    found = PATTERNS.sxid_line.search(region.text) or PATTERNS.fabric_manager.search(region.text)
    if found is None:
        return None
    groups = {k: v for k, v in found.groupdict().items() if v}
    code = groups["sxid"]
    row = _table().get(code, {})
    fields: dict[str, Value] = {
        "sxid": int(code),
        "pci": groups["pci"],
        "sxid_name": row.get("name", f"unknown SXid {code}"),
        "sxid_meaning": row.get("meaning", "a code that the table does not know"),
        "sxid_action": row.get("action", "look the code up in the fabric manager's user guide"),
    }
    fields |= {k: groups[k] for k in ("link", "nvswitch") if k in groups}
    severity = groups.get("severity", "").lower()
    if severity in ("fatal", "non-fatal", "correctable"):
        fields["severity"] = severity
        if detail := groups.get("detail", "").strip():
            fields["detail"] = detail[:300]
    outcome, weight = _speaks_for(row, severity, code)
    cause = row["cause"] if outcome == CODED else None
    return Record(f"sxid/{code}", region.number, region.number, outcome, weight, (region.line,), fields, cause=cause)


def _speaks_for(row: dict[str, str], severity: str, code: str) -> tuple[str, Weight]:
    if not row:
        return UNKNOWN_CODE, "strong" if severity == "fatal" else "hint"
    if row["cause"] == HEALTHY or severity == "correctable":
        return HARMLESS, "hint"
    if severity == "fatal":
        return CODED, "proof"
    return CODED, "hint" if code in MINOR else "strong"


@functools.cache
def _table() -> dict[str, dict[str, str]]:
    return read_table("sxid")
