"""A folded message becomes one observation for each attempt, and for each time between long pauses. All logs are made."""

from msgspec.structs import replace

from forensics import outcome
from forensics.database import Database
from forensics.outcome.split_observations import split_observation
from tests.correlation.helpers import event
from tests.outcome.made import scan_of, seen_at


def test_the_parts_of_an_event_keep_its_lines_and_its_count() -> None:
    one = event("a", 1, "2026-11-18 09:30:00,000 x")
    proofs = [one.proofs[0]]
    for line, stamp in ((2, "2026-11-18 09:31:00,000"), (7, "2026-11-18 19:31:00,000"), (9, "2026-11-18 19:32:00,000")):
        proofs.append(replace(proofs[0], line=line, text=f"{stamp} x"))
    whole = replace(one, proofs=tuple(proofs), count=10, last_line=12)
    first, second = split_observation(whole, ())
    assert [(e.line, e.last_line, e.count, len(e.proofs)) for e in (first, second)] == [(1, 2, 2, 2), (7, 12, 8, 2)]
    assert list(split_observation(one, ())) == [one]


def test_each_part_has_what_stands_behind_it(knowledge: Database) -> None:
    days = [f"2026-11-{day} 09:30:0{n},000 ERROR the disk did not answer" for day in (18, 19) for n in range(3)]
    text = "\n".join([*days[:3], *["2026-11-18 09:31:00,000 INFO a row was read"] * 20, *days[3:]])
    first, last = seen_at(text, 1), seen_at(text, 26)
    whole = replace(first, last_line=26, count=6, proofs=tuple(seen_at(text, n).proofs[0] for n in (1, 2, 3, 24, 25, 26)))
    (lane,), split = outcome.split_lanes(scan_of(text), "", [whole], outcome.line_classes(knowledge))
    assert [lane.aftermath[o.line, o.kind].lines_after for o in split] == [23, 0]
    assert last.line == split[-1].last_line
