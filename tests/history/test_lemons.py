"""Units that fail more often than the others; victims never count."""

from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="needs the extra history")

from forensics.core.errors import UsageError
from forensics.history.jobs import read_exposure
from forensics.history.lemons import Lemons, lemons
from forensics.history.opening import open_store
from tests.history.made import incident

MACHINE = ("gpu_hardware.ecc", "host_hardware.memory")
HOURS = {f"gpu-{n}": 1000.0 for n in range(200)}


def asked(incidents: list, exposure: dict[str, float] | None = None, unit: str = "node") -> Lemons:  # type: ignore[type-arg]
    store = open_store(":memory:")
    store.add(incidents, at_once=1000)
    return lemons(store, MACHINE, exposure, unit)


def test_separate_jobs_count_and_lines_do_not() -> None:
    found = asked([incident(n, job="7") for n in range(9)] + [incident(100 + n, node="gpu-2") for n in range(3)])
    assert [(u.name, u.jobs) for u in found.units] == [("gpu-2", 3), ("gpu-1", 1)]


def test_without_exposure_counts_are_told_and_nobody_is_a_lemon() -> None:
    found = asked([incident(n) for n in range(30)])
    assert "the hours of work are unknown" in found.note
    assert (found.units[0].jobs, found.units[0].rate, found.units[0].lemon) == (30, None, False)


@pytest.mark.seconds
def test_victims_and_program_faults_never_count() -> None:
    assert not asked([incident(n, cause="distributed.peer_lost") for n in range(30)], HOURS).units
    assert not asked([incident(n, verdict="undetermined") for n in range(30)], HOURS).units


def test_a_lemon_is_told_with_its_rate_and_one_that_worked_more_is_none() -> None:
    ordinary = [incident(n, node=f"gpu-{n % 200}") for n in range(200)]
    found = asked(ordinary + [incident(1000 + n, node="gpu-7") for n in range(15)], HOURS)
    assert [u.name for u in found.units if u.lemon] == ["gpu-7"]
    worst = found.units[0]
    assert worst.low is not None and worst.rate is not None and worst.high is not None
    assert 1 < worst.low < worst.rate < worst.high
    assert worst.rate < 16  # 16 a thousand hours was seen: shrunken towards the fleet's 1
    busy = HOURS | {"gpu-7": 16_000.0}
    assert not [u for u in asked(ordinary + [incident(1000 + n, node="gpu-7") for n in range(15)], busy).units if u.lemon]


def test_other_units_and_exposure_from_files(tmp_path: Path) -> None:
    found = asked([incident(n, gpu="GPU-aa") for n in range(4)], None, "gpu")
    assert [(u.name, u.jobs) for u in found.units] == [("GPU-aa", 4)]
    table = tmp_path / "hours.csv"
    table.write_text("node,hours\ngpu-1,12.5\n")
    assert read_exposure(table) == {"gpu-1": 12.5}
    table.write_text("JobID|Start|End|NodeList\n1|2026-10-03T07:00:00|2026-10-03T09:00:00|gpu-[1-2]\n")
    assert read_exposure(table) == {"gpu-1": 2.0, "gpu-2": 2.0}
    table.write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match="no column JobID"):
        read_exposure(table)
    with pytest.raises(UsageError, match="no unit"):
        asked([], None, "rack")
