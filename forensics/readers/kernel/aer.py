"""A PCIe AER (Advanced Error Reporting) report of two to six lines: device, severity, errors, and whether a GPU is on that link.

    pcieport 0000:00:02.0: AER: Uncorrected (Fatal) error received: id=0010
    pcieport 0000:00:02.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, id=0010(Receiver ID)
    pcieport 0000:00:02.0:   device [8086:6f04] error status/mask=00000020/00000000
    pcieport 0000:00:02.0:    [ 5] Surprise Down Error    (First)
    nvidia 0000:02:00.0: device has no AER-aware driver

The wordings are those of the Linux kernel's drivers/pci/pcie/aer.c: `id=0010(Receiver ID)` to 4.x, `error received: 0000:00:02.0`
from 4.20, "Correctable", "Uncorrectable ... error message received from" from 6.7. Often the report names only the PCIe port. A
GPU is then recognised by the driver of a device behind the port, or by a PCI vendor number. If only a port is named and the
device behind it is unknown, the record has no outcome, and the signatures of the single lines count.
"""

from forensics.core import lazy
from forensics.data_files.named_parts import patterns_of
from forensics.model import Line, Region, Trigger, Value, Weight
from forensics.readers.base import Record

TRIGGER = Trigger("aer", ("PCIe Bus Error: severity=",), before=4, after=16)
FOLDS = True
AER_PCI = r"(?:[0-9a-f]{4,6}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]"
PATTERNS = patterns_of("aer")
AER_LINE_PATTERN = lazy.regex(rf"{AER_PCI}: |AER:|Hardware Error")
GPU_DRIVERS = {"nvidia", "amdgpu", "radeon", "nouveau", "i915", "xe", "habanalabs"}
GPU_VENDORS = {"10de", "1002"}
PORTS = {"pcieport", "pcieport-driver", "shpchp", ""}
GPU_LINK, HOST_LINK = "gpu_link", "host_link"
OUTCOMES = (GPU_LINK, HOST_LINK)


def read(region: Region) -> Record | None:
    """The report around the region's line."""
    found = PATTERNS.pcie_error.search(region.text)
    if found is None:
        return None
    own = region.line
    head = [line for line in region.lines_before()[-1:] if PATTERNS.aer_received.search(line.text)]
    rows = _rows(region.lines_after())
    driver, address = found["driver"] or "", found["pci"] or ""
    fields: dict[str, Value] = {"severity": found["severity"], "layer": found["layer"], "agent": found["agent"]}
    if address:
        fields |= {"pci": address, "driver": driver}
    names = [m["name"] for row in rows if (m := PATTERNS.error_bit.search(row.text))]
    if names:
        fields["errors"] = ", ".join(dict.fromkeys(names))
    vendor = next((m for row in rows if (m := PATTERNS.pci_device_id.search(row.text))), None)
    if vendor:
        fields |= {"device": f"{vendor['vendor']}:{vendor['device_id']}", "error_status": vendor["status"]}
    behind = [(row, m) for row in rows if (m := PATTERNS.aer_tail.search(row.text))]
    gpu = next(((row, m) for row, m in behind if m["driver"] in GPU_DRIVERS), None)
    if gpu:
        fields |= {"port": address, "pci": gpu[1]["pci"], "driver": gpu[1]["driver"]}
    outcome = _class(driver, vendor["vendor"] if vendor else "", gpu is not None, [m["driver"] for _, m in behind])
    quote = (own, *(row for row, _ in behind), *(r for r in rows if PATTERNS.error_bit.search(r.text)), *head)[:6]
    first, last = (head or [own])[0].number, rows[-1].number if rows else own.number
    if outcome is None:
        return Record("aer", first, last, None, "hint", quote, fields, lends=True)
    return Record("aer", first, last, outcome, _weight(found["severity"], outcome), quote, fields)


def _class(driver: str, vendor: str, gpu_behind: bool, behind: list[str]) -> str | None:
    """The outcome: a GPU's link or another device's; None if only a port is named and the device behind it is unknown."""
    if driver in GPU_DRIVERS or gpu_behind or (vendor in GPU_VENDORS and (driver in PORTS or "snd" in driver)):
        return GPU_LINK
    if driver not in PORTS or any(d not in PORTS for d in behind):
        return HOST_LINK
    return None


def _weight(severity: str, outcome: str) -> Weight:
    """The weight by severity: corrected errors are frequent and harmless; an uncorrected one lost data or the device."""
    if severity.startswith("Correct"):
        return "hint"
    return "proof" if outcome == GPU_LINK else "strong"


def _rows(after: list[Line]) -> list[Line]:
    """The lines of this report: up to the next report, or up to the first line that is no part of it."""
    rows: list[Line] = []
    for line in after:
        if (
            PATTERNS.pcie_error.search(line.text)
            or PATTERNS.aer_received.search(line.text)
            or not AER_LINE_PATTERN.search(line.text)
            or "NVRM" in line.text
        ):
            break
        rows.append(line)
    return rows
