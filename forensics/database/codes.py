"""The meaning of coded errors, by number or name, from signatures/tables/*.csv.

"xid 79", "SXid 12028", "exit code 137", "SIGKILL", "cudaErrorAssert", "CUDA error 700", "ncclSystemError",
"-1073741819"  ->  Code
"""

import functools
import re
from collections.abc import Callable, Iterable

from msgspec import Struct

from forensics.data_files.named_parts import every_value
from forensics.database.nvlink5 import units
from forensics.database.releases import find_release, is_older
from forensics.database.tables import read_rows

XID_SOURCE = "NVIDIA's Xid catalogue and the driver's nverror.h"
SXID_SOURCE = "NVIDIA's fabric manager guide and the driver's NVSwitch error list"
NVLINK5 = range(144, 151)


class Code(Struct, frozen=True):
    """One coded error. `kind`: `Xid`, `SXid`, `CUDA error`, `NCCL result`, `exit status`, `signal` or `NTSTATUS`.

    `causes`: ids of the causes that it may indicate, most likely first; empty if none. `notes`: further facts of the table, one
    sentence each.
    """

    kind: str
    number: str
    name: str
    meaning: str
    action: str
    causes: tuple[str, ...]
    notes: tuple[str, ...]
    source: str

    @property
    def label(self) -> str:
        """`Xid 79`."""
        return f"{self.kind} {self.number}"


def xid(number: str) -> list[Code]:
    """The Xid of that number or name."""
    return [_xid(r) for r in _rows("xid") if number.upper() in (r["code"], r["name"])]


def sxid(number: str) -> list[Code]:
    """The SXid (an NVSwitch error) of that number or name."""
    return [_sxid(r) for r in _rows("sxid") if number.upper() in (r["code"], r["name"])]


def cuda(number: str) -> list[Code]:
    """The CUDA runtime or driver error of that number or name; two where the numbers changed in CUDA 10.1."""
    asked = number.lower()
    return [_cuda(r) for r in _rows("cuda_error") if asked in (r["code"], r["name"].lower(), r["driver_name"].lower() or None)]


def nccl(number: str) -> list[Code]:
    """The NCCL result (ncclResult_t) of that number or name."""
    return [_nccl(r) for r in _rows("nccl_result") if number.lower() in (r["code"], r["name"].lower())]


def signal(number: str) -> list[Code]:
    """The signal of that number or name, with or without SIG."""
    name = number.upper() if number.upper().startswith("SIG") else "SIG" + number.upper()
    found = (r for r in _rows("exit_code") if r["kind"] == "signal" and (r["code"] == number or r["name"] == name))
    return [_code("signal", r) for r in found]


def _number(text: str) -> int:
    """A decimal number, with or without leading zeros, or one that begins with 0x."""
    return int(text, 16 if "x" in text.lower() else 10)


def exit_status(number: str) -> list[Code]:
    """The exit status of that number, in the form of a shell or container (137), Python (-9) or Windows (-1073741819)."""
    code = _number(number)
    if code >= 1 << 31 or code < -255:
        return ntstatus(number)
    rows = [
        _code("exit status", {**r, "code": number}) for r in _rows("exit_code") if r["kind"] == "exit" and int(r["code"]) == code
    ]
    if rows:
        return rows
    for base, how in ((0, f"{code}: Python's way to say"), (128, "128 + {}:"), (256, "256 + {}, as PBS reports it:")):
        number_of = -code if base == 0 else code - base
        if found := [_as_exit(c, number, how.format(number_of)) for c in signal(str(number_of))]:
            return found
    as_byte = [_as_exit(c, number, f"{code - 256} as a byte:") for c in signal(str(256 - code))] if 192 < code < 256 else []
    return as_byte or [_own_choice(number)]


def ntstatus(number: str) -> list[Code]:
    """The Windows status of that number (hexadecimal, decimal, signed or not) or name."""
    code = f"0x{_number(number) & 0xFFFFFFFF:08x}" if re.fullmatch(r"-?(?:0x[0-9a-fA-F]+|\d+)", number) else number
    return [_ntstatus(r) for r in _rows("ntstatus") if code == r["code"] or code.upper() == r["name"].upper()]


