"""What links two events, of each kind, and what keeps them apart."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import forensics
from forensics.correlation import EntityIds, IdMapping, IdMappings, find_links
from forensics.model import Observation, Report, Stamp, Value
from tests.correlation.helpers import event

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ID = "3f2a91c07d55" + "0" * 52
OTHER_ID = "77aa91c07d55" + "0" * 52
UID = "8a0c2f1e-1234-4567-89ab-0123456789ab"
SAMPLES = Path(__file__).parents[2] / "sample_logs"
WORKER = "(train_worker pid=17) Worker died"
RAY = "ray::train_work"  # of ray::train_worker, cut at 15 bytes


def made(
    source: str, text: str = "x", at: float | None = None, line: int = 1, off: float = 1.0, kind: str = "", **fields: Value
) -> Observation:
    """An event `at` seconds after noon, None for an unknown time."""
    time = None if at is None else NOON + timedelta(seconds=at)
    return replace(event(source, line, text, **fields), kind=kind or source, time=time, uncertainty_s=None if at is None else off)


def by(*events: Observation, told: tuple[IdMapping, ...] = ()) -> list[str]:
    return [k.by for k in find_links(list(events), IdMappings(told))]


LINKED = [
    ("pid", made("dmesg.log", pid=4711), made("train.log", pid=4711), "pid 4711"),
    ("pid of who wrote the line", made("d", pid=4711), made("t", "gpu-7:4711:4790 [3] NCCL WARN x"), "pid 4711"),
    ("small pid at once", made("d", at=0, pid=17), made("t", at=2, pid=17), "pid 17"),
    ("notebook kernel", made("a", kernel_id="123C3BDE-42"), made("b", kernel_id="123c3bde-42"), "notebook kernel 123c3bde-42"),
    ("PCI address", made("d", pci="0000:3b:00"), made("t", pci="00000000:3B:00.0"), "PCI address 0000:3b:00"),
    ("PCI address of lspci", made("d", pci="0000:3b:00"), made("t", pci="3b:00.0"), "PCI address 0000:3b:00"),
    ("UUID", made("a", uuid="GPU-5d2C"), made("b", uuid="GPU-5D2c"), "GPU gpu-5d2c"),
    ("container", made("d", cgroup=f"/docker/{ID}"), made("t", f"container oom {ID} (name=x)"), f"container {ID[:12]}"),
    ("container of a file", made("d", cgroup=f"/docker/{ID}"), made(f"c/{ID}/{ID}-json.log"), f"container {ID[:12]}"),
    (
        "container of kubectl",
        made("d", cgroup=f"/kubepods.slice/kubepods-pod1.slice/cri-containerd-{ID}.scope"),
        made("pod.txt", container="main", container_id=ID),
        f"container {ID[:12]}",
    ),
    (
        "pod by uid",
        made("d", cgroup=f"/kubepods.slice/kubepods-burstable-pod{UID.replace('-', '_')}.slice/x"),
        made("pod.txt", pod="train-0", pod_uid=UID),
        f"pod uid {UID}",
    ),
    ("pod by a file", made("d", pod="train-0"), made(f"pods/ml_train-0_{UID}/main/0.log"), "pod train-0"),
    ("unit", made("d", cgroup="/system.slice/train.service"), made("s", unit="train.service"), "unit train.service"),
    ("job step", made("d", limit_path="/slurm/uid_1/job_4711/step_0/task_1"), made("s", job="4711", step="4711.0"), "job step 4711.0"),
    ("other step", made("d", limit_path="/slurm/uid_1/job_4711/step_0"), made("s", job="4711", step="4711.batch"), "job 4711"),
    ("job of cgroup 2", made("d", cgroup="/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0"), made("slurm-4711.out"), "job 4711"),
    ("job in a line", made("d", limit_path="/job_4711"), made("s", "slurmstepd: error: *** JOB 4711 ON n1 CANCELLED"), "job 4711"),
    ("cgroup", made("d", limit_path="/train", at=0), made("k", limit_path="/train", at=900), "cgroup /train"),
    ("rank", made("a", rank=3), made("b", rank=3), "rank 3"),
    ("local rank", made("a", local_rank=0, host="n1"), made("b", local_rank=0, host="n1"), "local rank 0"),
    ("GPU index", made("a", gpu=3), made("b", gpu=3), "GPU 3"),
    ("GPU of a local rank", made("a", gpu=3, host="n1"), made("b", local_rank=3, host="n1"), "GPU 3, taken for local rank 3"),
    ("telling name", made("d", task=RAY, pid=4711), made("r", WORKER.replace(" pid=17", "")), f"process name {RAY}"),
    ("time", made("d", at=0), made("j", at=2.4), "time, 2.4 s apart, known within 2 s"),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "told"), [c[1:] for c in LINKED], ids=[c[0] for c in LINKED])
def test_two_events_of_one_thing_are_linked_in_either_order(a: Observation, b: Observation, told: str) -> None:
    assert by(a, b) == [told]
    assert by(b, a) == [told]


APART = [
    ("pid on another host", made("a", pid=4711, host="n1"), made("b", pid=4711, node="n2")),
    ("pid in another job", made("d", pid=4711, limit_path="/job_1"), made("slurm-2.out", pid=4711)),
    ("pid in another container", made("d", pid=4711, cgroup=f"/docker/{ID}"), made(f"{OTHER_ID}-json.log", pid=4711)),
    ("small pid, later", made("a", at=0, pid=17), made("b", at=900, pid=17)),
    ("small pid, no times", made("a", pid=17), made("b", pid=17)),
    ("init", made("a", pid=1), made("b", pid=1)),
    ("pid 0 of a launcher", made("a", pid=0), made("b", pid=0)),
    ("pid days later", made("a", at=0, pid=4711), made("b", at=3 * 86400, pid=4711)),
    ("PCI address of two like nodes", made("a", at=0, pci="0:3b:0", kind="xid"), made("b", at=900, pci="0:3b:0", kind="xid")),
    ("rank on two hosts", made("a", rank=3, host="n1"), made("b", rank=3, host="n2")),
    ("local rank on two hosts", made("a", local_rank=3, host="n1"), made("b", local_rank=3, host="n2")),
    ("GPU of a local rank elsewhere", made("a", gpu=3, host="n1"), made("b", local_rank=3, host="n2")),
    ("GPU of a local rank, hosts unknown", made("a", gpu=3), made("b", local_rank=3)),
    ("GPU of another local rank", made("a", gpu=3, host="n1"), made("b", local_rank=2, host="n1")),
    ("common name", made("d", task="python3"), made("k", task="python3")),
    ("name of PyTorch's threads", made("d", task="pt_main_thread"), made("k", task="pt_main_thread")),
    ("name at another time", made("d", at=0, task=RAY), made("k", at=900, task=RAY)),
    ("name of another process", made("d", at=0, task=RAY, pid=4711), made("d", at=1, line=2, task=RAY, pid=4712)),
    ("array's number is no job's", made("d", limit_path="/job_123"), made("slurm-123_4.out")),
    ("wide cgroup", made("d", limit_path="/user.slice"), made("k", limit_path="/user.slice")),
    ("another GPU", made("d", pci="0000:3b:00"), made("t", pci="0000:3c:00")),
    ("time, too far", made("d", at=0), made("j", at=9)),
    ("time, in another job", made("d", at=0, limit_path="/job_1"), made("slurm-2.out", at=1)),
]


@pytest.mark.parametrize(("a", "b"), [c[1:] for c in APART], ids=[c[0] for c in APART])
def test_a_contradiction_prevents_a_link(a: Observation, b: Observation) -> None:
    assert by(a, b) == []


def test_hosts_are_compared_without_their_domain() -> None:
    assert by(made("a", pid=4711, host="gpu-7"), made("b", pid=4711, host="GPU-7.cluster.example")) == ["pid 4711"]
    assert by(made("a", pid=4711, host="gpu-7"), made("b", pid=4711, host="gpu-70")) == []


def test_a_folder_with_the_name_of_a_host_belongs_to_it() -> None:
    table = made("train.log", pid=4711, rank=9, host="node-1")
    assert by(table, made("node-1/dmesg.log", pid=4711)) == ["pid 4711"]
    assert by(table, made("node-2/dmesg.log", pid=4711), made("b", host="node-2", at=0)) == []


def test_a_syslog_is_of_the_host_that_its_lines_name() -> None:
    kernel = made("kern.log", "Nov 21 12:00:00 n2 kernel: Killed process 4711", pid=4711, line=2)
    assert by(kernel, made("train.log", pid=4711, host="n1")) == []
    assert by(kernel, made("train.log", pid=4711, host="n2")) == ["pid 4711"]


def test_a_pid_is_used_again_after_the_machine_was_started_anew() -> None:
    def kernel(line: int, at: float, uptime: float, **fields: Value) -> Observation:
        one = made("dmesg.log", at=at, line=line, **fields)
        return replace(one, stamp=Stamp(wall=one.time, mono=uptime))

    before, after = kernel(1, 0, 90_000.0, pid=4711), kernel(2, 1800, 600.0, pid=4711)
    assert by(before, after) == []
    assert by(before, kernel(2, 1800, 91_800.0, pid=4711)) == ["pid 4711"]
    other = kernel(3, 1900, 700.0, pid=99)
    assert by(before, other, made("train.log", at=1950, pid=4711)) == []


def test_seconds_of_two_boots_without_a_date_are_no_link() -> None:
    a, b = made("dmesg.log", pid=4711), made("dmesg.log", line=9, pid=4711)
    assert by(replace(a, lane="boot of dmesg.log"), replace(b, lane="boot 2 of dmesg.log")) == []
    assert by(replace(a, lane="boot of dmesg.log"), replace(b, lane="boot of dmesg.log")) == ["pid 4711"]


def test_a_table_joins_a_rank_with_its_process() -> None:
    row = IdMapping(58, EntityIds("train.log", host="n1", pid=4711, rank=3, local_rank=3))
    kill, watchdog = made("dmesg.log", pid=4711), made("rank3.log", rank=3)
    assert by(kill, watchdog) == []
    assert by(kill, watchdog, told=(row,)) == ["pid 4711 of rank 3 (train.log:58)"]
    assert by(kill, made("rank2.log", rank=2), told=(row,)) == []
    assert by(made("dmesg.log", pid=4711, host="n2"), watchdog, told=(row,)) == []


def test_a_rank_that_had_two_processes_has_no_pid_but_each_of_them_is_that_rank() -> None:
    rows = tuple(IdMapping(n, EntityIds("train.log", pid=pid, rank=3)) for n, pid in ((58, 4711), (99, 4999)))
    assert by(made("dmesg.log", pid=4711), made("rank3.log", rank=3), told=rows) == ["rank 3 of pid 4711 (train.log:58)"]
    torn = tuple(IdMapping(n, EntityIds("train.log", pid=4711, rank=rank)) for n, rank in ((58, 3), (99, 4)))
    both = (*torn, *rows)
    assert by(made("dmesg.log", pid=4711), made("rank3.log", rank=3), told=both) == []


def test_a_table_joins_the_index_of_a_gpu_with_its_address_and_its_processes() -> None:
    gpu = IdMapping(9, EntityIds("smi.txt", gpu=3, pci="0000:cb:00"))
    user = IdMapping(20, EntityIds("smi.txt", gpu=3, pid=4711))
    xid = made("dmesg.log", pci="0000:cb:00")
    assert by(xid, made("train.log", gpu=3), told=(gpu,)) == ["PCI address 0000:cb:00 of GPU 3 (smi.txt:9)"]
    assert by(made("dmesg.log", gpu=3), made("train.log", pid=4711), told=(user,)) == ["pid 4711 of GPU 3 (smi.txt:20)"]


def test_an_event_that_names_two_numbers_joins_them() -> None:
    xid = made("dmesg.log", pci="0000:cb:00", pid=4711)
    again = made("dmesg.log", line=2, pci="0000:cb:00")
    told = by(xid, again, made("train.log", pid=4711))
    assert told == ["pid 4711", "PCI address 0000:cb:00", "pid 4711 of PCI address 0000:cb:00 (dmesg.log:1)"]


def test_other_pids_inside_a_container_are_told_with_the_time() -> None:
    told = by(made("dmesg.log", at=0, pid=23813), made("train.log", at=1, pid=17))
    assert told == ["time, 1.0 s apart, known within 2 s; pids 23813 and 17 may be one process, inside a container and outside"]


def test_where_pids_mean_the_same_processes_two_are_not_linked_by_time() -> None:
    same = made("dmesg.log", at=-3600, pid=500), made("train.log", at=-3600, pid=500)
    other = made("dmesg.log", at=0, line=2, pid=4711), made("train.log", at=1, line=2, pid=4712)
    assert by(*same, *other) == ["pid 500"]


def test_time_on_two_hosts_is_told_as_such() -> None:
    told = by(made("a", at=0, host="n1"), made("b", at=1, host="n2"))
    assert told == ["time, 1.0 s apart, known within 2 s, on n1 and n2"]


@pytest.mark.parametrize(("at", "off", "linked"), [(5.0, 0.0, True), (5.1, 0.0, False), (7.0, 1.0, True), (7.1, 1.0, False)])
def test_how_far_apart_two_events_may_be_depends_on_how_well_their_times_are_known(at: float, off: float, linked: bool) -> None:
    assert bool(by(made("d", at=0, off=off), made("j", at=at, off=off))) == linked


def test_a_banner_is_linked_with_nothing_by_time() -> None:
    banner = replace(made("slurmd.log", at=1), cause="none.healthy", weight="hint")
    assert by(made("dmesg.log", at=0), banner) == []


def test_many_events_are_linked_soon_and_the_surest_are_not_left_out() -> None:
    def flood(i: int) -> Observation:
        hint = made(f"rank{i % 64}.log", at=i / 100, line=i + 1, rank=i % 64, pid=5000 + i % 64, job="7")
        return replace(hint, weight="hint")

    events = [*(flood(i) for i in range(3000)), made("dmesg.log", at=31, pid=5003), made("train.log", at=32, pid=5003)]
    began = perf_counter()
    told = find_links(events)
    assert perf_counter() - began < 5
    assert ("dmesg.log", 1) in {p for k in told for p in (k.first, k.second)}
    assert any({k.first[0], k.second[0]} == {"dmesg.log", "train.log"} and k.by == "pid 5003" for k in told)


NAMES = (
    "pid",
    "rank",
    "local_rank",
    "gpu",
    "pci",
    "uuid",
    "host",
    "node",
    "job",
    "step",
    "task",
    "container",
    "limit_path",
    "unit",
    "pod",
)
VALUES = st.one_of(
    st.integers(-1, 3),
    st.floats(0, 3),
    st.sampled_from(["n1", "0000:3b:00", "/job_1/step_0", "1", "1_2", "1.0", "", "٣", "ray::x", ID]),
    st.text(max_size=5),
)
EVENTS = st.builds(
    lambda source, line, at, fields: made(source, at=at, line=line, **fields),
    st.sampled_from(["a.log", "b.log", "slurm-1.out"]),
    st.integers(1, 5),
    st.none() | st.floats(0, 20),
    st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4),
)


@pytest.mark.seconds
@given(st.lists(EVENTS, max_size=8))
def test_whatever_events_name_links_join_two_of_them_once_and_in_any_order_the_same(events: list[Observation]) -> None:
    unique = list({e.place: e for e in events}.values())
    told = find_links(unique)
    pairs = [frozenset((k.first, k.second)) for k in told]
    assert len(set(pairs)) == len(pairs)
    assert {p for pair in pairs for p in pair} <= {e.place for e in unique}
    numbered = {(frozenset((k.first, k.second)), k.kind) for k in told if k.kind != "time"}
    assert numbered == {(frozenset((k.first, k.second)), k.kind) for k in find_links(unique[::-1]) if k.kind != "time"}


def linked(report: Report) -> dict[str, str]:
    """Source -> how the first line quoted from it is linked, over the first cause and what followed from it."""
    found: dict[str, str] = {}
    for finding in report.causes:
        for proof in finding.evidence:
            if proof.linked_by:
                found.setdefault(Path(proof.source).name, proof.linked_by)
    return found


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("case", "source", "kind"),
    [
        ("oom_torchrun", "train.log", "pid "),
        ("gunicorn_oom", "gunicorn.log", "pid "),
        ("oom_other_zone", "train.log", "pid "),
        ("segfault_kernel", "train.log", "pid "),
        ("slurm_oom", "slurmd.log", "job step 1.0"),
        ("slurm_oom", "slurm-1.out", "job step 1.0"),
        ("slurm_segfault", "slurm-1.out", "time, "),
        ("jupyter_oom", "jupyter.log", "time, "),
        ("mpi_rank_oom", "mpi.log", "time, "),
    ],
)
def test_captured_logs_are_linked_by_what_they_share(case: str, source: str, kind: str) -> None:
    assert linked(forensics.analyze(SAMPLES / case))[source].startswith(kind)


NCCL = "gpu-7:{pid}:{tid} [{gpu}] NCCL INFO comm 0x55d0 rank {rank} nranks 8 cudaDev {gpu} nvmlDev {gpu} busId {bus}000 - Init COMPLETE\n"
XID = "[Fri Aug 22 03:10:00 2025] NVRM: Xid (PCI:0000:cb:00): 79, GPU has fallen off the bus.\n"
TIMEOUT = (
    "2025-08-22 03:40:01,000 ERROR [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, "
    "NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800012 milliseconds before timing out.\n"
)


def test_nccls_own_lines_join_the_rank_with_the_gpu_of_the_xid(analyze: Callable[..., Report]) -> None:
    init = "".join(NCCL.format(pid=4700 + i, tid=4800 + i, gpu=i, rank=i, bus=f"c{8 + i:x}") for i in range(4))
    report = analyze(dmesg_txt=XID, train_log=init + TIMEOUT.format(rank=3))
    assert report.causes[0].id == "gpu_hardware.fallen_off_bus"
    assert linked(report) == {"train.log": "PCI address 0000:cb:00 of rank 3 (train.log:4)"}
    assert linked(analyze(dmesg_txt=XID, train_log=init + TIMEOUT.format(rank=2))) == {}


SMI = """+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|=========================================+========================+======================|
|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:07:00.0 Off |                    0 |
|   1  NVIDIA A100-SXM4-80GB          On  |   00000000:CB:00.0 Off |                    0 |
+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|    1   N/A  N/A      4711      C   python                                       1000MiB |
+-----------------------------------------------------------------------------------------+
"""


def test_an_nvidia_smi_joins_the_process_with_its_gpu(analyze: Callable[..., Report]) -> None:
    died = "2025-08-22 03:10:05,000 ERROR RuntimeError: DataLoader worker (pid {pid}) is killed by signal: Killed.\n"
    own = analyze(dmesg_txt=XID.replace(": 79, ", ": 79, pid=4711, name=python, "), smi_txt=SMI, train_log=died.format(pid=4711))
    assert linked(own)["train.log"] == "pid 4711"
    assert any("pid 4711" in k for k in own.incidents[0].links)
