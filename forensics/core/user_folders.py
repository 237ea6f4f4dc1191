"""Where a user's files lie: the folders that the freedesktop.org specification names on Linux, elsewhere those of platformdirs.

XDG_CACHE_HOME=/big   ->   cache() = /big/forensics
not set               ->   cache() = ~/.cache/forensics

On Linux the library would name the same folders, and its import takes a fortieth of a short run.
"""

import os
import sys
from pathlib import Path


def cache() -> Path:
    """Of what can be made again."""
    return _folder("cache", "XDG_CACHE_HOME", ".cache")


def settings() -> Path:
    """Of the configuration."""
    return _folder("config", "XDG_CONFIG_HOME", ".config")


def data() -> Path:
    """Of what is kept."""
    return _folder("data", "XDG_DATA_HOME", ".local/share")


def _folder(kind: str, variable: str, usual: str) -> Path:
    if sys.platform == "linux":
        return Path(os.environ.get(variable, "").strip() or Path.home() / usual) / "forensics"
    import platformdirs

    return Path(getattr(platformdirs, f"user_{kind}_dir")("forensics", appauthor=False))