def cuda_release(text: str) -> list[Code]:
    """The release of CUDA in `CUDA 12.2`, and whether a driver that is named with it can run it."""
    numbers = re.findall(r"\d+(?:\.\d+)*", text)
    found = find_release(numbers[0])
    if found is None:
        return []
    driver = numbers[1] if len(numbers) > 1 else ""
    fits = (
        f"Driver {driver} is {'too old for it' if is_older(driver, found.minimum) else 'new enough to run it'}." if driver else ""
    )
    less = f"With a driver older than {found.driver} it runs without the features that need that one."
    notes = tuple(n for n in (fits, less if found.driver != found.minimum else "") if n)
    action = f"update the driver to {found.driver} or newer, or install a build for an older CUDA"
    return [
        Code("CUDA release", found.cuda, "", f"{found.sentence} (Linux)", action, ("gpu_driver.mismatch",), notes, found.source)
    ]


Look = Callable[[str], list[Code]]
LOOK_UPS: dict[str, Look] = {
    look.__name__: look for look in (sxid, xid, cuda, cuda_release, nccl, signal, exit_status, ntstatus)
}  # by the names of the patterns


def codes_asked_for(text: str) -> list[Code] | None:
    """The codes that `text` asks for: [] for one that no table has, None if it does not ask for a code.

    A bare number asks for all: first an exit status that is known to mean something, last one that a program chose for itself.
    """
    text = text.strip()
    if re.fullmatch(r"-?\d{1,10}", text):
        looks: tuple[Look, ...] = (xid, sxid, cuda, exit_status) if 0 <= int(text) < 1 << 31 else (exit_status,)
        every = [code for look in looks for code in look(text)]
        return sorted(every, key=lambda c: (c.kind == "exit status") - 2 * (c.kind == "exit status" and bool(c.name)))
    return next((LOOK_UPS[name](code) for name, code in every_value("codes asked for", text)), None)


def codes_in_line(line: str) -> list[Code]:
    """The codes that a line of a log names, each once."""
    found = (code for name, number in every_value("codes in lines", line) for code in LOOK_UPS[name](number))
    return list(dict.fromkeys(found))


@functools.cache
def _rows(table: str) -> tuple[dict[str, str], ...]:
    return tuple(read_rows(table))


def _code(kind: str, row: dict[str, str], notes: Iterable[str] = (), source: str = "") -> Code:
    """The Code of a row. `source`: of all rows of a table that has no such column."""
    causes = tuple((row.get("causes") or row.get("cause") or "").split())
    source = source or row["source"]
    return Code(kind, row["code"], row["name"], row["meaning"], row["action"], causes, tuple(notes), source)


def _xid(row: dict[str, str]) -> Code:
    notes = [f'NVIDIA calls it "{row["words"]}"'] if row["words"] else []
    notes += [f"then: {row['escalation']}"] if row["escalation"] else []
    notes.append(f"severity: {row['severity']}; role: {row['role']}")
    if int(row["code"]) in NVLINK5:
        names = sorted({r["unit"] for r in units(int(row["code"]))})
        notes.append(f"the rest of the line says more; units it may name: {', '.join(names)}")
    return _code("Xid", row, notes, XID_SOURCE)


def _sxid(row: dict[str, str]) -> Code:
    return _code("SXid", row, [f"severity: {row['severity']}"], SXID_SOURCE)


def _cuda(row: dict[str, str]) -> Code:
    names = ", ".join(n for n in (row["name"], row["driver_name"]) if n)
    notes = [f"numbered so by CUDA {row['toolkit']}"] if row["toolkit"].startswith("before") else []
    return _code("CUDA error", {**row, "name": names}, notes)


def _nccl(row: dict[str, str]) -> Code:
    return _code("NCCL result", row, [f"its message: {row['said']}"])


def _as_exit(code: Code, number: str, how: str) -> Code:
    return Code("exit status", number, code.name, f"{how} {code.meaning}", code.action, code.causes, code.notes, code.source)


def _own_choice(number: str) -> Code:
    meaning = "no shell, runtime or scheduler gives this number a meaning: the program chose it"
    meaning += "" if 0 <= _number(number) < 256 else "; only Windows has statuses other than 0 to 255"
    return Code("exit status", number, "", meaning, "look it up where the program is described", (), (), "bash(1) EXIT STATUS")


def _ntstatus(row: dict[str, str]) -> Code:
    signed = int(row["code"], 16) - (1 << 32)
    unsigned = signed + (1 << 32)
    return _code("NTSTATUS", row, [f"also written {signed} and {unsigned}"] if unsigned >= 1 << 31 else [])
