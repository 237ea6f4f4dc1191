"""Formats are data: pieces are put in, and each mistake of an author is told at the line of its entry."""

from pathlib import Path

import pytest

from forensics.data_files import cached_data
from forensics.data_files.form import BadFormError, parse
from forensics.data_files.named_parts import with_pieces
from forensics.line_formats import all_formats, read_formats
from forensics.line_formats.read_formats import SHARED_PIECES
from scripts.lint.data import format_faults

KILN = r"""
family: kiln
means: What kilns write.
pieces:
  RANK: 'r(?P<rank>\d+)'
formats:
  - name: kiln
    clock: wall
    pattern: '<%{LEVEL_NAME} (?P<y>\d{4})/(?P<mo>\d\d)/(?P<d>\d\d) %{TIME_OF_DAY} %{RANK}> '
    samples: ['<WARNING 2026/11/21 10:00:05 r3> disk is slow']
"""


def test_a_format_is_read_with_its_pieces() -> None:
    (form,) = read_formats.read_formats(parse(KILN), Path("kiln.yaml"))
    prefix = form.parse("<WARNING 2026/11/21 10:00:05 r3> disk is slow")
    assert prefix is not None
    assert (prefix.level, prefix.rank, prefix.message) == ("WARNING", 3, "disk is slow")
    assert prefix.stamp is not None and prefix.stamp.wall is not None and prefix.stamp.wall.day == 21


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("family: kiln", "family: oven", 2, "the file is named 'kiln'"),
        ("%{RANK}", "%{RNAK}", 7, "no piece is named RNAK"),
        (r"r(?P<rank>\d+)", "%{RANK}", 7, "without an end"),
        (r"r(?P<rank>\d+)", "(", 7, "pattern or first"),
        ("clock: wall", "clock: sundial", 7, "clock must be one of"),
        ("clock: wall", "clok: wall", 8, "unknown key clok"),
    ],
)
def test_a_mistake_of_form_is_told_at_its_line(old: str, new: str, line: int, told: str) -> None:
    with pytest.raises(BadFormError, match=told) as error:
        read_formats.read_formats(parse(KILN.replace(old, new)), Path("kiln.yaml"))
    assert error.value.line == line


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("disk is slow']", "disk is slow', 'kiln: hot']", "does not match its sample 'kiln: hot'"),
        ("(?P<rank>", "(?P<rnk>", "unknown group rnk"),
        ("name: kiln", "name: kiln\n    first: '\\['", "does not fit"),
        ("name: kiln", "name: dmesg", "another format has this name"),
        ("['<WARNING", "['[  1.000000] x', '<WARNING", "dmesg reads"),
    ],
)
def test_check_tells_what_a_sample_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, told: str) -> None:
    (tmp_path / "kiln.yaml").write_text(KILN.replace(old, new))
    own = cached_data.data_files(read_formats.FORMATS_FOLDER)
    monkeypatch.setattr(cached_data, "data_files", lambda _: [*own, tmp_path / "kiln.yaml"])
    faults = [f for f in format_faults() if f.path.endswith("kiln.yaml")]
    assert faults and {f.line for f in faults} == {7}
    assert any(told in f.what for f in faults), faults


def test_the_formats_of_the_package_have_no_fault() -> None:
    assert format_faults() == []
    assert len({form.name for form in all_formats()}) == len(all_formats())


def test_a_pattern_without_pieces_stays_as_it_is() -> None:
    assert with_pieces(r"\d{4}%", SHARED_PIECES) == r"\d{4}%"
