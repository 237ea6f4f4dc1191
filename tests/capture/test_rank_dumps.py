"""Ranks are asked for dumps of what they called while they hang; a module stands in for PyTorch's own recorder."""

import asyncio
import multiprocessing.process
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from forensics.capture import rank_dumps
from forensics.capture.options import BUNDLE_VARIABLE
from forensics.model import Line
from forensics.readers.python.process_stacks import read_stacks


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What stands in for PyTorch's recorder; a list of what it was asked for: with lines of code or without."""
    asked: list[bool] = []

    def dump(includeCollectives: bool, includeStackTraces: bool, onlyActive: bool) -> bytes:  # noqa: N803
        assert includeCollectives and not onlyActive
        asked.append(includeStackTraces)
        return b"with lines" if includeStackTraces else b"without"

    monkeypatch.setitem(sys.modules, "torch._C._distributed_c10d", SimpleNamespace(_dump_fr_trace=dump))  # type: ignore[arg-type]
    in_group(monkeypatch, True)
    return asked


def in_group(monkeypatch: pytest.MonkeyPatch, is_initialized: bool) -> None:
    library = SimpleNamespace(is_initialized=lambda: is_initialized, get_rank=lambda: 1)
    monkeypatch.setitem(sys.modules, "torch.distributed", library)  # type: ignore[arg-type]


