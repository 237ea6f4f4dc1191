"""Where compiled messages are kept, if the user's own folder cannot be written."""

import os
import sys
from pathlib import Path

import pytest

from forensics.data_files import cache

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs user ids")


@pytest.fixture
def read_only_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder, which cannot be written; that for temporary files is `tmp_path`."""
    monkeypatch.delenv("FORENSICS_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(cache.os, "access", lambda path, mode: False)
    return tmp_path / "home" / "forensics"


def test_a_private_folder_is_taken_where_the_users_cannot_be_written(read_only_home: Path, tmp_path: Path) -> None:
    place = cache.folder()
    assert place == tmp_path / f"forensics-{os.getuid()}"
    assert place.stat().st_mode & 0o777 == 0o700
    cache.write("key", [b"part"])
    assert cache.read("key") == [b"part"]


@pytest.mark.parametrize("made", ["open to others", "a link"])
def test_a_folder_that_others_may_have_filled_is_not_taken(read_only_home: Path, tmp_path: Path, made: str) -> None:
    place = tmp_path / f"forensics-{os.getuid()}"
    if made == "a link":
        (tmp_path / "theirs").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "theirs")
    else:
        place.mkdir()
        place.chmod(0o777)
    assert cache.folder() == read_only_home


def test_the_users_folder_is_taken_where_it_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORENSICS_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "new" / "home"))
    assert cache.folder() == tmp_path / "new" / "home" / "forensics"
