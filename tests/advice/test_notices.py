"""What is worth knowing beside the causes: swapping, slow-downs, retracing, and what several deaths share."""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from forensics import pipeline
from forensics.advice.notices import notices
from forensics.database import Database
from forensics.model import Incident, Observation, Proof, Report
from forensics.readers.settings.attempts import AttemptFacts
from forensics.report import render
from tests.report.samples import sample

ROOT = Path(__file__).parents[2]
Analyze = Callable[..., Report]
MAX_GROWTH = 9  # of the time for four times as many: 4 in proportion to them, 16 with their square
VMSTAT = """\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
25  0  90000 104284  14092  69612  {0}  812  6228  4071  883 1614 78  8 14  0  1
22  3  98000 100284  14092  69612  {0}  911  8864     0  632  868 97  3  0  0  0
"""


@pytest.mark.parametrize(
    ("log", "line", "why"),
    [
        ("Swap:          2.0Gi       2.0Gi       0.0Ki\nKilled\n", 1, "the swap space was full"),
        (VMSTAT.format(4000), 4, "4,911 KiB a second moved"),
        (
            "some avg10=60.11 avg60=1 avg300=1 total=5\nfull avg10=34.10 avg60=20.02 avg300=9.11 total=5\n",
            2,
            "waited at once for 34.10 %",
        ),
        ("09:00:01 AM  pswpin/s pswpout/s\n09:10:01 AM    120.50     3.00\n", 2, "120.5 pages a second"),
        (
            "18:41:29     %smem-10  %smem-60 %smem-300     %smem  %fmem-10  %fmem-60 %fmem-300     %fmem\n"
            "18:41:34        17.01      3.77      4.85     60.68      6.25      1.56      3.27     22.88\n"
            "18:41:44        31.37      9.72      6.14     27.95     12.88      4.02      3.75     13.30\n"
            "18:41:54        21.88     10.77      6.49     13.15     11.92      5.13      4.01      9.95\n",
            3,
            "waited at once for 12.88 %",  # sysstat 12.6.1, a machine whose job was made to swap
        ),
        ("10:00:01  kbswpfree kbswpused  %swpused\n10:10:01       1000    999000     99.90\n", 2, "99.9 % of the swap space"),
        (
            "WARNING:tensorflow:5 out of the last 5 calls to <function f at 0x7> triggered tf.function retracing. Tracing is expensive\n",
            1,
            "5 of 5 calls traced their function again",
        ),
    ],
)
def test_a_sign_of_trouble_is_told_with_its_line(analyze: Analyze, log: str, line: int, why: str) -> None:
    (found,) = [n for n in analyze(job_log=log).notices if why in n.why]
    assert found.line == line


@pytest.mark.parametrize(
    "log",
    [
        "Swap:          2.0Gi       1.0Gi       1.0Gi\n",
        "Swap:             0B          0B          0B\n",
        VMSTAT.format(0).replace("812", "  0").replace("911", "  0"),
        "full avg10=0.00 avg60=0.02 avg300=0.11 total=5\n",
        "09:00:01 AM  pswpin/s pswpout/s\n09:10:01 AM    0.50     0.00\n",
        "10:00:01  %smem-10 %smem-60 %smem-300 %smem %fmem-10 %fmem-60 %fmem-300 %fmem\n10:00:02  17.01 3 4 60 6.25 1 3 22.88\n",
    ],
)
def test_a_machine_with_room_is_no_notice(analyze: Analyze, log: str) -> None:
    assert [n for n in analyze(job_log=log).notices if "swap" in n.why or "waited" in n.why] == []


def test_steps_that_slow_down_are_told_with_the_likely_reason(analyze: Analyze) -> None:
    slow = "".join(f"step {i} loss 1.{i:03d} step_time {0.4 if i < 60 else 2.9:.2f}\n" for i in range(120))
    (found,) = [n for n in analyze(train_log=slow).notices if "times slower" in n.why]
    assert "steps became 7.25 times slower from step 60 on" in found.why
    assert found.line == 61
    assert "another program on the machine" in found.why


def test_memory_that_grew_until_it_was_given_back_is_told_with_its_speed(analyze: Analyze) -> None:
    used = [3] * 5 + [8000 + 100 * i for i in range(60)] + [3] * 10
    rows = "".join(f"2026/03/21 10:{t // 6:02}:{t % 6}0.123, 0, {u} MiB, 24576 MiB\n" for t, u in enumerate(used))
    report = analyze(gpu_csv="timestamp, index, memory.used [MiB], memory.total [MiB]\n" + rows)
    assert report.verdict == "no_crash"
    assert [n.why for n in report.notices] == ["GPU memory used gpu 0 grew from 7.81 GiB to 13.6 GiB, by 35.2 GiB an hour"]


def death(day: int, hour: int, host: str) -> Incident:
    time = datetime(2026, 3, day, hour, 5, tzinfo=UTC)
    proof = Proof("kern.log", day, "Killed process", "x/y", "proof")
    fields = {"host": host, "pid": day}
    made = Observation("x/y", "host_hardware.memory", "proof", "kern.log", day, day, (proof,), fields, time=time, ends="process")
    return Incident((made,))


