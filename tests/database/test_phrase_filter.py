"""The filter in front of the phrases: it never hides a class that a pattern finds, and saves most of the searches."""

from pathlib import Path

import pytest

from forensics.database import Database
from forensics.database.phrase_filter import EVERY_CLASS, compile_phrases, phrase_filter
from forensics.readers.lanes.line_classes import LineClasses, line_classes

LOGS = Path(__file__).parents[2] / "sample_logs"


def test_lines_have_the_classes_that_they_have_without_it(knowledge: Database) -> None:
    lines = {
        line
        for path in sorted(LOGS.rglob("*.log"))[::3]
        for line in path.read_text(errors="replace").split("\n")[:40]
    }  # fmt: skip
    unfiltered = LineClasses(knowledge.phrases, lambda _: EVERY_CLASS)
    assert len(lines) > 300
    assert [line for line in lines if line_classes(knowledge).classify(line) != unfiltered.classify(line)] == []
    possible = phrase_filter(knowledge.phrase_matcher)
    assert sum(not possible(line)[0] for line in lines) > len(lines) / 4


@pytest.mark.parametrize("text", ["retry\x1cin 1 s", "r\N{LATIN SMALL LETTER E WITH ACUTE}try"])
def test_what_hyperscan_reads_in_another_way_may_be_all(text: str) -> None:
    possible = phrase_filter(compile_phrases({"goes_on": ((), (r"skipped",)), "saved": ((), (r"saved",))}))
    assert possible(text) == EVERY_CLASS
    assert (possible("17.jpg skipped"), possible("saved, skipped"), possible("x")) == ((1, 1), (3, 3), (0, 0))


def test_a_pattern_that_hyperscan_refuses_is_left_to_the_search() -> None:
    possible = phrase_filter(compile_phrases({"goes_on": ((), (r"(a)b\1", r"x{,2}y")), "saved": ((), (r"saved",))}))
    assert (possible("x"), possible("saved")) == ((1, 0), (3, 2))


def test_without_phrases_nothing_is_filtered() -> None:
    assert phrase_filter(compile_phrases({}))("x") == EVERY_CLASS
