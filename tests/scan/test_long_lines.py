"""A long line costs one pass for all texts that may stand in it, and not one for each."""

import time
from pathlib import Path

import pytest

from forensics import pipeline
from forensics.core.shapes import MAX_SHAPE_CHARS
from forensics.core.text import ascii_lower
from forensics.database import Database
from forensics.scan.matcher import Matcher, called

FILLINGS = ["/", ".", " ", ": ", "lorem ipsum dolor ", "invalid argument; "]


@pytest.mark.parametrize("filling", FILLINGS)
def test_the_same_signatures_are_called_for_in_a_long_line(filling: str, knowledge: Database) -> None:
    matcher = Matcher(knowledge)
    line = ascii_lower(f"RuntimeError: {filling * MAX_SHAPE_CHARS} CUDA out of memory: Invalid argument, No space left on device")
    checked = 0
    for anchor, text in enumerate(matcher.anchors):
        if text in line:
            without, asking = matcher._callers_of(anchor)
            assert list(matcher.called_by(anchor, line)) == [*called(without, line), *called(asking, line)]
            checked += 1
    assert checked > 3


def test_a_log_of_slashes_is_read_nearly_as_fast_as_one_of_words(tmp_path: Path, knowledge: Database) -> None:
    took = []
    for filling in ("lorem/ipsum ", "/" * 12):
        log = tmp_path / "train.log"
        rows = [f"RuntimeError: {filling * 1250}"] * 150
        log.write_text("\n".join([*rows, "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB"]) + "\n")
        began = time.process_time()
        report = pipeline.analyze_paths([log], "case", knowledge, workers=1)
        took.append(time.process_time() - began)
        assert report.causes[0].id == "gpu_memory.capacity"
    assert took[1] < 4 * took[0]
