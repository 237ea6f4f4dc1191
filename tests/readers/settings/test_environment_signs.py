"""Signs are data with examples: each shows its fact, and a wrong entry is told at its line."""

from pathlib import Path

import pytest

from forensics.data_files import cached_data
from forensics.readers.settings import environment_signs
from scripts.lint.data import sign_faults

SIGNS = """\
signs:
  - fact: scheduler
    value: kiln
    texts: ['kilnd']
    pattern: 'kilnd: job \\d'
    examples: {match: ['kilnd: job 7 fired'], no_match: ['kilnd: no job']}
"""


def test_the_signs_of_the_package_show_their_examples() -> None:
    assert sign_faults() == []
    assert all(sign.match for sign in environment_signs.environment_signs())


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("'kilnd: job 7 fired'", "'kiln: job 7'", "scheduler kiln: its example 'kiln: job 7' does not show it"),
        ("'kilnd: no job'", "'kilnd: job 8'", "'kilnd: job 8' shows it, and must not"),
        ("job \\d'", "job ('", "not a valid pattern"),
        ("texts: ['kilnd']", "textes: ['kilnd']", "unknown key textes"),
    ],
)
def test_a_wrong_entry_is_told_at_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, told: str
) -> None:
    path = tmp_path / "environment_signs.yaml"
    monkeypatch.setattr(cached_data, "data_files", lambda _: [path])
    path.write_text(SIGNS)
    assert sign_faults() == []
    path.write_text(SIGNS.replace(old, new))
    (fault,) = sign_faults()
    assert told in fault.what and fault.line == (4 if "key" in told else 2)
