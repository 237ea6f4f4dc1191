"""Answer in one sentence whether the hardware is sick, where the log of a machine's kernel was given and tells of something else.

dmesg with kills for memory alone        -> no hardware fault that is known stands in the kernel's log ...
dmesg with a kill, and `EDAC MC0: 1 UE`  -> the kernel's log has signs of a hardware fault, too: ... (dmesg.txt:12)
"""

from collections.abc import Iterable

from msgspec.structs import replace

from forensics.database import Database
from forensics.model import Finding, Observation
from forensics.model.verdicts import Lane

NO_FAULT = "The kernel's log shows no known hardware fault: no machine check, memory, PCIe, GPU, disk or heat error."
FAULT = "The kernel's log has signs of a hardware fault, too: {} ({}:{})."
MAY_BE_FAULT = "The kernel's log has lines that may come from a hardware fault: {} ({}:{})."
OF_DISKS = "storage.io_error"


def with_hardware(
    found: tuple[Finding, ...], events: Iterable[Observation], lanes: Iterable[Lane], database: Database
) -> tuple[Finding, ...]:
    """`found`, the first one with that sentence, unless it is about such a fault itself. `lanes`: of the machine."""
    of_kernel = {lane.source for lane in lanes if lane.kind == "kernel"}
    if not of_kernel or _is_fault(found[0].id, database):
        return found
    faults = (o for o in events if o.source in of_kernel and _is_fault(o.cause or "", database))
    seen = min(faults, key=lambda o: (o.weight == "hint", o.source, o.line), default=None)
    known = seen and (MAY_BE_FAULT if seen.weight == "hint" else FAULT)
    told = known.format(database.causes[str(seen.cause)].title, seen.source, seen.line) if seen and known else NO_FAULT
    return (replace(found[0], summary=f"{found[0].summary} {told}"), *found[1:])


def _is_fault(cause: str, database: Database) -> bool:
    return cause == OF_DISKS or database.has_trait(cause, "device_fault")