def test_a_rank_that_is_asked_while_it_starts_dumps_its_calls_at_its_end(
    tmp_path: Path, recorder: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dump without a call would say that it never came to one."""
    in_group(monkeypatch, False)
    held = rank_dumps.listen(str(tmp_path), {"RANK": "1"})
    assert held is not None and rank_dumps.ask_for_dumps(str(tmp_path)) == 1
    until(lambda: (tmp_path / "stacks" / "rank_1.txt").exists())
    in_group(monkeypatch, True)
    held.close(failed=True)
    assert (recorder, (tmp_path / "fr" / "rank_1").read_bytes()) == ([False, True], b"with lines")


def test_a_rank_that_is_asked_writes_its_dump(tmp_path: Path, recorder: list[bool]) -> None:
    environment = {"RANK": "3"}
    held = rank_dumps.listen(str(tmp_path), environment)
    assert held is not None
    assert environment["TORCH_FR_BUFFER_SIZE"] == "2000"
    assert rank_dumps.ask_for_dumps(str(tmp_path)) == 1
    until(lambda: len(recorder) == 2)
    until(lambda: (tmp_path / "fr" / "rank_3").read_bytes() == b"with lines")
    assert recorder == [False, True]  # at once, and then the slow one
    held.close()
    assert [p.name for p in (tmp_path / "fr").iterdir()] == ["rank_3"]
    assert not [t for t in threading.enumerate() if t.name == "forensics dumps"]


def test_a_rank_in_a_captured_job_answers_both_who_may_ask(tmp_path: Path, recorder: list[bool]) -> None:
    own, whole = tmp_path / "own", tmp_path / "whole"
    held = rank_dumps.listen(str(own), {"RANK": "2", BUNDLE_VARIABLE: str(whole)})
    assert held is not None
    for asking in (whole, own):
        assert rank_dumps.ask_for_dumps(str(asking)) == 1
    until(lambda: len(recorder) >= 2)
    until(lambda: all((folder / "fr" / "rank_2").exists() for folder in (own, whole)))
    held.close()
    assert [p.name for folder in (own, whole) for p in (folder / "fr").iterdir()] == ["rank_2", "rank_2"]


@pytest.mark.parametrize(("asked", "failed"), [(False, True), (False, False), (True, True)])
def test_a_rank_that_fails_dumps_what_it_called_unless_it_was_asked_before(
    tmp_path: Path, recorder: list[bool], asked: bool, failed: bool
) -> None:
    held = rank_dumps.listen(str(tmp_path), {"RANK": "1"})
    assert held is not None
    if asked:
        rank_dumps.ask_for_dumps(str(tmp_path))
        until(lambda: len(recorder) == 2)
    held.close(failed)
    assert len(recorder) == (2 if asked or failed else 0)
    assert (tmp_path / "fr" / "rank_1").exists() == (asked or failed)


def test_a_dump_that_takes_long_keeps_no_program_from_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that hangs may be the very reason why the program fails."""
    goes_on = threading.Event()
    monkeypatch.setattr(rank_dumps, "write_dump", lambda *_: goes_on.wait(30))
    monkeypatch.setattr(rank_dumps, "MAX_WAIT_S", 0.1)
    held = rank_dumps.listen(str(tmp_path), {"RANK": "1"})
    assert held is not None
    begin = time.monotonic()
    held.close(failed=True)
    assert time.monotonic() - begin < 10
    goes_on.set()
    until(lambda: not [t for t in threading.enumerate() if t.name == "forensics dumps"])


def test_a_bundle_that_cannot_be_written_to_leaves_the_other(tmp_path: Path, recorder: list[bool]) -> None:
    (tmp_path / "file").write_text("")
    held = rank_dumps.listen(str(tmp_path / "own"), {"RANK": "2", BUNDLE_VARIABLE: str(tmp_path / "file")})
    assert held is not None
    held.close()
    assert rank_dumps.listen(str(tmp_path / "file"), {"RANK": "2"}) is None


def test_what_the_user_set_stays(tmp_path: Path) -> None:
    environment = {"RANK": "0", "TORCH_NCCL_TRACE_BUFFER_SIZE": "0"}
    held = rank_dumps.listen(str(tmp_path), environment)
    assert held is not None
    held.close()
    assert environment == {"RANK": "0", "TORCH_NCCL_TRACE_BUFFER_SIZE": "0"}


def test_a_program_of_one_process_has_no_listener(tmp_path: Path) -> None:
    assert rank_dumps.listen(str(tmp_path), {}) is None
    assert not (tmp_path / "fr").exists()


def test_a_recorder_that_fails_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(**_: object) -> bytes:
        raise RuntimeError("no recorder")

    monkeypatch.setitem(sys.modules, "torch._C._distributed_c10d", SimpleNamespace(_dump_fr_trace=fails))  # type: ignore[arg-type]
    held = rank_dumps.listen(str(tmp_path), {"RANK": "0"})
    assert held is not None
    assert rank_dumps.ask_for_dumps(str(tmp_path)) == 1
    assert rank_dumps.ask_for_dumps(str(tmp_path)) == 1  # it still listens
    held.close()


def test_pipes_at_which_nobody_listens_are_passed_over_and_removed(tmp_path: Path) -> None:
    assert rank_dumps.ask_for_dumps(str(tmp_path)) == 0
    (tmp_path / "fr").mkdir()
    os.mkfifo(tmp_path / "fr" / "pipe_0.pipe")
    assert rank_dumps.ask_for_dumps(str(tmp_path)) == 0
    rank_dumps.remove_pipes(str(tmp_path))
    assert not list((tmp_path / "fr").iterdir())


def test_a_later_attempt_replaces_no_dump_of_the_attempt_before(tmp_path: Path, recorder: list[bool]) -> None:
    for attempt in ("0", "1"):
        held = rank_dumps.listen(str(tmp_path), {"RANK": "3", "TORCHELASTIC_RESTART_COUNT": attempt})
        assert held is not None
        assert rank_dumps.ask_for_dumps(str(tmp_path)) == 1
        name = "rank_3" if attempt == "0" else "attempt_1_rank_3"
        until((tmp_path / "fr" / name).exists)
        held.close()
    assert {p.name for p in (tmp_path / "fr").iterdir()} == {"rank_3", "attempt_1_rank_3"}


@pytest.mark.parametrize(("initialized", "names"), [(True, ["rank_2"]), (False, [])])
def test_of_a_child_of_multiprocessing_pytorch_tells_the_rank(
    tmp_path: Path, recorder: list[bool], monkeypatch: pytest.MonkeyPatch, initialized: bool, names: list[str]
) -> None:
    library: Any = SimpleNamespace(is_initialized=lambda: initialized, get_rank=lambda: 2)
    monkeypatch.delitem(sys.modules, "torch.distributed")
    assert rank_dumps.listen(str(tmp_path), {}) is None
    monkeypatch.setitem(sys.modules, "torch.distributed", library)
    monkeypatch.setattr(multiprocessing.process, "parent_process", lambda: multiprocessing.process.current_process())
    held = rank_dumps.listen(str(tmp_path), {})
    assert held is not None
    assert [p.name for p in (tmp_path / "fr").iterdir()] == [f"guard_p{os.getpid()}.pipe"]
    held.close(failed=True)
    assert [p.name for p in (tmp_path / "fr").iterdir()] == names


def test_a_rank_that_is_asked_writes_its_stacks_without_py_spy(tmp_path: Path, recorder: list[bool]) -> None:
    held = rank_dumps.listen(str(tmp_path), {"RANK": "3"})
    assert held is not None
    waits = threading.Event()
    other = threading.Thread(target=waits.wait, name="exchange")
    other.start()
    until(lambda: sys._current_frames()[other.ident or 0].f_code.co_name == "wait" and not rank_dumps._runs(other.native_id))
    rank_dumps.ask_for_dumps(str(tmp_path))
    until(lambda: len(recorder) == 2)
    waits.set()
    held.close()
    text = (tmp_path / "stacks" / "rank_3.txt").read_text()
    (one,) = read_stacks([Line(n, line) for n, line in enumerate(text.splitlines(), 1)], "rank_3.txt")
    assert (one.pid, one.rank) == (os.getpid(), 3)
    assert one.main is not None and any(frame.function.endswith("writes_its_stacks_without_py_spy") for frame in one.main.frames)
    (waiting,) = [thread for thread in one.threads if thread.name == "exchange"]
    assert waiting.state == "idle" and waiting.frames[0].function.endswith("wait")
    assert "forensics dumps" not in {thread.name for thread in one.threads}


def test_the_stacks_of_a_rank_tell_for_which_other_rank_it_waits(tmp_path: Path) -> None:
    """Its call between two ranks is that of a file with PyTorch's name."""
    calls = tmp_path / "torch" / "distributed" / "distributed_c10d.py"
    calls.parent.mkdir(parents=True)
    calls.write_text("def recv(tensor, src, go_on):\n    go_on.wait()\n")
    made: dict[str, Any] = {}
    exec(compile(calls.read_text(), str(calls), "exec"), made)
    go_on = threading.Event()
    other = threading.Thread(target=made["recv"], args=(None, 3, go_on))
    other.start()
    until(lambda: sys._current_frames()[other.ident or 0].f_code.co_name == "wait")
    rank_dumps.write_stacks([str(tmp_path)], "1", "rank_1")
    go_on.set()
    assert f"at {calls}:2: its peer is rank 3" in (tmp_path / "stacks" / "rank_1.txt").read_text()


@pytest.mark.parametrize("how", ["library", "bundle"])
def test_a_process_whose_rank_pytorch_alone_knows_is_asked_too(
    tmp_path: Path, recorder: list[bool], monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """A program that starts its ranks by itself tells none of them its number by the environment."""
    environment = {BUNDLE_VARIABLE: str(tmp_path / "whole")} if how == "bundle" else {}
    library: Any = SimpleNamespace(is_initialized=lambda: True, get_rank=lambda: 1)
    if how == "library":
        monkeypatch.setitem(sys.modules, "torch.distributed", library)
    held = rank_dumps.listen(str(tmp_path), environment)
    assert held is not None
    monkeypatch.setitem(sys.modules, "torch.distributed", library)
    rank_dumps.ask_for_dumps(str(tmp_path))
    until(lambda: len(recorder) == 2)
    held.close()
    assert (tmp_path / "fr" / "rank_1").exists()


class Marked:
    """What waits in a coroutine for a file; asking for its attributes by name would run its code."""

    def __init__(self) -> None:
        self.marker = Path("/data/part 3")

    async def arrived(self) -> None:
        while not self.marker.exists():
            await asyncio.sleep(3600)

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


def test_stacks_of_a_rank_show_what_its_coroutines_wait_for(tmp_path: Path) -> None:
    async def feed() -> None:
        await Marked().arrived()

    def look() -> None:
        time.sleep(0.2)  # until the loop waits
        rank_dumps.write_stacks([str(tmp_path)], "1", "rank_1")

    async def main() -> None:
        feeder = asyncio.create_task(feed(), name="feeder")
        await asyncio.sleep(0)
        await asyncio.to_thread(look)
        feeder.cancel()

    asyncio.run(main())
    lines = (tmp_path / "stacks" / "rank_1.txt").read_text().splitlines()
    (one,) = read_stacks([Line(n, text) for n, text in enumerate(lines, 1)], "rank_1.txt")
    found = {t.name: [f.function.rpartition(".")[2] for f in t.frames] for t in one.threads}
    assert found["asyncio task feeder"] == ["sleep", "arrived", "feed"]
    assert list(one.looks.values()) == ["/data/part 3"] and one.looks.keys() <= one.loops.keys()
    assert any(name.startswith("asyncio task Task-") and frames[0] == "to_thread" for name, frames in found.items())
