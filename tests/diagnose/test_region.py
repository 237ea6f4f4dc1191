"""Which alarming lines at the ends of a source count."""

import tracemalloc

from forensics.diagnose.region import alarming
from forensics.model import Event, Line, Scan, Source

LINES = 1_000_000_000


def scan() -> Scan:
    head = (Line(1, "error: one"), Line(2, "step 1"))
    tail = (Line(LINES - 1, "error: two"), Line(LINES, "error: three"))
    return Scan(Source("log", lambda _warn: iter(())), 1, LINES, (), {}, head, tail)


def test_lines_of_anothers_event_do_not_count_however_far_it_reaches() -> None:
    """A message that repeats is one event from its first place to its last; in a large log these lie gigabytes apart."""
    far = Event("series/x", "a", "hint", "log", 2, LINES - 1, ())
    elsewhere = Event("series/x", "a", "hint", "other", 1, LINES, ())
    tracemalloc.start()
    told = alarming([scan()], [far, elsewhere])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert told == ("error: one", "error: three")
    assert most < 1 << 20


def loud(*lines: str) -> tuple[str, ...]:
    numbered = tuple(Line(i, text) for i, text in enumerate(lines, 1))
    return alarming([Scan(Source("log", lambda _warn: iter(())), 1, len(lines), (), {}, numbered, numbered)])


def test_alarms_that_a_training_works_on_behind_do_not_count() -> None:
    steps = [f"iter: {i}  total_loss: 1.{i}" for i in range(3)]
    assert loud("3 keys not found", *steps) == ()
    assert loud("3 keys not found", *steps[:2]) == ("3 keys not found",)
    assert loud("3 keys not found", *steps, "worker lost") == ("3 keys not found", "worker lost")


def test_a_line_that_tells_the_way_around_does_not_count() -> None:
    around = ("failed to connect; trying again in 2.5 seconds", "failed to build, switch to native implementation")
    assert loud(*around, "sample 12 is corrupt, skipping") == ()
    assert loud("failed to connect") == ("failed to connect",)


def test_error_names_the_stream_where_progress_bars_have_it_too() -> None:
    bar, saved = "ERROR  worker0  31%|##    | 59/191 [31:21<59:25,  3.6it/s]", "ERROR  worker0  Configuration saved in /tmp/a"
    assert loud(bar, saved) == ()
    assert loud(saved) == (saved,)
    assert loud(bar, "ERROR  worker0  failed to save") == ("ERROR  worker0  failed to save",)
