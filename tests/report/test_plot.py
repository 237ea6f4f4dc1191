"""The picture of the timeline."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from forensics.core.errors import UsageError
from forensics.report.plot import plot
from tests.report import made


@pytest.mark.seconds
def test_a_png_is_one_and_is_wide_enough_for_a_paper(tmp_path: Path) -> None:
    plot(made.report(), tmp_path / "t.png")
    data = (tmp_path / "t.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert int.from_bytes(data[16:20]) >= 1000  # its width, from the header


@pytest.mark.seconds
def test_an_svg_holds_sources_cause_and_curve_as_text(tmp_path: Path) -> None:
    plot(made.report(), tmp_path / "t.svg")
    said = " ".join("".join(e.itertext()) for e in ElementTree.parse(tmp_path / "t.svg").iter() if e.tag.endswith("text"))
    for word in ("A memory limit was hit (93 %)", "train.log", "jupyter.log", "consequence", "rss (GiB)"):
        assert word in said


@pytest.mark.seconds
def test_the_same_report_gives_the_same_picture(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        plot(made.report(), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.seconds
def test_log_text_is_text_in_a_picture(tmp_path: Path) -> None:
    plot(made.report("$\\frac{1}{$ <script>"), tmp_path / "t.svg")
    assert "<script" not in (tmp_path / "t.svg").read_text()


@pytest.mark.seconds
def test_a_report_without_times_says_so(tmp_path: Path) -> None:
    report = made.report()
    plot(replace(report, timeline=tuple(replace(m, time=None) for m in report.timeline), curves=()), tmp_path / "t.svg")
    assert "no line of these logs tells a time" in (tmp_path / "t.svg").read_text()


@pytest.mark.seconds
def test_other_kinds_of_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.png, \.svg or \.pdf"):
        plot(made.report(), tmp_path / "t.gif")
    with pytest.raises(UsageError, match="could not be written"):
        plot(made.report(), tmp_path / "nowhere" / "t.png")
