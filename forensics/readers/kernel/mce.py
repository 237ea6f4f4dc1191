"""Reads a machine check: the CPU, the bank, the meaning of the status word, and whether a memory module or a processor fails.

    mce: [Hardware Error]: CPU 18: Machine Check Exception: 5 Bank 7: be00000001010091
    mce: [Hardware Error]: TSC ae4b410af0b8 ADDR 314d193000 MISC 200400c008002086
    mce: [Hardware Error]: PROCESSOR 0:50657 TIME 1605843017 SOCKET 1 APIC 40 microcode 5000021
        -> uncorrected, MCACOD 0x0091: the memory controller read wrong data on channel 1

The line forms are those of print_mce() in arch/x86/kernel/cpu/mce/core.c, EDAC's decoders, amd_decode_mce() in
drivers/edac/mce_amd.c, and mcelog. Codes in signatures/tables/mce.csv; bits of the word: 63 valid, 61 uncorrected, 57 processor
context corrupt (Intel SDM vol. 3B 17.3).
"""

import functools
from datetime import UTC, datetime

from forensics.data_files.named_parts import first_parts, first_row, patterns_of
from forensics.database import read_rows
from forensics.model import Line, Region, Trigger, Value, Weight
from forensics.readers.base import Record

TRIGGER = Trigger("mce", ("Machine Check", "_STATUS[", "MCGSTATUS"), before=8, after=14)
FOLDS = True
MCE_STATUS = "machine check status"  # the group of patterns
PATTERNS = patterns_of("mce")
MEMORY, CODED, UNKNOWN_CODE = "memory", "coded", "unknown_code"
OUTCOMES = (MEMORY, CODED, UNKNOWN_CODE)
AMD = "2"  # x86 vendor number of AMD in the kernel; 0 is Intel
CACHE_LEVELS = ("level 0", "level 1", "level 2", "any level")
REQUESTS = ("", "read", "write", "data read", "data write", "instruction fetch", "prefetch", "eviction", "snoop")
TRANSACTIONS = ("", "read", "write", "address or command", "scrubbing")
# Bits UC, PCC and VAL of IA32_MCi_STATUS (Intel SDM, volume 3B, 15.3.2.2).
UNCORRECTED, CORRUPT, VALID = 1 << 61, 1 << 57, 1 << 63


def read(region: Region) -> Record | None:
    """The machine check whose status word is on the region's line. None if it has no status word, or one without an error."""
    found = first_parts(MCE_STATUS, (region.text,))
    if not found:
        return None
    fields: dict[str, Value] = {k: int(v[:18]) for k, v in found.items() if k != "status"}
    own = region.line
    before = _before(region) if "bank" not in fields else []
    rows = [*before, own, *_after(region)]
    text = "\n".join(row.text for row in rows)
    if "bank" not in fields and (old := PATTERNS.old_bank.search(text)):
        fields |= {k: int(v[:18]) for k, v in old.groupdict().items()}
    status = int(found["status"], 16)
    decided = decode_status(status, _vendor(text), _ipid(text))
    if not status & VALID or decided is None:
        return None
    outcome, cause, meaning = decided
    if PATTERNS.amd_memory.search(text):
        outcome, meaning = MEMORY, "an error of RAM (ECC)"
    if dimm := PATTERNS.dimm.search(text):
        outcome = MEMORY
        fields |= {"dimm": dimm["dimm"].strip()}
    fields |= {
        "mce_status": found["status"],
        "mcacod": f"0x{status & 0xFFFF:04x}",
        "meaning": meaning,
        "mce_severity": severity(status),
    }
    fields |= _details(text)
    weight: Weight = "proof" if status & UNCORRECTED else "strong"
    quote = [
        own,
        *(
            r
            for r in rows
            if r is not own
            and (PATTERNS.dimm.search(r.text) or PATTERNS.mce_verdict.search(r.text) or PATTERNS.amd_memory.search(r.text))
        ),
    ]
    named = cause if outcome == CODED else None
    return Record("mce", rows[0].number, rows[-1].number, outcome, weight, tuple(quote[:4]), fields, cause=named)


