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
