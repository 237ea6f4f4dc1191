"""The folders that guards fill."""

from pathlib import Path

import pytest

from forensics.capture.guard import _new_folder


def test_two_guards_of_one_second_have_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    name = "20261123-204149-train-27105"
    assert [Path(_new_folder(name)).name for _ in range(3)] == [name, f"{name}-2", f"{name}-3"]
