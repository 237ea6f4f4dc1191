"""Phrases: read with their examples proven, every fault told at its line, one pattern a class."""

import re
from pathlib import Path

import pytest

from forensics.database import builtin_folder
from forensics.database.phrases import combine_phrases, read_phrases

GOOD = """\
class: goes_on
means: The program goes on.
words: [retry, skip]
phrases:
  - id: retry
    pattern: '(?i)\\bretrying in \\d'
    source: pip
    examples:
      match: ['Retrying in 1 s']
      no_match: ['the retry limit']
  - id: skipped
    pattern: 'skipped\\b'
    source: loaders
    examples:
      match: ['17.jpg skipped']
      no_match: ['skipping rope']
"""


def folder(tmp_path: Path, text: str, name: str = "goes_on.yaml") -> Path:
    (tmp_path / "phrases").mkdir()
    (tmp_path / "phrases" / name).write_text(text)
    return tmp_path


def test_phrases_are_read_in_order_with_their_place(tmp_path: Path) -> None:
    found, faults = read_phrases(folder(tmp_path, GOOD))
    assert not faults
    assert [(p.name, p.line) for p in found["goes_on"]] == [("retry", 5), ("skipped", 11)]
    assert found["goes_on"][0].words == ("retry", "skip")


@pytest.mark.parametrize(
    ("old", "new", "what", "line"),
    [
        pytest.param("class: goes_on", "class: goes_off", "the file is named", 1, id="another class than the file's"),
        pytest.param("'Retrying in 1 s'", "'Retry 1'", "does not match its example", 5, id="an example that fails"),
        pytest.param("'the retry limit'", "'retrying in 9 s'", "which it must not", 5, id="one that must not match"),
        pytest.param("[retry, skip]", "[skip]", "none of the words", 5, id="a word that is lacking"),
        pytest.param("'skipped\\b'", "'skipped('", "not a valid pattern", 11, id="no pattern"),
        pytest.param("    source: loaders\n", "", "source", 11, id="no source"),
        pytest.param("means: The program goes on.", "meens: x", "meens", 2, id="an unknown key"),
        pytest.param("phrases:", "phrases: [", "did not find", 5, id="no YAML"),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path: Path, old: str, new: str, what: str, line: int) -> None:
    assert old in GOOD
    _, faults = read_phrases(folder(tmp_path, GOOD.replace(old, new, 1)))
    assert [(f.line, what in f.what) for f in faults[:1]] == [(line, True)], faults


def test_without_a_folder_there_are_none(tmp_path: Path) -> None:
    assert read_phrases(tmp_path) == ({}, [])


def test_the_patterns_of_a_class_can_be_joined_and_a_flag_holds_for_its_phrase_alone(tmp_path: Path) -> None:
    found, _ = read_phrases(folder(tmp_path, GOOD))
    words, patterns = combine_phrases(found)["goes_on"]
    pattern = "|".join(patterns)
    assert words == ("retry", "skip")
    assert re.search(pattern, "RETRYING in 1 s")
    assert re.search(pattern, "17.jpg skipped")
    assert not re.search(pattern, "17.jpg SKIPPED")


def test_the_built_in_phrases_prove_themselves_and_compile() -> None:
    found, faults = read_phrases(builtin_folder())
    assert faults == []
    assert {"trouble", "no_trouble", "goes_on", "good_end", "progress", "run_start", "shut_down", "host_service"} <= set(found)
    for words, patterns in combine_phrases(found).values():
        re.compile("|".join(patterns))
        assert all(w == w.lower() for w in words), "words are looked for in lower case"


def test_a_phrase_names_no_cause(tmp_path: Path) -> None:
    with_cause = GOOD.replace("    source: pip\n", "    source: pip\n    cause: code.shape\n", 1)
    _, faults = read_phrases(folder(tmp_path, with_cause))
    assert faults
