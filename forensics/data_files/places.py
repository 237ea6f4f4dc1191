"""The folder of the signatures of this package."""

from pathlib import Path

PACKAGED = Path(__file__).resolve().parents[1] / "_data" / "signatures"  # in a wheel; proven by the tests that it passed


def builtin_folder() -> Path:
    """The folder of the signatures of this package: in the wheel, or next to the package in a clone."""
    return PACKAGED if PACKAGED.is_dir() else PACKAGED.parents[2] / "signatures"
