"""Ctrl-C on programs that waited, as Python 3.11 printed it; folders are renamed."""

from pathlib import Path

import pytest

from forensics import analyze
from forensics.model import Value
from forensics.readers.base import Record
from forensics.readers.python.interrupted_wait import TRIGGER, join, read
from tests.readers.regions import proven, regions

LOCK = """\
Traceback (most recent call last):
  File "/home/user/run/train.py", line 27, in <module>
    update(step)
  File "/home/user/run/train.py", line 11, in update
    with stats_lock:
KeyboardInterrupt
"""
MAIN = """\
Traceback (most recent call last):
  File "/home/user/run/train.py", line 19, in <module>
    print("done", *done.get(), flush=True)
                   ^^^^^^^^^^
  File "/home/user/python/lib/python3.11/multiprocessing/queues.py", line 103, in get
    res = self._recv_bytes()
          ^^^^^^^^^^^^^^^^^^
  File "/home/user/python/lib/python3.11/multiprocessing/connection.py", line 395, in _recv
    chunk = read(handle, remaining)
            ^^^^^^^^^^^^^^^^^^^^^^^
KeyboardInterrupt
"""
WORKER = """\
Process ForkProcess-1:
Traceback (most recent call last):
  File "/home/user/run/train.py", line 6, in work
    item = todo.get()
           ^^^^^^^^^^
  File "/home/user/python/lib/python3.11/multiprocessing/queues.py", line 102, in get
    with self._rlock:
  File "/home/user/python/lib/python3.11/multiprocessing/synchronize.py", line 95, in __enter__
    return self._semlock.__enter__()
           ^^^^^^^^^^^^^^^^^^^^^^^^^
KeyboardInterrupt
"""
AT_WORK = """\
Traceback (most recent call last):
  File "/home/user/run/train.py", line 31, in <module>
    loss = step(batch)
KeyboardInterrupt
"""
PROGRAM = """\
import threading
import time

weights_lock = threading.Lock()
stats_lock = threading.Lock()


def update(step):
    with weights_lock:
        time.sleep(0.05)
        with stats_lock:
            print("step", step, flush=True)


def report():
    while True:
        with stats_lock:
            time.sleep(0.05)
            with weights_lock:
                pass
        time.sleep(0.2)


if __name__ == "__main__":
    threading.Thread(target=report, daemon=True).start()
    for step in range(1000):
        update(step)
"""


def only(text: str) -> Record:
    (region,) = regions(text, TRIGGER)
    found = proven(read(region))
    assert found is not None
    return found


def test_a_lock_that_the_programs_own_line_takes_is_named() -> None:
    found = only(LOCK)
    assert (found.cause, found.weight) == ("process.stalled", "strong")
    expected: dict[str, Value] = {"awaited_lock": "stats_lock", "python_line": 11, "python_function": "update"}
    assert expected.items() <= found.fields.items()


@pytest.mark.parametrize(
    ("texts", "weights"), [((MAIN,), ["hint"]), ((MAIN, WORKER), ["strong", "strong"]), ((MAIN, AT_WORK), ["hint"])]
)
def test_one_wait_is_a_hint_and_nothing_but_waits_is_more(texts: tuple[str, ...], weights: list[str]) -> None:
    assert [r.weight for r in join([only(text) for text in texts])] == weights


def test_a_program_at_work_was_not_waiting() -> None:
    found = only(AT_WORK)
    assert found.cause is None
    assert not join([found])


def test_the_lock_that_was_waited_for_is_told(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(LOCK + "exit status 130\n")
    (tmp_path / "train.py").write_text(PROGRAM)
    first = analyze(tmp_path).causes[0]
    assert first.id == "process.stalled"
    assert "stats_lock at /home/user/run/train.py:11" in first.summary
