"""Faults that only the built-in database can have."""

import pytest
from msgspec.structs import replace

from forensics.database import builtin_folder, read_folders
from forensics.database.entries import Cause, Signature
from scripts.lint.builtin import frequent_in_healthy_logs, never_seen


@pytest.mark.parametrize(
    ("healthy", "failed", "faulty"), [(0, 0, False), (3, 0, False), (4, 0, True), (5, 2, False), (6, 1, True), (40, 29, False)]
)
def test_what_healthy_logs_say_more_often_than_chance_tells_ends_nothing(healthy: int, failed: int, faulty: bool) -> None:
    """The bounds are those of a sign test at one tenth: 4 of 4, 6 of 7."""
    one = Signature("code.shape", "made", "proof", (), "x")
    cause = Cause(id="code.shape", title="", means="", signatures=(one,), remedies=())
    faults = [f.what for f in frequent_in_healthy_logs([cause], {one.id: (float(healthy), 0.0, float(failed))})]
    assert [f"it fired in {healthy} healthy logs" in f for f in faults] == [True] * faulty


def test_a_built_in_entry_that_nothing_shows_is_a_fault() -> None:
    every = [s for c in read_folders([builtin_folder()])[0] for s in c.signatures]
    assert [f.what for f in never_seen(every)] == []
    (fault,) = never_seen([replace(every[0], name="nobody_ever_said_so")])
    assert "neither used nor verified" in fault.what
