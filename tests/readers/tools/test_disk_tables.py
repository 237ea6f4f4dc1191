"""Rows of df's tables, and what they tell about a write that found no room."""

import pytest

from forensics import pipeline
from forensics.database import Database
from forensics.model import Finding
from forensics.readers.tools.disk_tables import TRIGGER, disk_tables
from tests.conftest import text_source
from tests.readers.regions import regions, scan_of

SPACE = """\
Filesystem      Size  Used Avail Use% Mounted on
/dev/nvme0n1p2  200G   41G  149G  22% /
a-server-with-a-long-name.example.org:/export/data
                2.0T  900G  1.0T  48% /data
/dev/loop3       56M   56M     0 100% /snap/core18/2812
"""
INODES = """\
Filesystem        Inodes    IUsed    IFree IUse% Mounted on
/dev/nvme0n1p2  13107200   612000 12495200    5% /
/dev/sdb1       61054976 61054976        0  100% /data
/dev/loop3         10836    10836        0  100% /snap/core18/2812
"""
MACOS = """\
Filesystem   512-blocks      Used Available Capacity iused      ifree %iused  Mounted on
/dev/disk3s1  971350180 800000000 100000000    89%  500000  500000000    0%   /data
"""
BUSYBOX = "Filesystem              Inodes      Used Available Use% Mounted on\n/dev/sdb1                 4096      4096         0 100% /data\n"
SHOWN_FULL = [("/dev/shm", "64.0"), ("/scratch/run", "24.0"), ("/scratch", "24.0")]
FAILURE = (
    'Traceback (most recent call last):\n  File "prep.py", line 4, in <module>\nOSError: [Errno 28] No space left on device{}\n'
)


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        (SPACE, [("/", False, 22), ("/data", False, 48)]),
        (INODES, [("/", True, 5), ("/data", True, 100)]),
        (MACOS, [("/data", False, 89), ("/data", True, 0)]),
        (BUSYBOX, [("/data", True, 100)]),
    ],
)
def test_the_rows_of_a_table_without_images_that_are_always_full(table: str, rows: list[tuple[str, bool, int]]) -> None:
    scan = scan_of({TRIGGER.kind: regions(table + "done\n/dev/sdb1 1 1 0 100% /data\n", TRIGGER)})
    assert [(d.mount, d.inodes, d.percent) for d in disk_tables([scan])] == rows


def first_cause(knowledge: Database, path: str, *tables: str) -> Finding:
    named = FAILURE.format(f": '{path}'" if path else "")
    sources = [text_source("job.log", named), *(text_source(f"df{i}.txt", t) for i, t in enumerate(tables))]
    first = pipeline.analyze(sources, "case", knowledge).causes[0]
    assert first.id == "storage.full"
    return first


@pytest.mark.parametrize("path", ["/data/cache/9.npy", ""])
def test_used_up_inodes_are_told_and_no_space_is_to_be_freed(path: str, knowledge: Database) -> None:
    first = first_cause(knowledge, path, SPACE, INODES)
    assert (first.facts["inode_mount"], first.facts["inode_place"]) == ("/data", "df1.txt:3")
    assert "no inode" in first.summary.lower()
    assert "small files on /data" in first.remediations[0].action
    assert not any("free space" in r.action for r in first.remediations)


def test_where_df_shows_room_inodes_and_quotas_are_looked_at_first(knowledge: Database) -> None:
    first = first_cause(knowledge, "/data/cache/9.npy", SPACE)
    assert (first.facts["roomy_mount"], first.facts["roomy_percent"]) == ("/data", 48)
    assert first.remediations[0].action.startswith("Look at the inodes and the quotas of /data")


def test_inodes_of_another_file_system_tell_nothing(knowledge: Database) -> None:
    facts = first_cause(knowledge, "/home/ann/9.npy", INODES).facts
    assert not any(name.startswith(("inode", "roomy")) for name in facts)


@pytest.mark.parametrize(("path", "mount"), [("/scratch/run/9.npy", "/scratch/run"), ("out.npy", "/scratch"), ("", "/scratch")])
def test_the_file_system_that_the_account_of_a_capture_calls_full_is_named(path: str, mount: str, knowledge: Database) -> None:
    account = [f"forensics run: {at} was full: 0.0 MiB of {size} MiB were free\n" for at, size in SHOWN_FULL]
    first = first_cause(knowledge, path, "".join(account))
    assert first.facts["full_mount"] == mount
    assert f"{mount} was full (df0.txt:" in first.summary
    assert first.remediations[0].action.startswith(f"Free space on the file system of {mount},")
    assert not any("which file system" in r.action or "how full" in r.action for r in first.remediations)
