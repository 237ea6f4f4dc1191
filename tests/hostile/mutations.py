"""Ways to damage the logs of a case: cut, doubled, shuffled, bytes flipped, interleaved with another case's.

A damage is known by its number: `damaged(case, 17)` is the same in every run.
"""

import random
from collections.abc import Callable
from pathlib import Path

Logs = dict[str, bytes]
FOLDER = Path(__file__).parents[2] / "sample_logs"


def cases() -> list[Path]:
    return sorted(p.parent for p in FOLDER.glob("*/expected.yaml"))


def logs_of(case: Path) -> Logs:
    return {p.name: p.read_bytes() for p in sorted(case.rglob("*")) if p.is_file() and p.name != "expected.yaml"}


def _cut_end(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _cut_start(data: bytes, chance: random.Random) -> bytes:
    return data[chance.randrange(len(data) + 1) :]


def _hole(data: bytes, chance: random.Random) -> bytes:
    a, b = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return data[:a] + data[b:]


def _doubled(data: bytes, chance: random.Random) -> bytes:
    a, b = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return data[:b] + data[a:]


def _doubled_lines(data: bytes, chance: random.Random) -> bytes:
    return b"\n".join(line for line in data.split(b"\n") for _ in range(1 + (chance.random() < 0.3)))


def _shuffled(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    chance.shuffle(lines)
    return b"\n".join(lines)


def _lines_lost(data: bytes, chance: random.Random) -> bytes:
    return b"\n".join(line for line in data.split(b"\n") if chance.random() < 0.7)


def _flipped(data: bytes, chance: random.Random) -> bytes:
    wrong = bytearray(data)
    for _ in range(1 + len(wrong) // 200):
        if wrong:
            wrong[chance.randrange(len(wrong))] ^= 1 << chance.randrange(8)
    return bytes(wrong)


def _noise(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.randbytes(chance.randrange(4000)) + data[at:]


WAYS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _cut_end, _cut_start, _hole, _doubled, _doubled_lines, _shuffled, _lines_lost, _flipped, _noise,
)  # fmt: skip


def damaged(case: Path, number: int) -> tuple[str, Logs]:
    """The name of the damage and the damaged logs. Every tenth is the case's logs line by line between those of another,
    healthy case: its answer stays the same."""
    chance = random.Random(f"{case.name} {number}")
    logs = logs_of(case)
    if number % (len(WAYS) + 1) == len(WAYS):
        other = chance.choice([c for c in cases() if c.name.startswith("healthy") and c != case])
        between = b"\n".join(logs_of(other).values()).split(b"\n")
        return f"interleaved with {other.name}", {n: _interleaved(d, between, chance) for n, d in logs.items()}
    way = WAYS[number % (len(WAYS) + 1)]
    return way.__name__.strip("_"), {n: way(d, chance) for n, d in logs.items()}


def _interleaved(data: bytes, between: list[bytes], chance: random.Random) -> bytes:
    mixed: list[bytes] = []
    rest = iter(between)
    for line in data.split(b"\n"):
        mixed.append(line)
        if chance.random() < 0.3:
            mixed.append(next(rest, b""))
    return b"\n".join(mixed)
