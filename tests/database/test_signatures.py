"""Every signature is proven by its own examples; every cause of the taxonomy is there and complete."""

import functools

import pytest

from forensics.data_files.form import Fault
from forensics.database import HEALTHY, builtin_folder, read_table
from forensics.database.causefiles import read_causes
from forensics.database.entries import Cause
from forensics.database.validate import check
from forensics.report.redaction import mask_text

# The contract of ids: reports, signatures and labelled incidents use them.
CAUSES = {
    "host_memory": "oom_global oom_cgroup oom_daemon alloc_refused shm leak",
    "gpu_memory": "capacity fragmentation other_process leak",
    "gpu_hardware": "fallen_off_bus ecc nvlink firmware thermal_power pcie",
    "gpu_driver": "mismatch unavailable fabric hang",
    "gpu_program": "illegal_access device_assert arch library",
    "distributed": "timeout network peer_lost rendezvous",
    "process": "segfault abort illegal_instruction bus_error fork_threads stalled worker_died resource_limit",
    "stopped": "time_limit preempted user",
    "numerics": "nan",
    "code": "shape dtype_device index import config exception",
    "data": "missing corrupt download",
    "storage": "full io_error network_fs",
    "host_hardware": "memory cpu thermal power pcie nic",
    "host_os": "panic lockup",
    "notebook": "kernel_died kernel_start connection_lost",
    "none": "healthy",
}


@functools.cache
def read() -> tuple[list[Cause], list[Fault]]:
    return read_causes(builtin_folder())


def causes() -> list[Cause]:
    return read()[0]


@pytest.mark.seconds
def test_the_database_has_no_fault() -> None:
    """Every signature matches its examples and nothing near, among all that `check` looks at."""
    found, faults = read()
    assert [str(f) for f in faults + check(found)] == []
    assert [c.id for c in found if not c.signatures] == []


def test_every_cause_has_its_file() -> None:
    expected = {f"{family}.{name}" for family, names in CAUSES.items() for name in names.split()}
    assert {c.id for c in causes()} == expected
    assert len(expected) == 64


def test_a_cause_says_what_it_means_and_what_to_do() -> None:
    for cause in causes():
        assert cause.title, cause.id
        assert cause.means, cause.id
        if cause.id != HEALTHY:
            assert len(cause.remedies) >= 2, cause.id
            assert all(r.why for r in cause.remedies), cause.id
            assert all(mask_text(c) == c for r in cause.remedies for c in r.commands), f"{cause.id}: a report would hide a part"
            assert any(not r.when for r in cause.remedies), f"{cause.id}: one remedy must fit without any field"


def test_the_xid_table_names_known_causes() -> None:
    known = {c.id for c in causes()}
    rows = read_table("xid")
    assert len(rows) == 177
    assert {r["cause"] for r in rows.values()} <= known
    assert {rows[c]["role"] for c in ("43", "45")} == {"victim"}
    assert rows["79"]["cause"] == "gpu_hardware.fallen_off_bus"


def test_few_causes_explain_each_other() -> None:
    by_id = {c.id: c for c in causes()}

    def explains(a: Cause, b: str) -> bool:
        return bool({b, b.split(".")[0] + ".*"} & set(a.explains))

    mutual = {
        tuple(sorted((a.id, b)))
        for a in by_id.values()
        for b in by_id
        if a.id != b and explains(a, b) and explains(by_id[b], a.id)
    }
    # Either of these may come first; which one did is decided by evidence and order.
    assert mutual <= {("code.exception", "process.worker_died"), ("gpu_driver.hang", "gpu_hardware.firmware")}
