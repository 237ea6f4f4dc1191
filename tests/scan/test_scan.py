"""Hits stand on the right lines whatever the blocks are, repeats fold, colours and bars do not hide a message."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forensics.core import limits
from forensics.database import Confirmer, Database
from forensics.database.entries import Signature
from forensics.model import Scan, Source, Warning
from forensics.scan import Workers, scan
from forensics.scan.chunks import Chunk, chunks, whole_lines
from forensics.scan.fold import EvenSample, FirstAndLast
from forensics.scan.matcher import MAX_FIRST_PLACES, MAX_LAST_PLACES, first_and_last

OOM = (
    "Memory cgroup out of memory: Killed process 1917 (python3) total-vm:469992kB, anon-rss:393356kB, file-rss:4kB, shmem-rss:0kB"
)
SHAPE = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)"


def scanned(text: str | bytes, knowledge: Database, block: int = 1 << 20) -> Scan:
    data = text.encode() if isinstance(text, str) else text
    blocks = [data[i : i + block] for i in range(0, len(data), block)]
    return scan(Source("log", lambda _warn: iter(blocks)), knowledge, lambda _w: None)


def causes(found: Scan) -> dict[int, set[str]]:
    told: dict[int, set[str]] = {}
    for hit in found.hits:
        told.setdefault(hit.line, set()).add(hit.cause)
    return told


def test_a_common_message_is_confirmed_at_few_places_in_the_middle_of_a_log(
    knowledge: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    search = Confirmer.search

    def counted(self: Confirmer, line: str, *rest: Any) -> Any:
        looked.append(line)
        return search(self, line, *rest)

    monkeypatch.setattr(Confirmer, "search", counted)
    lines = [f"{SHAPE} in sample {i:06d}" for i in range(12_000)]
    found = scanned("\n".join(lines) + "\n", knowledge, 100_000)
    middle = {line for line in looked if 3000 <= int(line[-6:]) < 9000}
    assert 0 < len(middle) < 6000 * MAX_LAST_PLACES * 90 // 100_000 // 2  # 90 bytes a line: a chunk has some 1,100
    hit = next(h for h in found.hits if h.cause == "code.shape")
    assert (hit.count, hit.also[-1].number) == (12_000, 12_000)


@pytest.mark.parametrize("block", [7, 100, 4096, 1 << 20])
def test_line_numbers_agree_with_grep_whatever_the_blocks(knowledge: Database, block: int) -> None:
    lines = [f"step {i} loss 0.{i}" for i in range(3000)]
    lines[41], lines[2000] = SHAPE, OOM
    found = scanned("\n".join(lines), knowledge, block)
    told = causes(found)
    assert "code.shape" in told[42]
    assert "host_memory.oom_cgroup" in told[2001]
    assert (found.lines, found.bytes) == (3000, len("\n".join(lines)))


def test_a_line_of_many_chunks_is_one_line(knowledge: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "current", replace(limits.current, line=1 << 12))
    found = scanned(f"start\n{'x' * 50_000}\n{SHAPE}\n", knowledge, 1 << 10)
    assert "code.shape" in causes(found)[3]
    assert (found.lines, found.tail[-1].number) == (3, 3)


def test_fields_are_the_named_groups(knowledge: Database) -> None:
    (hit,) = [h for h in scanned(OOM, knowledge).hits if h.cause == "host_memory.oom_cgroup" and "pid" in h.fields][:1]
    assert hit.fields["pid"] == "1917"
    assert hit.weight == "proof"
    assert hit.text == OOM


@pytest.mark.parametrize(
    "line",
    [
        f"57%|#####   | 4/7 [00:37<00:28,  9.42s/it]{SHAPE}",
        f"\r 10%|\r 20%|{SHAPE}\r 30%|",
        f"\x1b[0;31mRuntimeError\x1b[0m: {SHAPE[14:]}",
        f"[rank3]: {SHAPE}",
        f"2024-01-01 00:00:00,123 ERROR {SHAPE}\r",
        f"bad \udcff bytes {SHAPE}",
    ],
)
def test_a_message_is_found_in_any_wrapping(knowledge: Database, line: str) -> None:
    found = scanned(b"before\n" + line.encode("utf-8", "surrogateescape") + b"\nafter\n", knowledge)
    assert "code.shape" in causes(found)[2]


@pytest.mark.seconds
def test_a_repeated_message_is_one_hit_with_a_count(knowledge: Database) -> None:
    found = scanned("\n".join([SHAPE] * 5000), knowledge)
    (hit,) = [h for h in found.hits if h.signature == found.hits[0].signature]
    assert (hit.count, hit.line, hit.lines[-1].number) == (5000, 1, 5000)


@pytest.mark.seconds
def test_many_distinct_messages_stay_bounded(knowledge: Database) -> None:
    text = "\n".join(f"RuntimeError: mat1 and mat2 shapes cannot be multiplied ({i}x8 and 16x2)" for i in range(4000))
    found = [h for h in scanned(text, knowledge).hits if h.cause == "code.shape"]
    assert len(found) < 2000
    assert sum(h.count for h in found if h.signature == found[0].signature) == 4000


def test_a_line_without_end_is_scanned_in_a_window(knowledge: Database) -> None:
    found = scanned(b"x" * 3_000_000 + b" " + SHAPE.encode() + b" " + b"y" * 3_000_000, knowledge)
    assert "code.shape" in causes(found)[1]


def test_a_slow_pattern_is_reported_and_does_not_hang(knowledge: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Signature("code.shape", "slow", "proof", ("runtimeerror: mat1",), r"(\w|\w\w)+$")
    monkeypatch.setattr(limits, "current", limits.with_values(limits.current, {"confirm": 0.005}))
    broken = replace(knowledge, confirmers=tuple(Confirmer(slow) for _ in knowledge.confirmers))
    noted: list[Warning] = []
    line = f"{SHAPE} {'a' * 60}!".encode()
    found = scan(Source("log", lambda _warn: iter([line])), broken, noted.append)  # 2 ** 60 ways: it ends as it is given up
    assert {w.kind for w in noted} == {"timeout"}
    assert not found.hits


@given(st.lists(st.binary(max_size=40)), st.integers(1, 50))
def test_chunks_lose_nothing_and_end_at_lines(blocks: list[bytes], _size: int) -> None:
    whole = b"".join(blocks)
    cut = list(whole_lines(iter(blocks)))
    assert b"".join(cut) == whole
    assert all(c.endswith(b"\n") for c in cut[:-1])
    assert b"".join(c.data for c in chunks(iter(blocks))) == whole


@pytest.mark.seconds
@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_any_number_of_threads_gives_the_same(knowledge: Database, jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ample = replace(limits.current, source_confirm=600.0, line_confirm=60.0)  # so that a busy machine leaves nothing out
    monkeypatch.setattr(limits, "current", ample)
    lines = [
        f"step {i} loss 0.{i} RuntimeError: mat1 and mat2 shapes cannot be multiplied ({i % 7}x8 and 16x2)" for i in range(9000)
    ]
    data = "\n".join(lines).encode()
    blocks = [data[i : i + 30_000] for i in range(0, len(data), 30_000)]
    source = Source("log", lambda _warn: iter(blocks))
    alone = scan(source, knowledge, lambda _w: None)
    with Workers(jobs) as threads:
        together = scan(source, knowledge, lambda _w: None, workers=threads)
    assert replace(together, source=source) == replace(alone, source=source)


@pytest.mark.seconds
def test_very_common_messages_are_counted_without_being_read(knowledge: Database) -> None:
    lines = [f"RuntimeError: mat1 and mat2 shapes cannot be multiplied ({i % 7}x8 and 16x2)" for i in range(50_000)]
    data = "\n".join(lines).encode()
    blocks = [data[i : i + 200_000] for i in range(0, len(data), 200_000)]
    found = scan(Source("log", lambda _warn: iter(blocks)), knowledge, lambda _w: None)
    name = next(h.signature for h in found.hits if h.cause == "code.shape")
    hits = [h for h in found.hits if h.signature == name]
    assert sum(h.count for h in hits) == 50_000
    assert hits[0].line == 1
    assert max(line.number for h in hits for line in h.lines) == 50_000


@given(st.binary(max_size=60), st.binary(max_size=60), st.binary(max_size=60), st.integers(-80, 150), st.integers(0, 80))
def test_a_neighbourhood_reaches_into_the_margins(before: bytes, data: bytes, after: bytes, start: int, length: int) -> None:
    whole = before + data + after
    first = max(0, len(before) + start)
    assert Chunk(data, before, after).around(start, start + length) == whole[first : max(first, len(before) + start + length)]


def test_ends_and_even_are_bounded() -> None:
    ends: FirstAndLast[int] = FirstAndLast()
    even: EvenSample[int] = EvenSample()
    for i in range(100_000):
        ends.add(i)
        if even.wants():
            even.add(i)
    assert ends.items()[0] == 0
    assert ends.items()[-1] == 99_999
    assert ends.dropped == 100_000 - len(ends.items())
    assert len(even.kept) <= 4096
    steps = {b - a for a, b in zip(even.kept, even.kept[1:], strict=False)}
    assert len(steps) == 1


def test_places_of_a_dense_series_are_sampled_whatever_their_period(knowledge: Database) -> None:
    text = "".join(f"[rank{i % 4}]: step {i} loss {i}\n" for i in range(30_000))
    kept = scanned(text, knowledge).regions["metrics"]
    ranks = Counter(region.text[5] for region in kept)
    assert 2500 < sum(ranks.values()) < 3500
    assert min(ranks.values()) > 0.9 * max(ranks.values())


@pytest.mark.seconds
@given(st.lists(st.integers(0, 9000), min_size=1, max_size=150), st.sampled_from([40, 5000, 1 << 20]), st.booleans())
def test_first_and_last_lines_stand_where_they_say(knowledge: Database, lengths: list[int], block: int, ended: bool) -> None:
    lines = [f"{i} {'x' * length}" for i, length in enumerate(lengths, 1)]
    found = scanned("\n".join(lines) + "\n" * ended, knowledge, block)
    for line in (*found.head, *found.tail):
        assert lines[line.number - 1][-4000:].endswith(line.text[-4000:]) or lines[line.number - 1].startswith(line.text[:4000])
    assert found.tail[-1].number == found.lines == len(lines)


def test_of_a_flood_the_first_and_last_places_of_each_anchor_are_kept() -> None:
    places = [(at, at % 2) for at in range(10_000)] + [(10_000, 7)]
    counts = {0: 5_000, 1: 5_000, 7: 1}
    kept = first_and_last(places, counts)
    assert [p for p in kept if p[1] == 0] == [
        (2 * k, 0) for k in (*range(MAX_FIRST_PLACES), *range(5_000 - MAX_LAST_PLACES, 5_000))
    ]
    assert kept[-1] == (10_000, 7)
    assert len(kept) == 2 * (MAX_FIRST_PLACES + MAX_LAST_PLACES) + 1


TRIED = [  # two lines of one healthy message; the second overlaps a message of another cause, which line 3 has on its own
    'level=error msg="failed to mount overlay: no such device" storage-driver=overlay2',
    'ERROR exec: "fuse-overlayfs": executable file not found in $PATH storage-driver=fuse-overlayfs',
    'exec: "fuse-overlayfs": executable file not found in $PATH',
]


def test_a_healthy_message_silences_on_each_of_its_lines_and_on_no_other(knowledge: Database) -> None:
    started = [h for h in scanned("\n".join(TRIED), knowledge).hits if h.signature == "code.config/container_start"]
    assert [(h.line, h.silenced) for h in started] == [(2, True), (3, False)]
