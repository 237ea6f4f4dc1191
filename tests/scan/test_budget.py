"""The time of patterns is bounded for a line and a source, shared equally, and what was left out is told."""

import time

import pytest
from msgspec.structs import replace

from forensics.core import limits
from forensics.database import Allowance, Confirmer, Database
from forensics.model import Scan, Source, Warning
from forensics.scan import scan
from forensics.scan.budget import LONG_CHARS, Budget

KILL = "Out of memory: Killed process 4242 (python) total-vm:9kB, anon-rss:7kB, file-rss:0kB, shmem-rss:0kB"
ROUNDS = 400


def scanned(data: bytes, knowledge: Database, noted: list[Warning]) -> Scan:
    blocks = [data[i : i + (1 << 20)] for i in range(0, len(data), 1 << 20)]
    return scan(Source("log", lambda _warn: iter(blocks)), knowledge, noted.append)


def test_when_all_is_spent_those_go_on_that_had_less_than_their_share() -> None:
    half = Budget().half("short")
    half.spend(1, half.granted)
    half.spend(2, half.granted / 100)
    assert half.allowed(1) <= 0
    assert half.allowed(2) > 0
    assert half.allowed(3) > 0


def test_a_round_adds_to_what_may_be_spent() -> None:
    budget = Budget()
    half = budget.half("short")
    half.spend(1, half.granted)
    budget.begin_round(10 << 20)
    assert half.allowed(1) > 0


def test_long_lines_take_nothing_from_ordinary_ones() -> None:
    budget = Budget()
    long = budget.half("x" * (LONG_CHARS + 1))
    for i in range(ROUNDS):
        long.spend(i, 1.0)
    assert budget.half(KILL).allowed(1) > 0


def test_a_signature_is_searched_once_in_a_line(knowledge: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[tuple[str, str]] = []
    whole = Confirmer.search

    def counted(self: Confirmer, line: str, allowance: Allowance | None = None) -> object:
        searched.append((self.signature.id, line))
        return whole(self, line, allowance)

    monkeypatch.setattr(Confirmer, "search", counted)
    scanned(b"[    1.234567] " + b"NVRM: " * 1365 + b"\n", knowledge, [])
    assert searched
    assert len(searched) == len(set(searched))


def test_lines_that_are_slow_for_a_pattern_do_not_hide_a_later_kill(knowledge: Database) -> None:
    slow = (b"[    1.234567] " + b"NVRM: " * 680 + b"\n") * 60
    begun = time.process_time()
    found = scanned(slow + KILL.encode() + b"\n", knowledge, [])
    assert time.process_time() - begun < 5
    assert any(h.line == 61 and h.cause.startswith("host_memory") for h in found.hits)


def test_what_was_left_out_is_told_once(knowledge: Database) -> None:
    never = replace(knowledge.confirmers[0].signature, anchors=("out of memory",), pattern=r"(\w|\w\w)+$", unless=())
    broken = replace(knowledge, confirmers=tuple(Confirmer(never) for _ in knowledge.confirmers))
    noted: list[Warning] = []
    begun = time.process_time()
    scanned(f"{KILL} {'a' * 60}!\n".encode() * ROUNDS, broken, noted)
    assert time.process_time() - begun < 4 * limits.current.source_confirm  # with the rest of a scan, on a busy machine
    assert [w.kind for w in noted if w.kind == "timeout"] == ["timeout"]
