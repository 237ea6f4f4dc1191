"""Several sources on one clock, or honestly not. All texts are made here."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forensics.correlation import align_clocks, assign_times, find_links, group_incidents
from forensics.correlation.stream import entries, merge_streams, numbered_lines
from forensics.model import Observation, Warning
from tests.correlation.helpers import clock_for, clocks_for, event, source_of
from tests.readers.regions import knowledge

KILL = "Memory cgroup out of memory: Killed process 4242 (python3)"
DIED = "2025-05-02 {time} INFO worker (pid 4242) died"


def joined(texts: dict[str, str], events: list[Observation]) -> tuple[list[Observation], list[Warning]]:
    noted: list[Warning] = []
    clocks = align_clocks(events, clocks_for(**{k.replace(".", "_"): v for k, v in texts.items()}), knowledge(), noted.append)
    return assign_times(events, clocks), noted


@pytest.mark.parametrize(
    ("own", "told", "kept"),
    [
        ("17:15:04", "17:15:04", False),
        ("10:15:04", "17:15:04", True),
        ("22:45:10", "17:15:10", True),
        ("10:22:04", "10:22:04", False),
    ],
)
def test_a_shared_pid_shows_the_time_zone(own: str, told: str, kept: bool) -> None:
    kernel, job = f"[Fri May  2 17:15:03 2025] {KILL}", DIED.format(time=own + ",000")
    events = [
        event("dmesg.log", 1, kernel, "host_memory.oom_cgroup", pid=4242),
        event("train.log", 1, job, "process.worker_died", pid=4242),
    ]
    got, noted = joined({"dmesg.log": kernel, "train.log": job}, events)
    by = {e.source: e for e in got}
    assert by["train.log"].time and by["train.log"].time.astimezone(UTC).strftime("%H:%M:%S") == told
    assert by["dmesg.log"].time == datetime(2025, 5, 2, 17, 15, 3, tzinfo=UTC)
    assert any("share pid 4242" in w.message for w in noted) == kept


def test_a_kill_and_a_restart_show_the_time_zone_if_their_seconds_agree() -> None:
    kernel = f"[Fri May  2 17:15:03 2025] {KILL}"
    near, far = "[I 2025-05-02 19:15:05.100 ServerApp] restarting", "[I 2025-05-02 19:21:05.100 ServerApp] restarting"
    for text, offset in ((near, timedelta(hours=2)), (far, timedelta())):
        events = [event("dmesg.log", 1, kernel, "host_memory.oom_cgroup"), event("j.log", 1, text, "notebook.kernel_died")]
        got, _ = joined({"dmesg.log": kernel, "j.log": text}, events)
        assert next(e.time for e in got if e.source == "j.log").utcoffset() == offset  # type: ignore[union-attr]


def test_a_clock_with_a_zone_is_never_moved() -> None:
    kernel, job = f"2025-05-02T17:15:03+0000 n kernel: {KILL}", "2025-05-02T10:15:04+0000 n train[1]: worker 4242 died"
    events = [event("a.log", 1, kernel, "host_memory.oom_cgroup", pid=4242), event("b.log", 1, job, pid=4242)]
    got, noted = joined({"a.log": kernel, "b.log": job}, events)
    assert {e.time.hour for e in got if e.time} == {10, 17} and noted == []


def test_seconds_since_boot_stay_apart_and_say_what_would_help() -> None:
    kernel, job = f"[11686.888109] {KILL}", DIED.format(time="17:15:04,000")
    events = [event("dmesg.log", 1, kernel, "host_memory.oom_cgroup", pid=4242), event("train.log", 1, job, pid=4242)]
    got, noted = joined({"dmesg.log": kernel, "train.log": job}, events)
    bare = next(e for e in got if e.source == "dmesg.log")
    assert (bare.time, bare.lane) == (None, "boot of dmesg.log")
    told = [w for w in noted if w.kind == "clock"]
    assert [w.source for w in told] == ["dmesg.log"]
    assert "dmesg -T" in told[0].message and "journalctl -k -o short-iso" in told[0].message and "train.log" in told[0].message


def test_the_same_message_with_a_time_is_an_anchor() -> None:
    kernel, syslog = f"[11686.888109] {KILL}", f"2025-05-02T17:15:03+00:00 n kernel: {KILL}"
    events = [event("dmesg.log", 1, kernel, "host_memory.oom_cgroup", pid=4242)]
    events.append(event("kern.log", 1, syslog, "host_memory.oom_cgroup", pid=4242))
    got, noted = joined({"dmesg.log": kernel, "kern.log": syslog}, events)
    assert {e.time for e in got} == {datetime(2025, 5, 2, 17, 15, 3, tzinfo=UTC)}
    assert ["same message" in w.message for w in noted] == [True]


def test_a_clock_set_back_does_not_turn_the_lines_of_its_source() -> None:
    rows = ["2025-05-02 10:00:00,000 INFO a", "2025-05-02 10:00:09,000 INFO b", "2025-05-02 10:00:04,000 INFO c"]
    events = [event("a.log", n, row) for n, row in enumerate(rows, 1)]
    got, _ = joined({"a.log": "\n".join(rows)}, events)
    assert [e.line for e in got] == [1, 2, 3]
    assert [e.line for e in group_incidents(got, knowledge())[0].events] == [1, 2, 3]
    assert got[2].time == datetime(2025, 5, 2, 10, 0, 4, tzinfo=UTC)


@pytest.mark.parametrize(("second", "off"), [("10:00:05", 8.0), ("10:05:00", None)])
def test_a_line_without_a_stamp_lies_between_its_neighbours(second: str, off: float | None) -> None:
    rows = ["2025-05-02 10:00:00,000 INFO a", "ValueError: x", f"2025-05-02 {second},000 INFO b", "ValueError: the end"]
    events = [event("a.log", 2, rows[1]), event("a.log", 4, rows[3])]
    got, _ = joined({"a.log": "\n".join(rows)}, events)
    by = {e.line: e for e in got}
    assert by[2].time == (datetime(2025, 5, 2, 10, tzinfo=UTC) if off else None)
    assert by[2].uncertainty_s == pytest.approx(off, abs=0.01) if off else by[2].uncertainty_s is None
    assert by[4].time is None


def test_a_message_that_was_printed_again_has_no_time_where_its_line_has_no_stamp() -> None:
    rows = [
        "2025-05-02 10:00:00,000 WARN a",
        "NoClassDefFoundError: x",
        "2025-05-02 11:30:00,000 WARN a",
        "NoClassDefFoundError: x",
    ]
    one = event("a.log", 1, rows[0])
    again = replace(one.proofs[0], line=4, text=rows[3])
    inside = replace(one, proofs=(one.proofs[0], replace(again, line=2)))
    got, _ = joined({"a.log": "\n".join(rows)}, [replace(inside, proofs=(*inside.proofs, again), count=2)])
    assert [p.time is None for p in got[0].proofs] == [False, True, True]
    assert got[0].proofs[1].time_uncertainty_s is None
    got, _ = joined({"a.log": "\n".join(rows)}, [inside])
    assert [p.time is None for p in got[0].proofs] == [False, False]


def test_two_clocks_in_one_source_make_two_incidents_not_one_a_turn() -> None:
    rows = [f"2025-05-02 {h}:00:0{s},000 INFO a" for s in range(4) for h in (10, 17)]
    events = [event("a.log", n, row) for n, row in enumerate(rows, 1)]
    got, _ = joined({"a.log": "\n".join(rows)}, events)
    assert [len(i.events) for i in group_incidents(got, knowledge())] == [4, 4]


def test_the_same_pid_on_two_hosts_is_no_link() -> None:
    a = event("a.log", 1, "x", pid=4242, host="n1")
    assert find_links([a, event("b.log", 1, "x", pid=4242, host="n2")]) == []
    assert [k.by for k in find_links([a, event("b.log", 1, "x", pid=4242, host="n1")])] == ["pid 4242"]


def test_lines_are_numbered_over_blocks() -> None:
    source = source_of("a.log", "one\ntwo is longer than a block\n\nfour")
    assert [(x.number, x.text) for x in numbered_lines(source, lambda _: None)] == [
        (1, "one"),
        (2, "two is longer than a block"),
        (3, ""),
        (4, "four"),
    ]


def test_indented_lines_belong_to_the_entry_and_others_take_its_time() -> None:
    text = "2025-05-02 10:00:00,000 ERROR a\n    more\nTraceback (most recent call last):\n  File x\nValueError: y\n"
    got = list(entries(source_of("a.log", text), clock_for(text)[0]))
    assert [(e.line, e.text.count("\n"), e.level, e.uncertainty_s is None) for e in got] == [
        (1, 1, "error", False),
        (3, 1, None, True),
        (5, 0, None, True),
    ]
    assert len({e.time for e in got}) == 1


@given(st.lists(st.lists(st.integers(0, 3000), min_size=1, max_size=12), min_size=1, max_size=4))
def test_merging_keeps_each_sources_order_and_loses_nothing(seconds: list[list[int]]) -> None:
    start = datetime(2025, 5, 2, tzinfo=UTC)
    streams = []
    for n, offsets in enumerate(seconds):
        text = "".join(f"{start + timedelta(seconds=s):%Y-%m-%d %H:%M:%S},000 INFO x\n" for s in [0, *offsets, 1])
        clock = clock_for(text)[0]
        if not clock.backwards:
            streams.append((clock, entries(source_of(f"{n}.log", text), clock)))
    got = list(merge_streams(streams))
    assert len(got) == sum(len(offsets) + 2 for offsets in seconds[: len(streams)]) or len(streams) < len(seconds)
    for source in {e.source for e in got}:
        numbers = [e.line for e in got if e.source == source]
        assert numbers == sorted(numbers)


def test_sources_whose_clocks_never_fall_are_merged_by_time() -> None:
    texts = {f"{n}.log": "".join(f"2025-05-02 10:{m:02d}:00,000 INFO {n}\n" for m in range(n, 60, 3)) for n in range(3)}
    streams = [(c := clock_for(t)[0], entries(source_of(name, t), c)) for name, t in texts.items()]
    got = [e.time for e in merge_streams(streams)]
    assert len(got) == 60 and got == sorted(got)  # type: ignore[type-var]


def test_a_hardware_fault_that_comes_back_is_one_incident() -> None:
    when = {"2025-05-02": "3b", "2025-05-04": "86", "2025-05-06": "3b"}
    lines_ = [f"{day} 10:00:00 INFO Xid (PCI:0000:{gpu}:00): 95" for day, gpu in when.items()]
    made = [event("a.log", n, x, cause="gpu_hardware.ecc", pci=x[-11:-5]) for n, x in enumerate(lines_, 1)]
    got, _ = joined({"a.log": "\n".join(lines_) + "\n"}, made)
    assert [[e.line for e in i.events] for i in group_incidents(got, knowledge())] == [[1, 3], [2]]


def test_seconds_since_boot_part_incidents_as_times_do() -> None:
    lines_ = [f"[{at:5d}.888109] {KILL}" for at in (600, 2_000, 20_000, 20_100)]
    events = [event("dmesg.log", n, text, "host_memory.oom_cgroup", pid=n) for n, text in enumerate(lines_, 1)]
    placed, _ = joined({"dmesg.log": "\n".join(lines_)}, events)
    assert [[e.line for e in i.events] for i in group_incidents(placed, knowledge())] == [[3, 4], [1, 2]]


def test_a_boot_that_was_silent_for_hours_is_another_incident() -> None:
    for at, parts in ((30, [[1, 3]]), (30_000, [[3], [1]])):
        lines_ = [f"[ 9000.888109] {KILL}", "[    0.000000] Linux version 6.1.0 (a@b)", f"[{at:5d}.888109] {KILL}"]
        events = [event("dmesg.log", n, lines_[n - 1], "host_memory.oom_cgroup", pid=n) for n in (1, 3)]
        placed, _ = joined({"dmesg.log": "\n".join(lines_)}, events)
        assert [[e.line for e in i.events] for i in group_incidents(placed, knowledge())] == parts


def test_what_the_kernel_told_last_belongs_to_what_the_job_told_last() -> None:
    kernel = [f"[  600.888109] {KILL}", f"[20000.888109] {KILL}"]
    job = DIED.format(time="17:15:04,000")
    events = [event("dmesg.log", n, text, "host_memory.oom_cgroup", pid=n) for n, text in enumerate(kernel, 1)]
    events.append(event("train.log", 1, job, "process.worker_died", pid=4242))
    placed, _ = joined({"dmesg.log": "\n".join(kernel), "train.log": job}, events)
    first, second = group_incidents(placed, knowledge())
    assert {e.place for e in first.events} == {("train.log", 1), ("dmesg.log", 2)}
    assert [e.place for e in second.events] == [("dmesg.log", 1)]


def test_deaths_that_only_a_kernel_log_tells_are_incidents_of_their_own() -> None:
    times = ("17:00:00", "17:00:04", "17:40:00")
    kernel = [f"[Fri May  2 {at} 2025] {KILL}" for at in times]
    killed = [event("dmesg.log", n, text, "host_memory.oom_cgroup", pid=n) for n, text in enumerate(kernel, 1)]
    deaths = [replace(e, kind="kernel_oom") for e in killed]
    placed, _ = joined({"dmesg.log": "\n".join(kernel)}, deaths)
    assert [[e.line for e in i.events] for i in group_incidents(placed, knowledge())] == [[3], [1, 2]]
    job = "2025-05-02 17:41:00,000 INFO rank 0 waits"
    late = event("train.log", 1, job, "distributed.timeout")
    placed, _ = joined({"dmesg.log": "\n".join(kernel), "train.log": job}, [*deaths, late])
    assert len(group_incidents(placed, knowledge())) == 1
    disk = event("dmesg.log", 1, kernel[0], "storage.io_error")
    placed, _ = joined({"dmesg.log": "\n".join(kernel)}, [disk, *deaths[1:]])
    assert [[e.line for e in i.events] for i in group_incidents(placed, knowledge())] == [[3], [1, 2]]
