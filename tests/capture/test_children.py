"""Processes that multiprocessing started are numbered in the order of their start, those that ended, too."""

from forensics.capture.proc import child_numbers, child_text

FORK = "python -c from multiprocessing.spawn import spawn_main; spawn_main(pipe_handle=6) --multiprocessing-fork"
TRACKER = "python -c from multiprocessing.resource_tracker import main;main(3)"


def test_children_of_each_parent_count_from_0_and_other_processes_not_at_all() -> None:
    rows = [(10, 1, "python a.py"), (11, 10, TRACKER), (12, 10, FORK), (13, 10, FORK), (20, 12, FORK), (21, 10, "python a.py")]
    assert child_numbers(rows) == {12: (0, 10), 13: (1, 10), 20: (0, 12), 21: (2, 10)}
    assert child_numbers([(10, 1, ""), (11, 10, "")]) == {}


def test_the_number_in_words() -> None:
    assert child_text((1, 10)) == ", child 1 of pid 10"
    assert child_text(None) == ""
