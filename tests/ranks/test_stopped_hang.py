"""A hung job that somebody stopped: the stop is no answer, starting it again hangs again. The files are what `run` captured."""

import shutil
from pathlib import Path

from forensics import analyze
from forensics.database import Database

CAPTURED = Path(__file__).parent / "stopped_hang"  # three ranks; `timeout` ended the launcher after 20 s of silence


def test_the_rank_for_which_the_others_waited_is_named(knowledge: Database) -> None:
    first = analyze(CAPTURED, workers=1).causes[0]
    assert first.id == "distributed.timeout"
    assert first.facts["culprit_rank"] == 1
    assert "train.py:6" in first.where


def test_one_that_stood_elsewhere_in_a_look_was_late(tmp_path: Path, knowledge: Database) -> None:
    shutil.copytree(CAPTURED, tmp_path / "run")
    first_look = tmp_path / "run" / "stacks" / "420.txt"
    text = first_look.read_text()
    assert "train.py:14)" in text
    first_look.write_text(text.replace("train.py:14)", "train.py:15)"))
    assert analyze(tmp_path / "run", workers=1).causes[0].id == "stopped.user"