@pytest.mark.parametrize(
    ("deaths", "told"),
    [
        ([death(1, 3, "n1"), death(2, 5, "n1"), death(3, 9, "n1"), death(4, 11, "n2")], ["3 of 4 deaths share the host n1"]),
        ([death(1, 3, "n1"), death(2, 3, "n2"), death(3, 3, "n3")], ["3 of 3 deaths share the hour of the day, 03:00 to 03:59"]),
        ([death(1, 3, "n1"), death(2, 5, "n1"), death(3, 9, "n1")], []),  # there is one host only
        ([death(1, 3, "n1"), death(1, 3, "n2"), death(1, 3, "n3")], []),  # one event of one day
        ([death(1, 3, "n1"), death(2, 4, "n1")], []),  # two by chance
    ],
)
def test_what_three_deaths_share_is_told(deaths: list[Incident], told: list[str]) -> None:
    found = [n.why for n in notices([], [], deaths)]
    assert [w.split(":")[0] if "hour" not in w else w.rsplit(":", 1)[0] for w in found] == told


@pytest.mark.parametrize(
    ("head", "name", "why"),
    [
        ("", "proc/pressure/memory", "for memory: the machine thrashed"),
        ("", "proc/pressure/io", "for disks or the network"),
        ("/proc/pressure/io:", "all.log", "for disks or the network"),
        ("", "cgroup/memory.pressure", "for memory: the control group thrashed"),
        ("", "watch.log", "the line does not say which"),
    ],
)
def test_a_stall_is_told_with_what_was_waited_for(head: str, name: str, why: str, knowledge: Database, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = f"{head}some avg10=60.11 avg60=1.00 avg300=1.00 total=5\n{head}full avg10=34.10 avg60=20.02 avg300=9.11 total=5\n"
    path.write_text(kind)
    report = pipeline.analyze_paths([tmp_path], "case", knowledge)
    assert [why in n.why for n in report.notices if "waited at once" in n.why] == [True]


def test_a_watcher_of_pressure_is_told_once_by_its_worst_reading(knowledge: Database) -> None:
    """Captured: four workers that share too little memory, and the pressure file of their control group, read each second."""
    report = sample("healthy_thrashing", knowledge)
    (found,) = [n for n in report.notices if "waited at once" in n.why]
    shares = [float(m[1]) for m in re.finditer(r"full avg10=([\d.]+)", (ROOT / found.source).read_text())]
    assert f"for {max(shares):.2f} % of the last ten seconds, for memory: the control group thrashed" in found.why
    assert "s of waiting from the first to the last reading" in found.why
    assert f"full avg10={max(shares):.2f} " in found.text
    assert report.subject.name.endswith("train.log")  # which ended well, not the watcher's file


def test_a_counter_that_falls_gives_no_sum(analyze: Analyze) -> None:
    """The group was made anew between two readings."""
    stalls = "".join(f"full avg10=34.10 avg60=1.00 avg300=1.00 total={n}\n" for n in (9_000_000, 1_000_000))
    (found,) = [n for n in analyze(memory_pressure=stalls).notices if "waited at once" in n.why]
    assert "first to the last" not in found.why


def test_runs_that_died_at_the_same_step_are_told_in_the_text(tmp_path: Path, knowledge: Database) -> None:
    """Three runs, some minutes apart, each a file of its own, as a shell with `2>&1` leaves them."""
    for run in range(3):
        steps = "".join(f"2026-11-23 16:{10 * run:02}:{s:02} step {s} loss {2.3 - s / 100:.4f}\n" for s in range(38))
        end = f"bash: line 1: {26546 + run} Segmentation fault      python3.11 train.py > run{run}.log 2>&1\n"
        (tmp_path / f"run{run}.log").write_text(steps + end)
    text = render(pipeline.analyze_paths([tmp_path], "case", knowledge), "text")
    assert "3 of 3 deaths share the place they reached, step 37" in " ".join(text.split())


def test_a_thing_that_a_watcher_prints_each_second_is_told_once(analyze: Callable[..., Report]) -> None:
    full = "Swap:            191         191           0\n"
    assert [n.line for n in analyze(train_log=full * 5 + "done\n").notices if "swap space" in n.why] == [1]


def test_what_many_deaths_share_takes_time_in_proportion_to_them() -> None:
    def seconds(count: int) -> float:
        proofs = [Proof(f"{i}.log", 2, "Killed process", "x/y", "proof") for i in range(count)]
        seen = [
            Observation("x/y", "host_hardware.memory", "proof", p.source, 2, 2, (p,), {"host": p.source}, ends="process")
            for p in proofs
        ]
        known = {p.source: (AttemptFacts(1, 3, {}),) for p in proofs}
        incidents = [Incident((o,)) for o in seen]
        taken = []
        for _ in range(3):
            begun = time.process_time()
            notices([], seen, incidents, known=known)
            taken.append(time.process_time() - begun)
        return min(taken)

    assert seconds(2400) < MAX_GROWTH * seconds(600)
