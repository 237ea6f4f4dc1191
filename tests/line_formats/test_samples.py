"""Each format declares samples that it, and before it no other, must recognise; here all run against all."""

from datetime import UTC, datetime, timedelta, timezone
from string import digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.line_formats import LineFormat, all_formats, parse_prefix, recognise
from forensics.line_formats.base import shape
from forensics.model import Line

SAMPLES = [(form, sample) for form in all_formats() for sample in form.samples]


@pytest.mark.parametrize(("form", "sample"), SAMPLES, ids=lambda x: x.name if isinstance(x, LineFormat) else "")
def test_a_sample_is_recognised_by_its_format_and_by_none_before_it(form: LineFormat, sample: str) -> None:
    assert form.parse(sample) is not None
    assert form.starts(shape(sample)), f"first={form.first!r} does not fit {shape(sample)!r}, all that it sees of the line"
    assert form.within in sample
    others = [o.name for o in all_formats() if o.rank <= form.rank and o is not form and o.parse(sample)]
    assert others == [], f"read it, too: {others}; the one that says more of a line needs a smaller rank="
    assert parse_prefix(sample).formats[0] == form.name


@pytest.mark.parametrize(
    ("line", "message", "told"),
    [
        ("[11686.888109] Out of memory", "Out of memory", {"mono": 11686.888109}),
        ("[Fri Feb 13 23:31:30 2009] x", "x", {"wall": datetime(2009, 2, 13, 23, 31, 30)}),
        (
            "Aug 22 03:00:07 node-7 kernel: [11686.888109] Out of memory",
            "Out of memory",
            {
                "wall": datetime(1904, 8, 22, 3, 0, 7),
                "lacks": "year",
                "mono": 11686.888109,
                "host": "node-7",
                "program": "kernel",
            },
        ),
        (
            "2025-08-22T03:00:07+0200 node-7 systemd[1]: jupyter.service: Failed",
            "jupyter.service: Failed",
            {"wall": datetime(2025, 8, 22, 3, 0, 7, tzinfo=timezone(timedelta(hours=2))), "pid": 1},
        ),
        (
            "[W 2024-05-13 15:26:30.398 ServerApp] AsyncIOLoopKernelRestarter: restart failed",
            "AsyncIOLoopKernelRestarter: restart failed",
            {"wall": datetime(2024, 5, 13, 15, 26, 30, 398000), "level": "W"},
        ),
        (
            "[I 15:26:30.398 NotebookApp] restarting",
            "restarting",
            {"wall": datetime(1904, 1, 1, 15, 26, 30, 398000), "lacks": "date"},
        ),
        (
            "[rank3]:[E722 04:20:51.746222605 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught",
            "Watchdog caught",
            {"rank": 3, "wall": datetime(1904, 7, 22, 4, 20, 51, 746222)},
        ),
        ("[rank1]:[W1121 09:00:00.1 x.cpp:1] y", "y", {"wall": datetime(1904, 11, 21, 9, 0, 0, 100000), "rank": 1}),
        ("[default7]:[rank7]: Traceback", "Traceback", {"rank": 7}),
        (" 3: RuntimeError: x", "RuntimeError: x", {"rank": 3}),
        (
            "2026-08-22T03:00:07.123456789Z [W 2026-08-22 03:00:06.120 ServerApp] restart failed",
            "restart failed",
            {"wall": datetime(2026, 8, 22, 3, 0, 7, 123456, tzinfo=UTC)},
        ),
        ("RuntimeError: oops", "RuntimeError: oops", {}),
    ],
)
def test_a_line_is_peeled_from_the_outside_in(line: str, message: str, told: dict[str, object]) -> None:
    prefix = parse_prefix(line)
    assert prefix.message == message
    for name, value in told.items():
        where = prefix.stamp if name in ("wall", "mono", "lacks") else prefix
        assert getattr(where, name) == value, name


@pytest.mark.parametrize(
    "line",
    [
        "[Fri Feb 31 23:31:30 2009] x",
        "2024-13-40 99:00:00 x",
        "[W 2024-02-30 15:26:30.398 ServerApp] x",
        "[Foo Bar 12 03:54:03 2025] x",
        "Oct 18, 2019, 17:54:49 AM | INFO | x",
        "0000000001 text",
        "4281234567 text",
        "2024-05-01T12:00:00+99:00 text",
    ],
)
def test_a_time_that_cannot_be_is_no_stamp(line: str) -> None:
    assert parse_prefix(line).stamp is None


def test_a_source_is_recognised_by_most_of_its_lines() -> None:
    kernel = [Line(i, f"[{i:5d}.000000] text {i}") for i in range(9)]
    assert recognise([*kernel, Line(10, "free text")]) == ("dmesg", len(kernel))
    assert recognise([Line(i, "free text") for i in range(30)]) == ("plain", 30)


def test_some_lines_of_a_kernel_do_not_make_a_host_of_a_programs_log() -> None:
    kernel = [Line(i, f"[{i}.000000] usb 1-1: new device") for i in range(9)]
    assert recognise([*kernel, *(Line(10 + i, f"step {i}") for i in range(20))])[0] == "plain"
    assert recognise([*kernel, *(Line(10 + i, f"2025-01-05 10:11:{i:02d},000 INFO step {i}") for i in range(8))])[0] == "dmesg"
    indented = [Line(10 + i, f"        #{i} 0x7f8668a9890c in raise (libc.so.6 + 0x9890c)") for i in range(60)]
    assert recognise([*kernel, *indented])[0] == "dmesg"


def test_an_empty_log_has_no_format() -> None:
    assert recognise([]) == ("plain", 0)


@given(st.text(max_size=200))
def test_peeling_never_raises_and_keeps_the_end_of_the_line(text: str) -> None:
    assert text.endswith(parse_prefix(text).message)


@given(
    st.sampled_from([s for _, s in SAMPLES]),
    st.sampled_from([s for _, s in SAMPLES]),
    st.integers(0, 40),
    st.permutations(digits),
)
def test_what_saves_time_changes_nothing(one: str, other: str, cut: int, others: list[str]) -> None:
    parse_prefix(one[:cut] + other)  # so that its shape is known
    text = (one[:cut] + other).translate(str.maketrans(digits, "".join(others)))
    first = next((found for form in all_formats() if (found := form.parse(text))), None)
    slow = next((n for n in all_formats() if n.compiled.match(text, 0, 1024) and (n.clock == "none" or n.parse(text))), None)
    assert (first.formats[0] if first else None) == (slow.name if slow else None)
    assert parse_prefix(text).formats[:1] == ((slow.name,) if slow else ())


@given(
    st.sampled_from([s for _, s in SAMPLES]),
    st.integers(0, 80),
    st.sampled_from(["", "0", "9" * 30, "-", ":", "\x00", "70", "1e9", "٣", "\u202e", "."]) | st.text(max_size=4),
    st.integers(0, 6),
)
def test_a_damaged_sample_never_raises_and_unknown_is_never_1970(sample: str, at: int, put: str, taken: int) -> None:
    text = sample[:at] + put + sample[at + taken :]
    stamp = parse_prefix(text).stamp
    assert text.endswith(parse_prefix(text).message)
    if stamp is not None and stamp.wall is not None and stamp.wall.year == 1970:
        assert "70" in text, "a year that nothing tells"
