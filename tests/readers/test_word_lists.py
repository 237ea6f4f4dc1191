"""Lists of words are data with examples; a wrong list is told at its line."""

from pathlib import Path

import pytest

from forensics.data_files import cached_data
from forensics.readers.words import words, words_of_name
from scripts.lint.data import word_faults

LISTS = """\
lists:
  - name: kilns
    means: What burns.
    words: [kiln, oven]
    examples: {match: [kiln_step], no_match: [killed]}
"""


def test_the_lists_of_the_package_have_no_fault() -> None:
    assert word_faults() == []
    assert "train" in words("training_names")


def test_a_name_is_divided_into_its_words() -> None:
    assert words_of_name("trainOneBatch") == words_of_name("train_one_batch") == {"train", "one", "batch"}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("oven", "kiln", "a word is written twice"),
        ("kiln_step", "step", "its example 'step' has none of its words"),
        ("killed", "oven_2", "'oven_2' has one of its words, and must not"),
        ("means", "meaning", "unknown key meaning"),
    ],
)
def test_a_wrong_list_is_told_at_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, told: str) -> None:
    path = tmp_path / "words.yaml"
    monkeypatch.setattr(cached_data, "data_files", lambda _: [path])
    path.write_text(LISTS.replace(old, new))
    (fault,) = word_faults()
    assert told in fault.what and fault.line == (3 if "key" in told else 2)
