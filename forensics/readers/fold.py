"""Equal records become one with a count: a million lines of one Xid on one GPU are one Observation; on two GPUs they are two.

    NVRM: Xid (PCI:0000:3b:00): 63, Row Remapper: New row marked for remapping       (40,000 times)
        -> Record(kind="xid/63", count=40000, places=((12, 12), (15, 15), ...))

Records are equal if they have the same kind, cause, weight, host and subject (the fields in SUBJECT), and each follows the one
before it within MAX_REPEAT_GAP_S. A fault that comes back the next day is an event of its own.
"""

from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from forensics.line_formats import parse_prefix
from forensics.model import Stamp
from forensics.readers.base import Record

SUBJECT = (
    *("pci", "pid", "task", "rank", "gpu", "device", "dimm", "bank", "cpu", "container", "pod", "sxid"),
    *("link", "request_bytes"),
)
MAX_REPEAT_GAP_S = 7200.0  # chosen by hand: a fault that comes back after hours counts as another one
MAX_KEPT_PLACES = 600  # the first and last KEPT_ENDS that the scanner keeps


class _Group(Struct):
    """Equal records in order of their lines. `stamp`: the last known timestamp. `more`: estimated number of records not read."""

    records: list[Record]
    stamp: Stamp | None
    more: int = field(default=0)

    def folded(self) -> Record:
        first = self.records[0]
        count = len(self.records) + self.more
        if count == 1:
            return first
        last = self.records[-1]
        places = tuple(span for r in (*self.records[:-1][:MAX_KEPT_PLACES], last) for span in r.spans)
        quote = first.quote if len(self.records) == 1 else (*first.quote, *last.quote[:1])
        return replace(first, count=count, places=places, quote=quote)


def fold_records(records: Sequence[Record], places: int = 0, seen: int = 0, longer: bool = False) -> list[Record]:
    """`records` of one parser, with equal ones folded into one, in order of their first lines.

    `places`: how many places were read. `seen`: how many such places the source has. If some were not read, the groups with
    repeats get a share of them, and `count` is an estimate. `longer`: also fold records of several lines. By default only records
    of one line are folded, because a longer report holds more than the fields that are read from it.
    """
    open_groups: dict[tuple[object, ...], _Group] = {}
    done: list[_Group] = []
    for record in sorted(records, key=lambda r: r.first):
        prefix = parse_prefix(record.quote[0].text) if record.quote else None
        stamp = prefix.stamp if prefix else None
        key = (*_key(record), prefix.host if prefix else None)
        group = open_groups.get(key)
        if group is None or not (longer or record.first == record.last) or _apart(group.stamp, stamp):
            group = open_groups[key] = _Group([record], stamp)
            done.append(group)
            continue
        group.records.append(record)
        group.stamp = stamp or group.stamp
    for group in done:
        if places and seen > places and len(group.records) > 1:
            group.more = round((seen - places) * len(group.records) / max(places, len(records)))
    return [g.folded() for g in done]


def _key(record: Record) -> tuple[object, ...]:
    subject = tuple(record.fields.get(name) for name in SUBJECT)
    return (record.kind, record.cause, record.weight, record.decides, record.lends, *subject)


def _apart(last: Stamp | None, now: Stamp | None) -> bool:
    """Is there more than MAX_REPEAT_GAP_S, or a boot, between two timestamps? False if they cannot be compared."""
    gap = now.seconds_after(last) if last and now else None
    if last is None or now is None or gap is None:
        return False
    is_new_boot = gap < -1 and now.mono is not None and last.mono is not None
    return is_new_boot or abs(gap) > MAX_REPEAT_GAP_S
