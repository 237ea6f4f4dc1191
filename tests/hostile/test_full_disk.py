"""`collect` on a full disk says which parts are not there, and leaves no half archive."""

import contextlib
import os
import signal
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commandline import forensics

pytestmark = [pytest.mark.root, pytest.mark.seconds, pytest.mark.skipif(os.getuid() != 0, reason="needs root")]
SMALL_KIB = {"half": 24, "none": 4}


@pytest.fixture
def small(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A file system with little room."""
    place = tmp_path / "small"
    place.mkdir()
    size = f"size={SMALL_KIB[request.param]}k"
    if subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(place)], capture_output=True).returncode:
        pytest.skip("no right to mount")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def job(tmp_path: Path) -> Iterator[int]:
    """A process whose log has 200 kB, which no compression makes small."""
    with (tmp_path / "job.log").open("wb") as log:
        log.write("".join(f"step {i} id {os.urandom(24).hex()}\n" for i in range(3200)).encode())
        log.flush()
        running = subprocess.Popen(["sleep", "600"], stdout=log)
        yield running.pid
        with contextlib.suppress(ProcessLookupError):
            running.send_signal(signal.SIGKILL)
        running.wait()


@pytest.mark.parametrize("small", ["half", "none"], indirect=True)
@pytest.mark.parametrize("redact", [False, True])
def test_what_could_not_be_written_is_named(small: Path, job: int, redact: bool) -> None:
    done = forensics("collect", "--pid", job, "-o", small / "bundle", *(["--redact"] if redact else []))
    said = done.stderr.decode()
    assert "No space left on device" in said and "Traceback" not in said and "internal" not in said
    if not redact:
        assert "not taken: the end of job.log: No space left on device" in said
        (line,) = (x for x in said.splitlines() if "the bundle is not complete" in x)
        unwritten = line.split(": ")[3].split(", ")
        kept = [name for name in unwritten if (small / "bundle" / name).exists()]
        assert unwritten and set(kept) <= {"run.json"}, "of run.json the version that was written at the start may be there"


@pytest.mark.parametrize("small", ["half"], indirect=True)
def test_an_archive_that_does_not_fit_is_removed_and_its_folder_named(small: Path, job: int, tmp_path: Path) -> None:
    done = forensics("collect", "--pid", job, "-o", small / "bundle.tar.gz", FORENSICS_RUNS=str(tmp_path / "runs"))
    (kept,) = (tmp_path / "runs").iterdir()
    assert done.returncode == 2 and list(small.iterdir()) == []
    told = done.stderr.decode().splitlines()[-1]
    assert "the bundle could not be written (No space left on device)" in told and str(kept) in told
    assert (kept / "run.json").exists() and (kept / "job.log").stat().st_size > 150_000


def test_an_archive_that_fits_is_whole(job: int, tmp_path: Path) -> None:
    done = forensics("collect", "--pid", job, "-o", tmp_path / "b.tar.gz", FORENSICS_RUNS=str(tmp_path / "runs"))
    assert done.returncode == 0 and list((tmp_path / "runs").iterdir()) == [] and not list(tmp_path.glob("*.part"))
    with tarfile.open(tmp_path / "b.tar.gz") as archive:
        assert any(name.endswith("/run.json") for name in archive.getnames())
