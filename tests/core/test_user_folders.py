"""A user's folders are those that platformdirs names."""

from pathlib import Path

import pytest

from forensics.core import user_folders

FOLDERS = (
    (user_folders.cache, "user_cache_dir", "XDG_CACHE_HOME"),
    (user_folders.settings, "user_config_dir", "XDG_CONFIG_HOME"),
    (user_folders.data, "user_data_dir", "XDG_DATA_HOME"),
)


@pytest.mark.parametrize("given", ["", " ", "/some/place"])
def test_they_are_those_of_the_library(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    platformdirs = pytest.importorskip("platformdirs")
    for folder, of_library, variable in FOLDERS:
        monkeypatch.setenv(variable, given)
        assert folder() == Path(getattr(platformdirs, of_library)("forensics", appauthor=False))
