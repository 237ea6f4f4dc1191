"""What fails around the program: full disks, read-only folders, a reader that leaves, Ctrl-C, a fault of the program itself."""

import errno
import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from forensics import correlation, pipeline, readers, series, sources
from forensics.data_files import cache
from forensics.database import Allowance, Database
from forensics.model import Report, Warn, Warning
from forensics.pipeline import analysis
from forensics.scan import scan
from forensics.sources.files import FileAsOpened
from tests.commandline import forensics
from tests.conftest import ROOT, text_source
from tests.database.test_causefiles import GOOD
from tests.hostile.inputs import CAUSE, OOM

pytestmark = pytest.mark.seconds
CASE = str(ROOT / "sample_logs/jupyter_oom")
COMMAND = [sys.executable, "-m", "forensics"]
PATIENCE_S = 300  # a process that hangs; a busy machine is ten times as slow as a quiet one


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system of 16 KiB."""
    place = tmp_path / "tiny"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(place)], capture_output=True).returncode:
        pytest.skip("no right to mount")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def as_users_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORENSICS_DEBUG")


def test_a_full_disk_under_the_report_is_one_line(tiny: Path, as_users_have_it: None) -> None:
    told = forensics("analyze", CASE, "-f", "html", "-o", tiny / "report.html")
    assert told.returncode == 2
    assert told.stderr.decode().count("\n") == 1 and b"No space left" in told.stderr
    assert b"</html>" in told.stdout, "the report goes to stdout"
    assert list(tiny.iterdir()) == []


def test_a_full_disk_under_the_cache_costs_no_answer(tiny: Path, as_users_have_it: None) -> None:
    told = forensics("analyze", CASE, "-f", "json", FORENSICS_CACHE=str(tiny))
    assert told.returncode == 0 and all(b"compiled for the first time" in line for line in told.stderr.splitlines())
    assert json.loads(told.stdout)["causes"][0]["id"] == CAUSE
    assert not list(tiny.glob("*.db"))  # nothing half-written
    assert all(json.loads(p.read_text()) for p in tiny.rglob("*.json"))


def test_a_full_disk_under_stdout_is_one_line() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, "analyze", CASE], stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE_S)
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == ["forensics: No space left on device"]


@pytest.mark.slow  # the full disk above is the like
def test_a_cache_that_is_no_folder_costs_no_answer(tmp_path: Path) -> None:
    """In a process of its own, as it comes: signatures read, proven and compiled in one run."""
    (tmp_path / "cache").write_text("x")
    own = {k: v for k, v in os.environ.items() if k != "FORENSICS_DEBUG"}
    own |= {"FORENSICS_CACHE": str(tmp_path / "cache"), "HOME": "/proc/none"}
    told = subprocess.run([*COMMAND, "analyze", CASE, "-f", "json"], capture_output=True, env=own, timeout=PATIENCE_S)
    assert told.returncode == 0 and json.loads(told.stdout)["causes"][0]["id"] == CAUSE


def test_a_damaged_cache_is_made_anew(tmp_path: Path, as_users_have_it: None, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(os.environ["FORENSICS_CACHE"], tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("FORENSICS_CACHE", str(tmp_path))
    for kept in tmp_path.glob("*.db"):
        data = bytearray(kept.read_bytes())
        data[len(data) // 2] ^= 0xFF
        kept.write_bytes(data)
        assert cache.read(kept.stem) is None
    told = forensics("analyze", CASE, "-f", "json")
    assert told.returncode == 0 and json.loads(told.stdout)["causes"][0]["id"] == CAUSE
    assert any(cache.read(kept.stem) for kept in tmp_path.glob("*.db"))


def test_processes_share_one_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several find it empty, compile the same databases at the same time, and write and read them under each other's eyes."""
    (tmp_path / "family").mkdir()
    program = (
        "import sys; from pathlib import Path; from forensics.database import load; from forensics.model import Trigger\n"
        "sys.stdin.readline()\n"
        "for i in range(30):\n"
        "    made = load(Path(sys.argv[1]), [Trigger('k', (f'anchor {i}',))])\n"
        "    assert list(made.causes) == ['family.thing'] and made.triggers[0].anchors == (f'anchor {i}',)\n"
    )
    (tmp_path / "family" / "thing.yaml").write_text(GOOD)
    monkeypatch.setenv("FORENSICS_CACHE", str(tmp_path / "cache"))
    given = [sys.executable, "-c", program, str(tmp_path)]
    runs = [subprocess.Popen(given, stdin=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
    for run in runs:
        assert run.stdin
        run.stdin.write(b"go\n")
        run.stdin.flush()
    assert [run.communicate(timeout=PATIENCE_S)[1] for run in runs] == [b""] * 3
    assert [run.returncode for run in runs] == [0] * 3
    kept = list((tmp_path / "cache").glob("*.db"))
    assert len(kept) == cache.MAX_CACHED_DATABASES and all(cache.read(k.stem) for k in kept)


def test_a_reader_that_leaves_early_is_no_error() -> None:
    done = subprocess.run(
        f"{sys.executable} -m forensics analyze {CASE} -f json | head -c 5", shell=True, capture_output=True, timeout=PATIENCE_S
    )
    assert done.stdout == b'{\n  "' and not done.stderr


def test_a_report_onto_a_pipe_or_a_link_leaves_them_what_they_are(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("report.json")
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        assert forensics("analyze", CASE, "-f", "json", "-o", pipe).returncode == 0
        assert json.loads(reader.communicate(timeout=PATIENCE_S)[0])["causes"][0]["id"] == CAUSE
    assert pipe.is_fifo()
    assert forensics("analyze", CASE, "-f", "json", "-o", link).returncode == 0
    assert link.is_symlink() and json.loads((tmp_path / "report.json").read_bytes())["causes"][0]["id"] == CAUSE
    told = subprocess.run([*COMMAND, "analyze", CASE, "-f", "json", "-o", "/dev/stdout"], capture_output=True, timeout=PATIENCE_S)
    assert json.loads(told.stdout)["causes"][0]["id"] == CAUSE
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "pipe", "report.json"]


@pytest.mark.parametrize("given", [("stdin",), ("explain", "-"), ("report", "-")])
def test_closed_stdin_is_wrong_usage(given: tuple[str, ...]) -> None:
    done = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *COMMAND, *given], capture_output=True, timeout=PATIENCE_S)
    assert done.returncode == 2
    assert done.stderr.decode().startswith("forensics: standard input is closed")