def decode_status(status: int, vendor: str = "", ipid: int | None = None) -> tuple[str, str | None, str] | None:
    """Outcome, cause and meaning of a status word. None for a status word without an error. `vendor`: the kernel's vendor number,
    "2" is AMD. `ipid`: AMD's MCA_IPID, whose bits 43 to 32 name the unit of the bank."""
    kinds = (("amd", status), ("ipid", ipid >> 32 if ipid is not None else None), ("code", status))
    for kind, word in kinds:
        if word is None or (kind == "amd" and vendor != AMD and ipid is None):
            continue
        for row in _rows(kind):
            if word & int(row["mask"], 16) == int(row["value"], 16):
                detail = _detail(row["name"], status & 0xFFFF) if vendor != AMD else ""
                return (CODED, row["cause"], f"{row['meaning']}{detail}") if row["cause"] else None
    return UNKNOWN_CODE, None, "a code that the table does not know"


def severity(status: int) -> str:
    """`corrected`, `uncorrected`, or `fatal` if the state of the processor is lost."""
    if status & CORRUPT:
        return "fatal"
    return "uncorrected" if status & UNCORRECTED else "corrected"


def _detail(name: str, code: int) -> str:
    """Details from the low bits of a compound error code: memory 1MMM CCCC, cache RRRR TTLL."""
    if name == "memory controller":
        kind, channel = code >> 4 & 7, code & 15
        what = TRANSACTIONS[kind] if kind < len(TRANSACTIONS) else ""
        where = f"channel {channel}" if channel != 15 else ""
        return f" ({', '.join(x for x in (what, where) if x)})" if what or where else ""
    if name == "cache hierarchy":
        request = code >> 4 & 15
        what = REQUESTS[request] if request < len(REQUESTS) else ""
        return f" ({', '.join(x for x in (CACHE_LEVELS[code & 3], what) if x)})"
    return ""


def _details(text: str) -> dict[str, Value]:
    details: dict[str, Value] = {}
    if found := PATTERNS.processor.search(text):
        details["socket"] = int(found["socket"][:6])
        # The kernel reads a machine check that reset the host at the next boot. TIME is the time of the fault; the stamp
        # of the line is that of the boot.
        if time := int(found["time"][:18]):
            details["fault_time"] = datetime.fromtimestamp(time % (1 << 33), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    if found := PATTERNS.mce_address.search(text):
        details["address"] = found["address"]
    if found := PATTERNS.mce_verdict.search(text):
        details["verdict"] = found["verdict"].strip()
    return details


def _vendor(text: str) -> str:
    found = PATTERNS.processor.search(text)
    return found["vendor"] if found else AMD if "_STATUS[" in text else ""


def _ipid(text: str) -> int | None:
    found = PATTERNS.ipid.search(text)
    return int(found["ipid"], 16) if found and int(found["ipid"], 16) else None


def _after(region: Region) -> list[Line]:
    """The lines of this machine check after the status word. They end at the next status word or at another message."""
    rows: list[Line] = []
    for line in region.lines_after():
        if first_row(MCE_STATUS, line.text) or not PATTERNS.mce_line.search(line.text):
            break
        rows.append(line)
    return rows


def _before(region: Region) -> list[Line]:
    """The lines before the status word, where mcelog prints bank and processor."""
    rows: list[Line] = []
    for line in reversed(region.lines_before()):
        rows.insert(0, line)
        if PATTERNS.old_bank.search(line.text):
            return rows
        if not PATTERNS.mce_line.search(line.text):
            break
    return []


@functools.cache
def _rows(kind: str) -> tuple[dict[str, str], ...]:
    return tuple(row for row in read_rows("mce") if row["kind"] == kind)
