"""Equal records are one with a count, unequal ones stay apart. Lines made for these tests."""

from hypothesis import given
from hypothesis import strategies as st

from forensics import readers
from forensics.model import Line, Region, Value
from forensics.readers.base import Record
from forensics.readers.fold import fold_records
from forensics.readers.gpu import xid
from tests.readers.regions import knowledge, scan_of


def record(line: int, pci: str = "3b:00", stamp: str = "", last: int = 0) -> Record:
    text = f"{stamp}NVRM: Xid (PCI:0000:{pci}): 63, pid=7, name=python, Row Remapper"
    fields: dict[str, Value] = {"xid": 63, "pci": pci}
    return Record("xid/63", line, last or line, "coded", "hint", (Line(line, text),), fields, cause="gpu_hardware.ecc")


def test_equal_records_fold_into_one_with_all_their_places() -> None:
    (one,) = fold_records([record(3), record(5), record(9)])
    assert (one.count, one.first, one.spans) == (3, 3, ((3, 3), (5, 5), (9, 9)))
    assert [line.number for line in one.quote] == [3, 9]


def test_what_was_not_kept_is_counted_in_the_same_shares() -> None:
    folded = fold_records(
        [*(record(i) for i in range(1, 10)), *(record(i, "5e:00") for i in range(10, 13))], places=12, seen=12_000
    )
    assert [(r.fields["pci"], r.count) for r in folded] == [("3b:00", 9_000), ("5e:00", 3_000)]


def test_a_fault_of_another_day_or_boot_is_another_event() -> None:
    days = [record(1, stamp="[    10.000000] "), record(2, stamp="[    11.000000] "), record(3, stamp="[ 90000.000000] ")]
    assert [r.count for r in fold_records(days)] == [2, 1]
    boots = [record(1, stamp="[  5000.000000] "), record(2, stamp="[    11.000000] ")]
    assert [r.count for r in fold_records(boots)] == [1, 1]


def test_reports_of_several_lines_fold_only_where_asked() -> None:
    given = [record(1, last=4), record(5, last=8)]
    assert [r.count for r in fold_records(given)] == [1, 1]
    assert [r.count for r in fold_records(given, longer=True)] == [2]


def test_one_xid_on_two_gpus_is_two_events_with_counts() -> None:
    lines = [f"NVRM: Xid (PCI:0000:{'3b' if i % 3 else '5e'}:00): 63, pid=7, name=python, Row Remapper" for i in range(30)]
    found = [Region("log", i + 1, text) for i, text in enumerate(lines)]
    events = readers.read(scan_of({"xid": found}, {"xid": 3000}), knowledge())
    assert sorted((e.fields["pci"], e.count, e.last_line) for e in events) == [("0000:3b:00", 2000, 30), ("0000:5e:00", 1000, 28)]
    assert xid.TRIGGER.kind == "xid"


@given(st.lists(st.tuples(st.integers(1, 50), st.sampled_from(["3b:00", "5e:00"])), max_size=40))
def test_folding_keeps_every_place(given: list[tuple[int, str]]) -> None:
    made = [record(line, pci) for line, pci in given]
    folded = fold_records(made)
    assert sum(r.count for r in folded) == len(made)
    assert {span for r in folded for span in r.spans} == {(line, line) for line, _ in given}
    assert len(folded) == len({pci for _, pci in given})