def test_closed_stdout_is_no_traceback() -> None:
    done = subprocess.run(
        f"{sys.executable} -m forensics analyze {CASE} >&-", shell=True, capture_output=True, timeout=PATIENCE_S
    )
    assert b"Traceback" not in done.stderr and done.stderr.count(b"\n") <= 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_interrupted_on_standard_input(tmp_path: Path) -> None:
    output = tmp_path / "out"
    output.mkdir()
    given = subprocess.Popen([*COMMAND, "stdin", "-o", str(output / "r.txt")], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert given.stdin and given.stderr
    given.stdin.write(b"x\n" * 8_000_000)
    given.stdin.flush()
    time.sleep(1.5)
    given.send_signal(signal.SIGINT)
    told = given.stderr.read()
    assert given.wait(PATIENCE_S) == 130
    assert re.fullmatch(
        r"forensics: interrupted; read until then: "
        r"[\d,]{7,10} lines \([\d,]{7,10} bytes\) of <stdin>; nothing was written\n",
        told.decode(),
    ), told
    assert not list(output.iterdir())


class BrokenError(Exception):
    pass


def broken(*_given: object, **_named: object) -> None:
    raise BrokenError("a fault made by this test")


PARTS = {
    "detectors": (readers, "read"),
    "detectors together": (readers, "merge_nccl_timeouts"),
    "numbers": (series, "gather_numbers"),
    "series": (series, "read"),
    "times": (correlation, "full_times"),
    "clocks": (correlation, "infer_clock"),
    "common clock": (correlation, "align_clocks"),
    "context": (analysis, "attach_context"),
}


@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_fault_in_a_part_costs_that_part(
    part: str, as_users_have_it: None, monkeypatch: pytest.MonkeyPatch, analyze: Callable[..., Report]
) -> None:
    monkeypatch.setattr(*PARTS[part], broken)
    report = analyze(dmesg_log=OOM, train_log="step 1 loss 2.0\n" * 50)
    (warning, *_) = [w for w in report.warnings if w.kind == "internal"]
    assert "BrokenError" in warning.message and "report it" in warning.message
    if part != "detectors":  # without these there is no evidence
        assert report.causes[0].id == CAUSE


def test_a_fault_in_one_record_costs_that_record(
    as_users_have_it: None, monkeypatch: pytest.MonkeyPatch, analyze: Callable[..., Report]
) -> None:
    from forensics.readers.python import traceback

    monkeypatch.setattr(traceback, "read", broken)
    report = analyze(dmesg_log=OOM, train_log='Traceback (most recent call last):\n  File "a.py", line 1\nValueError: x\n')
    (warning,) = [w for w in report.warnings if w.kind == "internal"]
    assert (warning.source, warning.line) == ("train.log", 1)
    assert report.causes[0].id == CAUSE


def test_a_fault_while_reading_costs_the_rest_of_that_source(
    as_users_have_it: None, knowledge: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from forensics.sources.formats import json_records

    monkeypatch.setattr(json_records, "_line", broken)
    (tmp_path / "a.log").write_bytes(b'{"time":"2026-11-21T08:00:00Z","level":"info","msg":"a"}\n' * 9)
    (tmp_path / "dmesg.log").write_bytes(OOM)
    report = pipeline.analyze_paths([tmp_path], "case", knowledge)
    assert [w.source for w in report.warnings if w.kind == "internal"] == [str(tmp_path / "a.log")]
    assert report.causes[0].id == CAUSE


def test_the_command_line_never_shows_a_traceback(
    as_users_have_it: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from forensics import cli

    monkeypatch.setattr("forensics.cli.app.build", broken)
    monkeypatch.setattr(cli.os, "dup2", lambda *_a: 0)
    monkeypatch.setattr(cli.signal, "signal", lambda *_a: None)
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 3
    assert capsys.readouterr().err.startswith("forensics: internal error (BrokenError, test_faults.py:")


def test_a_slow_signature_is_given_up(knowledge: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def slow(_self: object, _line: str, allowance: Allowance) -> None:
        tried.append(1)
        allowance.left -= 0.04
        raise TimeoutError

    monkeypatch.setattr("forensics.database.Confirmer.search", slow)
    noted: list[Warning] = []
    scan(text_source("a.log", "CUDA out of memory. Tried to allocate\n" * 300), knowledge, noted.append)
    told = [w.message for w in noted if w.kind == "timeout"]
    assert len(told) == 1 and "took too long" in told[0]
    assert len(tried) < 30  # of a second or so for the source


def test_a_file_that_shrinks_and_one_that_vanishes(knowledge: Database, tmp_path: Path) -> None:
    noted: list[Warning] = []
    for name in ("a.log", "b.log", "dmesg.log"):
        (tmp_path / name).write_bytes(OOM * (1 if name == "dmesg.log" else 20))
    given = sources.open_paths([tmp_path], noted.append)
    (tmp_path / "a.log").unlink()
    (tmp_path / "b.log").write_bytes(b"")
    report = pipeline.analyze(given, "case", knowledge, noted)
    assert report.causes[0].id == CAUSE
    assert [w.source for w in report.warnings if w.kind == "truncated"] == [str(tmp_path / "a.log")]


def test_a_file_that_grows_while_it_is_read(knowledge: Database, tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(OOM)
    (source,) = sources.open_paths([path], lambda _w: None)

    def growing(warn: Warn) -> Iterator[bytes]:
        for block in source.blocks(warn):
            with path.open("ab") as file:
                file.write(b"more\n" * 400_000)  # more than was just read, so that the end is never reached
            yield block

    report = pipeline.analyze([replace(source, blocks=growing)], "case", knowledge)
    assert report.causes[0].id == CAUSE
    assert any("it grew while it was read" in w.message for w in report.warnings)


GOOD_BYTES = 40_000  # of a file on a bad disk; behind them EIO


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda d: b'{"cells": [' + d], ids=["text", "gzip", "document"])
def test_a_reading_error_in_mid_file_is_a_warning(
    pack: Callable[[bytes], bytes], knowledge: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = pack(OOM + random.Random(1).randbytes(400_000).hex().encode())
    (tmp_path / "bad.log").write_bytes(data)
    (tmp_path / "dmesg.log").write_bytes(OOM)
    real = FileAsOpened.read

    def read_of_a_bad_disk(file: FileAsOpened, size: int = -1) -> bytes:
        if file.size == len(data) and file.at >= GOOD_BYTES:
            raise OSError(errno.EIO, "Input/output error")
        return real(file, min(size, 7000) if size > 0 else 7000)

    monkeypatch.setattr(FileAsOpened, "read", read_of_a_bad_disk)
    report = pipeline.analyze_paths([tmp_path], "case", knowledge)
    assert report.causes[0].id == CAUSE
    assert [w.kind for w in report.warnings if "Input/output error" in w.message] == ["truncated"]
    (read,) = [s for s in report.sources if s.name.endswith("bad.log")]
    assert read.bytes > 1000 and read.lines >= 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_interrupted_behind_some_files_says_how_many(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"step 1\n" * 10)
    output = tmp_path / "out"
    output.mkdir()
    program = (  # a source that stops in its middle, as a network file system does
        "import sys, time\n"
        "from forensics.cli import main\n"
        "from forensics.pipeline import analysis as p\n"
        "from forensics.model import Source\n"
        "real = p.sources.open_paths\n"
        "def hanging(warn):\n    yield b'step 2\\n' * 5\n    yield b'step 3\\n' * 5\n    print('here', file=sys.stderr, flush=True)\n    time.sleep(60)\n"
        "p.sources.open_paths = lambda paths, warn, *more, **named: [*real(paths, warn, *more, **named), Source('slow.log', hanging)]\n"
        f"sys.argv = ['forensics', 'analyze', {str(tmp_path)!r}, '-o', {str(output / 'r.txt')!r}]\n"
        "main()\n"
    )
    given = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE)
    assert given.stderr and given.stderr.readline() == b"here\n"
    given.send_signal(signal.SIGINT)
    told = given.stderr.read().decode()
    assert given.wait(PATIENCE_S) == 130
    assert "1 whole source, 10 lines (70 bytes) and" in told and "of slow.log; nothing was written" in told
    assert not list(output.iterdir())
