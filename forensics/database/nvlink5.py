"""Sub-codes of the NVLink 5 Xids 144 to 150: the unit and two words of the line, looked up in signatures/tables/nvlink5.csv.

    Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 09 (0x025525c6 0x00000000 ...)
        -> the other end went down: look at the GPU or switch there

The first word holds the reason and the unit, laid out in one way by drivers before R575 and in another by later ones; the second
is the error status. A row fits when `word & mask == value` and its error status is empty, or is the line's.
"""

import functools
from collections.abc import Iterator

from forensics.core import lazy
from forensics.database.tables import read_rows

NVLINK_LINE_PATTERN = lazy.regex(
    r"Xid \([^)]*\): (?P<xid>14[4-9]|150)\b,? (?:pid=[^,]*, )?(?:name=[^,]*, )?(?P<unit>\w+)\s+(?P<severity>Fatal|Non-?fatal)\b"
    r".{0,60}?[(\[](?P<info>0x[0-9a-fA-F]{1,8})(?: (?P<status>0x[0-9a-fA-F]{1,8}))?"
)


def decode(xid: int, unit: str, info: int, status: int = 0) -> list[dict[str, str]]:
    """The rows of the table that fit, each with `reason` (bits 25 to 20 of `info`) and `driver`; more than one where they say
    the same of several units."""
    found: list[dict[str, str]] = []
    for row in _rows(str(xid)):
        if row["error_status"] and status not in {int(s, 16) for s in row["error_status"].split()}:
            continue
        for driver, suffix in (("R575 or later", ""), ("before R575", "_before_r575")):
            named = unit in (row["unit" + suffix], row["unit_before_r575"], row["unit"])
            if named and info & int(row["info_mask" + suffix], 16) == int(row["info_value" + suffix], 16):
                found.append({**row, "reason": str(info >> 20 & 0x3F), "driver": driver})
    return found


def decode_line(text: str) -> Iterator[dict[str, str]]:
    """What the table says of an Xid line; nothing where it is none of these or no row fits."""
    line = NVLINK_LINE_PATTERN.search(text)
    if line:
        yield from decode(int(line["xid"]), line["unit"], int(line["info"], 16), int(line["status"] or "0", 16))


def units(xid: int) -> list[dict[str, str]]:
    """The rows of one Xid."""
    return list(_rows(str(xid)))


@functools.cache
def _rows(xid: str) -> tuple[dict[str, str], ...]:
    return tuple(row for row in read_rows("nvlink5") if row["xid"] == xid)
