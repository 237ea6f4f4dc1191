"""Incidents of a machine that nothing links are decided each for itself."""

from pathlib import Path

from forensics import analyze

LOST = """\
[511040.201190] NVRM: GPU at PCI:0000:86:00: GPU-5c3b6d1e-0000-0000-0000-000000000000
[511040.201196] NVRM: Xid (PCI:0000:86:00): 79, pid=2240117, name=python, GPU has fallen off the bus.
[511040.201205] NVRM: GPU 0000:86:00.0: GPU has fallen off the bus.
"""
CONTAINED = "[402117.553310] NVRM: Xid (PCI:0000:3b:00): 94, pid=2113305, name=python, Contained: SM (0x1). RST: No, D-RST: No\n"


def told(folder: Path, text: str) -> tuple[str, float, list[str]]:
    path = folder / "dmesg.txt"
    path.write_text(text)
    report = analyze(path)
    first = report.causes[0]
    return first.id, first.probability, [c.id for c in report.causes[1:] if c.id != "none.healthy"]


def test_a_fault_of_another_gpu_hours_before_is_no_rival(tmp_path: Path) -> None:
    cause, probability, rivals = told(tmp_path, CONTAINED + LOST)
    alone = told(tmp_path, LOST)
    assert (cause, "gpu_hardware.ecc" in rivals) == ("gpu_hardware.fallen_off_bus", False)
    assert abs(probability - alone[1]) < 0.02


def test_a_fault_of_the_same_moment_stays_a_rival(tmp_path: Path) -> None:
    before = CONTAINED.replace("402117.553310", "511039.553310").replace("3b:00", "86:00").replace("2113305", "2240117")
    assert "gpu_hardware.ecc" in told(tmp_path, before + LOST)[2]
