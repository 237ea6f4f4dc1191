"""The process that reads losses while a run goes on: what it says arrives, and it ends with who listens."""

import io
import os
import sys
import time
from pathlib import Path

import pytest

from forensics.capture.cell_output import CellOutput
from forensics.capture.growth import EarlyWarnings

LOST = "".join(f"step {i} loss {'nan' if i > 4 else 1.5}\n" for i in range(9))


@pytest.mark.seconds
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_loss_that_is_lost_is_said_and_the_process_is_no_child_and_ends_with_who_listens(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text(LOST.replace("1.5", "nan"))  # of another run
    warnings = EarlyWarnings([(str(log), log.stat().st_size)])
    with log.open("a") as file:
        file.write(LOST)
    until, said = time.monotonic() + 60, list[str]()
    while not said and time.monotonic() < until:
        time.sleep(0.05)
        said = warnings.said()
    assert said == ["loss: NaN or infinite since step 5, 1.5 before"]
    pids = [p for p in Path("/proc").glob("[0-9]*") if str(log).encode() in _read(p / "cmdline")]
    assert len(pids) == 1
    assert f"PPid:\t{os.getpid()}\n".encode() not in _read(pids[0] / "status")
    warnings.close()
    while pids[0].exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not pids[0].exists()


@pytest.mark.seconds
@pytest.mark.parametrize("text", [LOST, LOST.rstrip()], ids=["whole lines", "a last line that is cut"])
def test_a_loss_that_is_lost_in_the_last_moment_is_said_when_the_run_is_over(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forensics.capture.growth.LAST_LOOK_S", 60.0)
    log = tmp_path / "job.log"
    log.write_text(text.replace("nan", "1.5", 1))  # three are lost, the last one in the last line
    warnings = EarlyWarnings([(str(log), 0)])
    assert list(warnings.last()) == ["loss: NaN or infinite since step 6, 1.5 before"]
    assert warnings.said() == []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_what_a_cell_prints_is_copied_until_the_end_and_other_streams_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stream(io.StringIO):
        def set_parent(self) -> None:
            """As a stream of a kernel has it."""

    shown, plain = Stream(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setattr(sys, "stderr", plain)
    output = CellOutput(str(tmp_path / "cell.out"))
    print("step 1 loss 2.3")
    print("other", file=sys.stderr)
    output.close()
    print("later")
    assert (shown.getvalue(), plain.getvalue()) == ("step 1 loss 2.3\nlater\n", "other\n")
    assert (tmp_path / "cell.out").read_text() == "step 1 loss 2.3\n"
