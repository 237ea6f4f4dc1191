"""No parser raises, whatever stands in a log: arbitrary lines, and lines made of the pieces that its patterns look for."""

from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics import readers
from forensics.model import Region
from forensics.readers import _kinds, _parser, _triggers_of
from tests.readers.regions import knowledge, scan_of

pytestmark = pytest.mark.usefixtures("little_memory")
PARSERS = [*map(_parser, _kinds())]
PIECES = [
    "0000:3b:00.0: AER: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)",
    "device [10de:2330] error status/mask=0/0",
    "[ 5] SDES (First)",
    "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.0GiB",
    "Next region of size 99999999999999999999",
    "total_region_allocated_bytes_: 1 memory_limit_: 0",
    "MaxInUse: 5",
    "Limit: 0",
    "NVRM: The NVIDIA GPU 0000:5d:00.0",
    "installed in this system has",
    "Fatal Python error: Aborted",
    "Timeout (0:99:99)!",
    "Current thread 0x1 (most recent call first):",
    '  File "a", line 1 in f',
    '): "MainThread"',
    'Thread 1 (idle): "MainThread"',
    "    f (a.py:1)",
    "      Exit Code:    137",
    "    Last State:     Terminated",
    "      Reason:       OOMKilled",
    "Name: x",
    "  main:",
    "    Limits:",
    "      memory: .Mi",
    "The node was low on resource: memory. Container a was using 1.1.1Ki, request is 0",
    "CPU 1: Machine Check: 0 Bank 7: be00000001010091",
    "PROCESSOR 2:1 TIME 999999999999 SOCKET 0",
    "IPID 9600150f00",
    "CPU 0 BANK 7",
    "STATUS 8c00004000010091 MCGSTATUS 0",
    "[Rank 99999999999999] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=199999999999999999999, OpType=X, Timeout(ms)=1)",
    "[PG ID 0 PG GUID 0(a) Rank 3]",
    "detected by watchdog at work: 1, last enqueued NCCL work: -1",
    "[1,,2] joined but didn't finish collective #4",
    "ranks [ ] are the lagging ranks that caused this timeout",
    "SXid (PCI::): 1, Fatal, Link 1 ",
    "nvidia-nvswitch1: SXid (PCI:0000:84:00.0): 12028, Data {",
    "[rank0]:",
    "Traceback (most recent call last):",
    '  File "/a/b.py", line 99999999999999999999, in f',
    "RuntimeError: x",
    "During handling of the above exception, another exception occurred:",
    "Exception ignored in: <function f at 0x1>",
    "2026-11-21 08:00:00,000 WARNING a: b",
    "ValueError                                Traceback (most recent call last)",
    "Root Cause (first observed failure):",
    "  exitcode  : -99999999999999999999 (pid: 1)",
    "  rank      : 1 (local_rank: 1)",
    "  traceback : Signal 9 (SIGKILL) received by PID 1",
    "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 9999; 1e400 GiB total capacity; nan MiB free)",
    "Process 1 has 1e999 GiB memory in use.",
    "a invoked oom-killer: gfp_mask=0x0, order=99999999999999999999, oom_score_adj=0",
    "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/a,task_memcg=/a,task=a,pid=1,uid=0",
    "Killed process 1 (a) total-vm:99999999999999999999kB, anon-rss:1kB, file-rss:1kB",
    "NVRM: Xid (PCI:0000:01:00): 999999999999, pid=1, name=a, Ch 1",
    "",
]
LINES = st.lists(st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=4).map(" ".join), min_size=1, max_size=12)


def region(lines: list[str], at: int, parser: ModuleType) -> Region:
    trigger = _triggers_of(parser)[0]
    before = "".join(f"{x}\n" for x in lines[:at]).encode("utf-8", "replace")
    after = "\n".join(lines[at + 1 :]).encode("utf-8", "replace")
    return Region("log", at + 1, lines[at], before, after, trigger.before, trigger.after)


@pytest.mark.seconds
@pytest.mark.parametrize("parser", PARSERS, ids=lambda p: p.__name__.rpartition(".")[2])
@given(lines=LINES, at=st.integers(0, 11))
def test_a_region_gives_a_record_or_nothing(parser: ModuleType, lines: list[str], at: int) -> None:
    at %= len(lines)
    record = parser.read(region(lines, at, parser))
    if record is not None:
        assert record.first <= at + 1 <= record.last
        assert record.quote
        assert record.outcome is None or record.outcome in parser.OUTCOMES


@pytest.mark.seconds
@given(lines=LINES)
def test_a_source_gives_events_in_order(lines: list[str]) -> None:
    lines = [x.replace("\n", " ") for x in lines]
    kinds = {_triggers_of(p)[0].kind: [region(lines, i, p) for i in range(len(lines))] for p in PARSERS}
    events = readers.read(scan_of(kinds), knowledge())
    assert [e.line for e in events] == sorted(e.line for e in events)
    assert all(e.count >= 1 and e.line <= e.last_line and e.proofs for e in events)
