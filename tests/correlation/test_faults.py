"""Faults of two devices long after each other are two incidents, whatever else the log holds."""

from pathlib import Path

import pytest

from forensics.database import Database
from forensics.pipeline import analyze_paths

ECC = "[Mon Nov 30 08:14:22 2026] NVRM: Xid (PCI:0000:3b:00): 48, pid=18233, name=python, DBE (double bit error) ECC Error on GPU, RBE\n"
BESIDE = "[Mon Nov 30 08:20:00 2026] EXT4-fs error (device sdb1): ext4_find_entry:1455: inode #2: comm find: reading directory lblock 0\n"
LOST = "[Mon Nov 30 {clock} 2026] NVRM: Xid (PCI:0000:86:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"


@pytest.mark.parametrize("beside", ["", BESIDE])
@pytest.mark.parametrize(("clock", "incidents"), [("09:41:08", 2), ("08:26:08", 1)])
def test_a_card_that_is_lost_long_behind_another_ones_errors_is_an_incident_of_its_own(
    tmp_path: Path, knowledge: Database, clock: str, incidents: int, beside: str
) -> None:
    log = tmp_path / "dmesg.txt"
    log.write_text(ECC + beside + LOST.format(clock=clock))
    report = analyze_paths([log], "gpu", knowledge)
    assert len(report.incidents) == incidents
    assert incidents == 1 or {"gpu_hardware.ecc", "gpu_hardware.fallen_off_bus"} <= {
        c for i in report.incidents for c in i.causes
    }
