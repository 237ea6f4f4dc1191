"""What `forensics stacks PID > rankN.txt` wrote, one rank after the other, three times (looks/captured/1, 2, 3)."""

import os
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from forensics import analyze
from forensics.cli.ranks import _picture
from forensics.database import Database
from forensics.model.ranks import Kind, OddRank, RankPicture
from forensics.model.stacks import ProcessStacks
from forensics.ranks import only_awaited
from forensics.ranks.looks import MAX_LOOK_GAP_S, with_looks

CAPTURED = Path(__file__).parent / "looks" / "captured"


def test_files_of_what_stacks_showed_are_the_stacks_of_the_ranks(knowledge: Database) -> None:
    seen = _picture([CAPTURED / "1"], 1)
    assert seen.world == 4
    assert [(one.rank, one.waiting) for one in seen.awaited] == [(2, (0, 1, 3))]
    assert "second look" in seen.awaited[0].rival
    assert not seen.odd  # it computes, and one look shows no hang
    report = analyze(CAPTURED / "1", workers=1)
    assert report.verdict == "undetermined" and report.causes[0].id == "none.healthy"


@pytest.mark.parametrize(
    ("kind", "doing", "any_kind", "is_awaited"),
    [
        ("computes", "it computes, and holds the interpreter's lock", False, True),
        ("hook", "it computes, in a hook of a module", False, True),
        ("hook", "it sleeps, in a hook of a module", False, False),
        ("outside", "it waits for a file (fsync of /srv/a.bin)", False, False),
        ("outside", "it waits for a file (fsync of /srv/a.bin)", True, True),  # the run is known to have worked then
        ("left", "it was ended by SIGKILL", True, False),
        ("other_call", "it waits in gather, where others wait in all_reduce", True, False),
    ],
)
def test_of_a_run_that_nothing_shows_to_hang_a_rank_is_only_waited_for(
    kind: Kind, doing: str, any_kind: bool, is_awaited: bool
) -> None:
    odd = (OddRank(2, kind, doing, waiting=(0, 1)),)
    told = only_awaited(RankPicture(3, (), ((0, 2), (1, 2)), odd), any_kind)
    assert (told.awaited, told.odd) == ((odd, ()) if is_awaited else ((), odd))


def test_after_several_looks_no_second_one_is_asked_for(knowledge: Database) -> None:
    seen = _picture([CAPTURED], 1)
    assert [(odd.rank, odd.rival) for odd in seen.odd] == [(2, "")]
    report = analyze(CAPTURED, workers=1)
    assert report.causes[0].id == "distributed.timeout"
    assert "second look" not in report.causes[0].summary


@pytest.mark.parametrize(
    ("taken", "looks"),
    [
        ([(1, 0.0), (2, 9.0), (3, 50.0)], [50.0, 50.0, 50.0]),
        ([(1, 0.0), (2, 9.0), (1, 12.0), (2, 15.0)], [9.0, 9.0, 15.0, 15.0]),
        ([(1, 0.0), (2, MAX_LOOK_GAP_S + 1)], [0.0, MAX_LOOK_GAP_S + 1]),
        ([(1, None), (2, 3.0)], [None, 3.0]),
    ],
    ids=["one look", "two looks", "a pause", "no moment"],
)
def test_a_look_is_at_each_process_once(taken: list[tuple[int, float | None]], looks: list[float | None]) -> None:
    made = ProcessStacks("a.txt", "py-spy", None, None, ())
    assert [one.taken for one in with_looks(replace(made, pid=pid, taken=at) for pid, at in taken)] == looks


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("server", []),  # one rank serves three that compute, and waits for them in turn
        ("server_with_values", []),  # the variables of the one that waits show that it went on
        ("endless_loop", [(2, "computes", 28)]),  # it moves, and only in the loop of one function
        ("interpreters_lock", [(2, "lock", 79)]),  # one look with native code, one without
    ],
)
def test_two_looks_tell_work_from_a_hang(case: str, told: list[tuple[int, str, int]]) -> None:
    """weir.py at work, in a loop that never ends, and while a search of its thread holds the interpreter's lock."""
    seen = _picture([CAPTURED.parent / "found" / case], 1)
    assert [(odd.rank, odd.kind, odd.place and odd.place.line) for odd in seen.odd] == told


@pytest.mark.parametrize(("log_is_of", "kind"), [(0, "late"), (-30, "computes"), (7200 + 300, "computes")])
def test_a_log_that_tells_a_new_step_after_a_look_shows_a_run_that_works(log_is_of: int, kind: str, tmp_path: Path) -> None:
    """The looks were 10:30:39 and 10:30:45, and step 10 was 10:30:43; a log that ends before them, or was copied, shows nothing."""
    for file in sorted((CAPTURED.parent / "found" / "late_with_steps").iterdir()):
        copied = tmp_path / file.name
        shutil.copy(file, copied)
        moment = 1796121039 if file.name.count("_") == 1 else 1796121045
        os.utime(copied, (moment, moment + (log_is_of if file.name == "job.log" else 0)))
    if log_is_of < 0:
        for look in tmp_path.glob("spy*"):
            os.utime(look, (moment, look.stat().st_mtime + 30))
        os.utime(tmp_path / "job.log", (moment, 1796121045))
    seen = _picture([tmp_path], 1)
    assert [(odd.rank, odd.kind) for odd in seen.odd] == [(2, kind)]
