"""Stacks of whole processes, by the tools that print them."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from forensics.model import Line
from forensics.model.stacks import ProcessStacks
from forensics.readers.identity.entity_ids import rank_of_file_name
from forensics.readers.python.process_stacks import read_stacks
from forensics.sources.formats import Head, recognise

CAPTURED = Path(__file__).parents[2] / "ranks" / "captured"


def read(text: str) -> tuple[ProcessStacks, ...]:
    return read_stacks([Line(n, t) for n, t in enumerate(text.split("\n"), 1)], "stacks.txt")


def test_py_spy_as_captured() -> None:
    path = next((CAPTURED / "late_loader_averaging_4" / "stacks").glob("*.txt"))
    (found,) = read(path.read_text())
    assert (found.tool, found.pid) == ("py-spy", int(path.stem))
    assert found.rank is not None
    main = found.main
    assert main is not None and main.name == "MainThread" and main.frames[-1].function == "<module>"
    assert main.lines[0].text.strip().endswith(f"({main.frames[0].file}:{main.frames[0].line})")


def test_a_collector_s_times_in_front_change_nothing() -> None:
    text = next((CAPTURED / "late_loader_averaging_4" / "stacks").glob("*.txt")).read_text()
    for front in (
        "2026-11-29T01:22:06.000000000Z ",
        "2026-11-29T01:22:06.000000000Z stderr F ",
        "Nov 29 01:22:06 gpu-7 train.sh[4711]: ",
    ):
        (plain,), (stamped,) = read(text), read("\n".join(front + line for line in text.split("\n")))
        assert (stamped.pid, stamped.rank, stamped.tool) == (plain.pid, plain.rank, plain.tool)
        assert [t.frames for t in stamped.threads] == [t.frames for t in plain.threads]


def test_native_frames_and_locals() -> None:
    (found,) = read(
        "Process 1: python t.py\nPython v3.11.7 (/usr/bin/python3)\n\n"
        'Thread 1 (idle): "MainThread"\n'
        "    clock_nanosleep (libc.so.6)\n"
        "    0x7fb600aa3f16 (libc.so.6)\n"
        "    c10::f<int, (long)1>(std::g<char (&)[2]>)::{lambda(int)#1} (libtorch_cpu.so)\n"
        "    wait_for (t.py:80)\n"
        "        Arguments:\n"
        '            path: "shards (1).bin:3"\n'
        "        Locals:\n"
        "            x: 3\n"
        "    <module> (t.py:9)\n"
    )
    assert found.main is not None
    assert [(f.function[:15], f.line) for f in found.main.frames] == [
        ("clock_nanosleep", 0),
        ("0x7fb600aa3f16", 0),
        ("c10::f<int, (lo", 0),
        ("wait_for", 80),
        ("<module>", 9),
    ]


def test_faulthandler_has_the_main_thread_last() -> None:
    (found,) = read(
        'Timeout (0:10:00)!\nThread 0x00007f (most recent call first):\n  File "/usr/lib/python3.11/threading.py", line 331 in wait\n\n'
        'Thread 0x00007e (most recent call first):\n  File "/run/train.py", line 71 in decode\n  File "/run/train.py", line 9 in <module>\n'
    )
    assert found.tool == "faulthandler"
    assert found.main is not None and found.main.frames[0].place == "train.py:71"


def test_gdb_has_the_main_thread_last_and_tells_files_of_its_own_code() -> None:
    (found,) = read(
        'Thread 2 (Thread 0x7f0000000700 (LWP 4712) "pt_nccl_watchdg"):\n#0  0x00007f3e in clock_nanosleep () from /lib64/libc.so.6\n'
        'Thread 1 (Thread 0x7f0000000740 (LWP 4711) "python"):\n#0  0x00007f3e in poll (fds=0x1, nfds=1) at poll.c:29\n'
        "#1  0x00007f3f in ncclProxyProgress(void*) () from /opt/lib/libnccl.so.2\n#2  main () at train.cc:88\n"
    )
    assert (found.tool, found.pid) == ("gdb", 4711)
    assert found.main is not None and found.main.name == "python"
    assert [(f.function, f.file, f.line) for f in found.main.frames] == [
        ("poll", "poll.c", 29),
        ("ncclProxyProgress", "/opt/lib/libnccl.so.2", 0),
        ("main", "train.cc", 88),
    ]


def test_py_spy_as_json_is_read_as_its_text() -> None:
    frames = [{"name": "load", "filename": "/run/data.py", "short_filename": "data.py", "line": 88}]
    frames.append({"name": "wait", "filename": "libc.so.6", "line": 0})
    thread = {"pid": 4711, "thread_id": 1, "thread_name": "MainThread", "os_thread_id": 4711, "active": True, "owns_gil": True}
    document = json.dumps(
        [{**thread, "frames": frames}, {**thread, "pid": 4712, "active": False, "owns_gil": False, "frames": frames}]
    )
    form = recognise(Head(document.encode()), raw=False)
    assert form is not None and form.name == "py-spy json"
    text = b"\n".join(piece[2] for piece in form.decode(iter([document.encode()]), lambda *_: None)).decode()
    first, second = read(text)
    assert (first.pid, second.pid) == (4711, 4712)
    assert first.main is not None and (first.main.name, first.main.state) == ("MainThread", "active+gil")
    assert [(f.file, f.line, f.function) for f in first.main.frames] == [("/run/data.py", 88, "load"), ("libc.so.6", 0, "wait")]


def test_a_file_with_the_stacks_of_all_ranks() -> None:
    text = "".join(
        f'=== Rank {rank}: node-1:{4000 + rank} ===\nThread 0x00007e (most recent call first):\n  File "/run/train.py", line {rank + 1} in f\n\n'
        for rank in range(3)
    )
    assert [(p.rank, p.main and p.main.frames[0].line) for p in read(text)] == [(0, 1), (1, 2), (2, 3)]


def test_other_texts_have_none() -> None:
    assert read("step 1 of 20\nThread 12 is idle\nPython v3.11 is here\n") == ()


def test_the_head_tells_the_child_its_parent_and_the_moment() -> None:
    head = "forensics run: stacks of pid 12 (python), child 1 of pid 10 on GPU-4 at 2026-11-29T20:55:59.250000+00:00; in the kernel: futex"
    text = [
        head,
        "Process 12: python a.py",
        "Python v3.11.7 (/usr/bin/python3)",
        "",
        'Thread 12 (idle): "MainThread"',
        "    f (a.py:3)",
    ]
    (one,) = read_stacks([Line(n, t) for n, t in enumerate(text, 1)], "stacks/12.txt")
    assert (one.pid, one.rank, one.child, one.host, one.kernel) == (12, None, (1, 10), "gpu-4", "futex")
    assert one.taken == datetime(2026, 11, 29, 20, 55, 59, 250000, UTC).timestamp()


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("logs/rank3.txt", 3),
        ("train_rank_12.err.log", 12),
        ("logs.tar.gz!run/attempt_0/2/stderr.log", 2),
        ("rank3/train.log", None),
        ("frank3.txt", None),
        ("slurm-4711.out", None),
    ],
)
def test_the_name_of_a_file_tells_the_rank_that_faulthandler_does_not(name: str, rank: int | None) -> None:
    assert rank_of_file_name(name) == rank


def test_each_dump_of_faulthandler_is_one_process() -> None:
    one = 'Timeout (0:00:07)!\nThread 0x00007eff687c4b80 (most recent call first):\n  File "/run/train.py", line {} in train\n'
    assert [found.main.frames[0].line for found in read(one.format(7) + one.format(9)) if found.main] == [7, 9]
