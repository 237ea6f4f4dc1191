"""Every container is recognised by itself alone, and none of them falls over damaged or foreign bytes."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.sources.formats import Head, all_formats, recognise
from tests.sources.helpers import read_bytes, read_path

FORMATS = all_formats()
SAMPLE_LOGS = Path(__file__).parents[2] / "sample_logs"


@pytest.mark.parametrize("form", FORMATS, ids=lambda f: f.name)
def test_a_sample_is_recognised_by_its_own_format_alone(form: object) -> None:
    head = Head(form.sample)  # type: ignore[attr-defined]
    assert [f.name for f in FORMATS if f.recognises(head)] == [form.name]  # type: ignore[attr-defined]


def test_captured_text_logs_are_no_containers() -> None:
    logs = [p for p in SAMPLE_LOGS.rglob("*") if p.suffix in (".log", ".txt", ".out", ".err")]
    assert len(logs) > 50
    for path in logs:
        head = Head(path.read_bytes()[: 64 << 10], path.stat().st_size <= 64 << 10)
        assert recognise(head, raw=True) is None, path
        assert recognise(head, raw=False) is None, path


def test_a_carriage_return_outside_of_quotes_loses_no_line_of_a_table() -> None:
    colab = next(f for f in FORMATS if f.name == "colab csv")
    data = b"step 1\rstep 2\n" + colab.sample
    assert sorted(text for _, _, text, *_ in colab.decode(iter([data]), lambda *_: None)) == [
        b"Oct 18, 2019, 7:54:49 AM | INFO | text",
        b"step 1 | step 2",
    ]


@given(st.sampled_from(FORMATS), st.binary(max_size=300), st.integers(0, 200), st.integers(1, 64))
def test_damage_is_no_error(form: object, junk: bytes, at: int, size: int) -> None:
    sample = form.sample * 3  # type: ignore[attr-defined]
    data = sample[:at] + junk + sample[at:]
    blocks = (data[i : i + size] for i in range(0, len(data), size))
    for number, step, text, *known in form.decode(blocks, lambda *_: None):  # type: ignore[attr-defined]
        assert all(count == text.count(b"\n") + 1 for count in known)
        assert number + min(0, step * text.count(b"\n")) >= 1
        assert number <= data.count(b"\n") + 1


@given(st.lists(st.text(max_size=40), max_size=30))
def test_plain_text_comes_out_as_it_went_in(lines: list[str]) -> None:
    text = "\n".join(["plain text", *lines, "RuntimeError: end"]).encode("utf-8", "replace").replace(b"\0", b"")
    found = read_bytes(gzip.compress(text))
    if found.format is None and not found.warnings and b"#0" not in text:
        assert "\n".join(found.lines).encode() == text


def test_a_folder_of_captured_logs_is_read_untouched() -> None:
    found, _ = read_path(SAMPLE_LOGS / "jupyter_oom")
    for source in found:
        if source.name.endswith(".log"):
            assert source.lines == Path(source.name).read_text().splitlines()
            assert source.numbers == list(range(1, len(source.lines) + 1))
