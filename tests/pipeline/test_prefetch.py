"""A large source decoded by another process: the same blocks, warnings and line numbers, whatever happens to the process."""

import gzip
import io
import multiprocessing
import os
import signal
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from forensics import pipeline
from forensics.database import Database
from forensics.model import Source, Warn, Warning
from forensics.pipeline import prefetch
from forensics.pipeline.prefetch import MIN_PREFETCHED_BYTES, SLOT_BYTES, read_ahead
from forensics.sources import open_paths
from forensics.sources.origin import LineOrigin, line_blocks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
HERE = os.getpid()
BLOCKS = 20


def made(dies_at: int = -1) -> Source:
    """A source of some blocks that tell which process made them; in the other process it dies before one of them."""
    origin = LineOrigin()

    def pieces(warn: Warn) -> Iterator[tuple[int, int, bytes]]:
        for number in range(BLOCKS):
            if number == dies_at and os.getpid() != HERE:
                os.kill(os.getpid(), signal.SIGKILL)
            if number % 7 == 3:
                warn(Warning("format", "no record", "x.log", number))
            size = 1 << 20 if number % 5 else SLOT_BYTES + 1
            yield 1 + 2 * number, 0, f"block {number} by {os.getpid() == HERE}".encode().ljust(size, b".")

    return Source("x.log", lambda warn: line_blocks(pieces(warn), origin), origin=origin, coded=MIN_PREFETCHED_BYTES)


def tarred(name: str, data: bytes) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return whole.getvalue()


def read(source: Source) -> tuple[bytes, list[Warning], list[int]]:
    noted: list[Warning] = []
    data = b"".join(source.blocks(noted.append))
    assert source.origin
    return data, noted, [source.origin(line) for line in range(1, BLOCKS + 1)]


def test_another_process_decodes_and_tells_where_lines_stood() -> None:
    data, noted, numbers = read(read_ahead(made()))
    here, same, alike = read(made())
    assert data == here.replace(b"True.", b"False")
    assert (noted, numbers) == (same, alike) and len(noted) == 3 and numbers[-1] == 2 * BLOCKS - 1


@pytest.mark.seconds
@pytest.mark.parametrize("at", [0, 1, 13, BLOCKS - 1])
def test_what_a_killed_process_had_not_given_is_decoded_here(at: int) -> None:
    data, noted, numbers = read(read_ahead(made(dies_at=at)))
    rows = data.splitlines()
    assert len(rows) == BLOCKS and b"by True" in rows[-1]
    assert [row.split()[1] for row in rows] == [str(n).encode() for n in range(BLOCKS)]
    assert list(dict.fromkeys(noted)) == read(made())[1] and numbers == read(made())[2]


def test_where_no_process_is_to_be_had_it_is_decoded_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def bounded() -> int:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", bounded)
    assert read(read_ahead(made())) == read(made())


def test_a_reader_that_takes_its_time_gets_everything_from_there() -> None:
    rows = []
    for block in read_ahead(made()).blocks(lambda _warning: None):
        time.sleep(0.01)
        rows.append(block[:20])
    assert len(rows) == BLOCKS and all(b"by False" in row for row in rows)


def test_the_process_ends_when_nobody_reads_on() -> None:
    before = set(multiprocessing.active_children())
    blocks = read_ahead(made()).blocks(lambda _warning: None)
    next(blocks)
    assert len(set(multiprocessing.active_children()) - before) == 1
    blocks.close()  # type: ignore[attr-defined]
    assert not set(multiprocessing.active_children()) - before


def test_a_short_source_and_one_that_is_not_decoded_stay_here(tmp_path: Path) -> None:
    (tmp_path / "plain.log").write_text("step 1 loss 0.5\n")
    (tmp_path / "docker.log").write_text('{"log":"Killed\\n","stream":"stderr","time":"2026-08-22T03:00:07.1Z"}\n')
    (tmp_path / "docker2.log.gz").write_bytes(gzip.compress((tmp_path / "docker.log").read_bytes()))
    (tmp_path / "packed.log.gz").write_bytes(gzip.compress(b"step 1 loss 0.5\n"))
    docker, docker2, packed, plain = open_paths([tmp_path], lambda _warning: None)
    assert docker2.coded and docker2.format == docker.format
    assert docker.coded and read_ahead(docker) is docker
    assert not packed.coded and read_ahead(packed) is packed
    assert not plain.coded and read_ahead(plain) is plain
    assert read_ahead(replace(docker, coded=MIN_PREFETCHED_BYTES)) is not docker


@pytest.mark.seconds
def test_a_report_does_not_depend_on_who_decodes(tmp_path: Path, knowledge: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of one line, of several lines and of parts of one, and what is none, so that lines stand elsewhere."""
    rows = [f'{{"log":"step {n} loss 0.5\\n","stream":"stdout","time":"2026-08-22T03:00:{n % 60:02}.1Z"}}' for n in range(300)]
    rows[5] = rows[5].replace("loss", "a\\nb loss")
    rows[70:72] = ["", "no record"]
    rows[90] = rows[90].replace("\\n", "")
    rows.append(rows[0].replace("step 0 loss 0.5", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."))
    (tmp_path / "docker.log").write_text("\n".join(rows) + "\n")
    (tmp_path / "packed.log.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    (tmp_path / "rows.tar.gz").write_bytes(tarred("a/docker.log", "\n".join(rows).encode()))
    here = pipeline.analyze_paths([tmp_path], "case", knowledge, workers=2)
    monkeypatch.setattr(prefetch, "MIN_PREFETCHED_BYTES", 1)
    there = pipeline.analyze_paths([tmp_path], "case", knowledge, workers=2)
    assert here.causes[0].evidence[0].line == len(rows)
    assert msgspec.json.encode(here) == msgspec.json.encode(there)
