"""Who holds the lock: dumps that faulthandler (Python 3.11) and py-spy 0.4 wrote of programs that hung; folders are renamed."""

from pathlib import Path

import pytest

from forensics import analyze
from forensics.model import Advice
from tests.readers.python.test_interrupted_wait import PROGRAM

CROSSED = """\
Timeout (0:00:15)!
Thread 0x00007fdc152a46c0 (most recent call first):
  File "/home/user/run/train.py", line 19 in report
  File "/home/user/python/lib/python3.11/threading.py", line 982 in run
  File "/home/user/python/lib/python3.11/threading.py", line 1045 in _bootstrap_inner
  File "/home/user/python/lib/python3.11/threading.py", line 1002 in _bootstrap

Thread 0x00007fdc165f8b80 (most recent call first):
  File "/home/user/run/train.py", line 11 in update
  File "/home/user/run/train.py", line 27 in <module>
exit status 1
"""
SPY = """\
Process 9570: /home/user/venv/bin/python train.py
Python v3.11.7 (/home/user/python/bin/python3.11)

Thread 9570 (idle): "MainThread"
    update (train.py:11)
    <module> (train.py:27)
Thread 9580 (idle): "Thread-1 (report)"
    report (train.py:19)
    Thread.run (threading.py:982)
    Thread._bootstrap_inner (threading.py:1045)
    Thread._bootstrap (threading.py:1002)
"""
HELD = """\
step 0
Timeout (0:00:04)!
Thread 0x00007fb32ffff6c0 (most recent call first):
  File "/home/user/python/lib/python3.11/threading.py", line 327 in wait
  File "/home/user/python/lib/python3.11/queue.py", line 171 in get
  File "/home/user/run/train.py", line 11 in fill
  File "/home/user/python/lib/python3.11/threading.py", line 982 in run

Thread 0x00007fb33587fb80 (most recent call first):
  File "/home/user/run/train.py", line 20 in main
  File "/home/user/run/train.py", line 25 in <module>
exit status 1
"""
FILLER = """\
import faulthandler
import queue
import threading

cache_lock = threading.Lock()
answers = queue.Queue()


def fill():
    with cache_lock:
        answers.get()


def main():
    faulthandler.dump_traceback_later(4, exit=True)
    loader = threading.Thread(target=fill, daemon=True)
    loader.start()
    for step in range(3):
        print("step", step, flush=True)
    with cache_lock:
        answers.put(1)


if __name__ == "__main__":
    main()
"""


def first(folder: Path, log: str, program: str) -> Advice:
    (folder / "job.log").write_text(log)
    (folder / "train.py").write_text(program)
    finding = analyze(folder).causes[0]
    assert finding.id == "process.stalled"
    return finding.remediations[0]


@pytest.mark.parametrize("dump", [CROSSED, SPY])
def test_two_threads_that_wait_for_each_other_are_named_with_their_locks(tmp_path: Path, dump: str) -> None:
    found = first(tmp_path, dump, PROGRAM)
    assert "stats_lock" in found.action
    assert "weights_lock" in found.action
    assert "report at train.py:19 holds stats_lock and waits for weights_lock" in found.why
    assert "update at train.py:11 holds weights_lock and waits for stats_lock" in found.why


def test_the_holder_of_a_lock_is_the_one_to_look_at(tmp_path: Path) -> None:
    found = first(tmp_path, HELD, FILLER)
    assert found.action == "Find out why the thread at train.py:11 does not give cache_lock back"
    assert "fill at train.py:11 holds cache_lock, and main at train.py:20 waits for cache_lock" in found.why


def test_without_the_program_no_holder_is_told(tmp_path: Path) -> None:
    assert "cache_lock" not in first(tmp_path, HELD, "import threading\n").action
