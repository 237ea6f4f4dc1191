"""How full file systems were, from tables of df and the account of a capture: their space, and their inodes.

    Filesystem       Inodes    IUsed IFree IUse% Mounted on      -> DiskUse(mount="/data", inodes=True, percent=100)
    /dev/sda1      61054976 61054976     0  100% /data
    forensics run: /scratch was full: 0.1 MiB of 24.0 MiB were free      -> DiskUse(mount="/scratch", inodes=False, percent=100)

A row is read from its end, because a long name of a file system stands on a line of its own. Images and other file systems that
are always full are passed over. Formats: df of coreutils, busybox and macOS.
"""

from collections.abc import Iterable, Iterator

from forensics.data_files.named_parts import patterns_of
from forensics.model import DiskUse, Line, Region, Scan, Trigger

MAX_ROWS = 60  # chosen by hand: machines with more file systems than this are rare
TRIGGER = Trigger("disk_table", of="disk tables", after=MAX_ROWS)
PATTERNS = patterns_of("disk tables")


def disk_tables(scans: Iterable[Scan]) -> tuple[DiskUse, ...]:
    """The rows of all tables, in the order of the logs."""
    regions = ((scan, r) for scan in scans for r in scan.regions.get(TRIGGER.kind, ()))
    return tuple(row for scan, region in regions for row in _of(scan, region))


def _of(scan: Scan, region: Region) -> Iterator[DiskUse]:
    if told := PATTERNS.account.search(region.text):
        yield DiskUse(scan.source.name, scan.source.number_of(region.number), told["mount"], False, told["total"], 100)
        return
    inodes = PATTERNS.inode_header.search(region.text) is not None
    name = ""  # that stands on the line before its row
    for line in region.lines_after():
        found = PATTERNS.row.search(line.text)
        if found is None and not name and [line.text] == line.text.split():
            name = line.text
            continue
        if found is None or (name and found["device"]):
            return
        name = ""
        device, mount = found["device"] or "", found["mount"]
        if PATTERNS.always_full.search(device) or PATTERNS.always_full.search(mount):
            continue
        place = Line(scan.source.number_of(line.number), line.text)
        yield DiskUse(scan.source.name, place.number, mount, inodes, found["total"], int(found["percent"]))
        if found["inodes_used"]:
            total = str(int(found["inodes_used"]) + int(found["inodes_free"]))
            yield DiskUse(scan.source.name, place.number, mount, True, total, int(found["inodes_percent"]))
