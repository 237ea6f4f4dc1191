"""Python's dump at a fatal signal and of a run that hangs. The dumps are made for these tests in the layout of faulthandler.c."""

import pytest

from forensics.readers.base import Record
from forensics.readers.python import faulthandler
from tests.readers.regions import proven, regions

LIBRARY = "/opt/venv/lib/python3.11/site-packages/cv2/__init__.py"
DUMP = f"""{{head}}

Thread 0x00007f3e0a7fe640 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 324 in wait
  File "/usr/lib/python3.11/threading.py", line 622 in wait

Current thread 0x00007f3e2b7fe640 [train] (most recent call first):
  File "{LIBRARY}", line 12 in resize
  File "/home/u/train.py", line 88 in load
  File "/home/u/train.py", line 140 in <module>

Extension modules: numpy.core._multiarray_umath, cv2 (total: 2)"""


def only(text: str) -> Record | None:
    (region,) = regions(text, faulthandler.TRIGGER)
    return proven(faulthandler.read(region))


@pytest.mark.parametrize(
    ("head", "cause", "weight"),
    [
        ("Fatal Python error: Segmentation fault", "process.segfault", "proof"),
        ("Windows fatal exception: access violation", "process.segfault", "proof"),
        ("Fatal Python error: Aborted", "process.abort", "strong"),
        ("Fatal Python error: Bus error", "process.bus_error", "strong"),
        ("Fatal Python error: Illegal instruction", "process.illegal_instruction", "proof"),
        ("Fatal Python error: Floating-point exception", "process.abort", "strong"),
    ],
)
def test_the_signal_names_the_cause_and_the_current_thread_the_own_frame(head: str, cause: str, weight: str) -> None:
    record = only(DUMP.format(head=head))
    assert record is not None
    assert (record.cause, record.weight, record.decides) == (cause, weight, (cause,))
    frame = {k: record.fields[f"python_{k}"] for k in ("file", "line", "function")}
    assert frame == {"file": "/home/u/train.py", "line": 88, "function": "load"}
    assert (record.first, record.last) == (1, 10)
    assert record.quote[1].number == 9


def test_frames_of_other_threads_are_not_taken_for_the_place_of_the_fault() -> None:
    cut = DUMP.format(head="Fatal Python error: Segmentation fault").split("\n\nCurrent")[0]
    record = only(cut)
    assert record is not None
    assert "python_file" not in record.fields


def test_where_a_thread_without_python_aborts_the_main_thread_tells_where_the_program_was() -> None:
    """gloo ends a process so in a thread of its own. The main thread comes last."""
    head, *_ = DUMP.format(head="Fatal Python error: Aborted").split("\n\nCurrent")
    main = 'Thread 0x00007fc7ea7bcb80 (most recent call first):\n  File "/home/u/train.py", line 83 in <module>'
    record = only(f"{head}\n\n{main}\n\nExtension modules: numpy")
    assert record is not None
    assert (record.fields["python_file"], record.fields["python_line"]) == ("/home/u/train.py", 83)
    crashed = only(f"{head}\n\n{main}\n".replace("Aborted", "Segmentation fault"))
    assert crashed is not None and "python_file" not in crashed.fields


def test_a_dump_after_a_time_is_a_run_that_hangs_at_its_main_thread() -> None:
    text = (
        "Timeout (0:10:00)!\nThread 0x00007f3e0a7fe640 (most recent call first):\n"
        '  File "/usr/lib/python3.11/threading.py", line 324 in wait\n\n'
        'Thread 0x00007f3e2b7fe640 (most recent call first):\n  File "/home/u/train.py", line 30 in main\n'
    )
    record = only(text)
    assert record is not None
    assert (record.cause, record.fields["timeout_s"]) == ("process.stalled", 600)
    assert record.fields["python_line"] == 30


def test_a_fatal_error_that_is_no_signal_only_lends_its_frame() -> None:
    record = only(DUMP.format(head="Fatal Python error: deallocating None"))
    assert record is not None
    assert (record.cause, record.lends) == (None, True)
    assert record.fields["python_function"] == "load"


def test_py_spy_lends_the_main_threads_frame() -> None:
    text = (
        "Process 4711: python train.py\nPython v3.10.2 (/usr/bin/python3.10)\n\n"
        'Thread 4711 (idle): "MainThread"\n    wait (threading.py:302)\n    main (train.py:30)\n    <module> (train.py:44)\n'
    )
    record = only(text)
    assert record is not None
    assert (record.cause, record.lends, record.fields["python_line"]) == (None, True, 30)


@pytest.mark.parametrize(
    ("frames", "line"),
    [
        ("put (queue.py:140)|save (store.py:12)|main (train.py:30)", 12),
        ("recv (torch/distributed/distributed_c10d.py:2799)|exchange (/run/ring.py:24)|main (/run/ring.py:54)", 24),
        ("recv (torch/distributed/distributed_c10d.py:2799)|        Arguments:|            src: 3|exchange (ring.py:24)", 24),
        ("read (pack/io.py:7)|main (pack/cli.py:30)|<module> (/venv/bin/pack:5)", 30),  # pack may be a library
    ],
)
def test_of_the_main_thread_the_innermost_line_of_the_program_counts(frames: str, line: int) -> None:
    text = "".join(f"{'' if frame.startswith(' ') else '    '}{frame}\n" for frame in frames.split("|"))
    record = only(
        f'Process 4711: python train.py\nPython v3.10.2 (/usr/bin/python3.10)\n\nThread 4711 (idle): "MainThread"\n{text}'
    )
    assert record is not None and record.fields["python_line"] == line


def test_words_elsewhere_are_no_dump() -> None:
    assert (
        only("we saw Fatal Python error: Segmentation fault in the log, said the operator yesterday, and again on " + "x" * 200)
        is None
    )
    assert only("Timeout (0:10 h) while waiting") is None


def test_the_only_native_module_is_named() -> None:
    head = DUMP.format(head="Fatal Python error: Segmentation fault")
    for modules, named in (
        ("fastaug (total: 1)", "fastaug"),
        ("numpy.core._multiarray_umath, numpy.random.mtrand (total: 2)", None),
    ):
        found = only(head.rpartition("Extension modules: ")[0] + f"Extension modules: {modules}")
        assert found is not None
        assert found.fields.get("extension") == named
