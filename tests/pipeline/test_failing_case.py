"""A case at which the program itself fails takes none of the others with it."""

from pathlib import Path
from typing import Any

import pytest

from forensics import pipeline
from forensics.database import Database
from forensics.pipeline import cases


def test_a_case_at_which_the_program_fails_is_told_and_the_others_are_analysed(
    tmp_path: Path, knowledge: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FORENSICS_DEBUG", raising=False)
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.log").write_text("step 1\nIndexError: list index out of range\n")
    whole = cases.analyze_paths

    def failing(paths: Any, case: str, *given: Any, **options: Any) -> Any:
        return {}[case] if case == "b" else whole(paths, case, *given, **options)

    monkeypatch.setattr(cases, "analyze_paths", failing)
    reports = list(pipeline.analyze_folders(tmp_path, knowledge))
    assert [(r.case, r.verdict) for r in reports] == [("a", "crash"), ("b", "undetermined"), ("c", "crash")]
    (told,) = reports[1].warnings
    assert "internal error (KeyError" in told.message
