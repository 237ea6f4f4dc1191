"""What a line is - source, message, teardown, footer, label - decides what is read of it, over all producers."""

from collections.abc import Callable

import pytest

from forensics.line_formats import unlabelled
from forensics.model import Line, Observation, Proof
from forensics.readers import read as read_records
from forensics.readers.base import parse_lines
from forensics.readers.kernel import dump
from forensics.readers.python import syntax_error
from forensics.readers.python.own_words import own_words
from forensics.readers.python.quoted_source import list_end, message_end, quoted_parts
from forensics.scan import scan
from tests.conftest import text_source
from tests.readers.regions import regions


@pytest.fixture
def events(knowledge: object) -> Callable[[str], list[Observation]]:
    return lambda text: read_records(scan(text_source("log", text), knowledge, lambda _w: None), knowledge)  # type: ignore[arg-type]


def lines(text: str) -> list[Line]:
    return [Line(i, row) for i, row in enumerate(text.splitlines(), 1)]


IPYTHON = """\
     30     if os.getpid() != parent:
     31         raise RuntimeError("CUDA out of memory")
---> 32     return net.to(target)
     33
"""
WITH_GAP = """\
    101     try:
    102         raise OSError("No space left on device")
   (...)
    110     finally:
--> 111         run(x)
"""
RICH = """\
│   30 │   if broken:                    │
│   31 │   │   raise MemoryError("x")     │
│ ❱ 32 │   return run()                  │
"""
PYTEST = """\
    def test_fit():
        raise_if("CUDA out of memory")
>       assert fit() == 3
E       assert 2 == 3
"""


@pytest.mark.parametrize("text", [IPYTHON, WITH_GAP, RICH, PYTEST])
@pytest.mark.parametrize("label", ["", "trainer-1  | ", "0: "])
def test_code_that_did_not_run_is_source(text: str, label: str) -> None:
    rows = lines("\n".join(label + row for row in text.splitlines()))
    ran = next(row for row in rows if any(mark in row.text for mark in ("--> ", "❱", ">       assert")))
    near = {row.number: unlabelled(row.text) for row in rows}
    assert quoted_parts(rows[1], near) == [(0, len(rows[1].text))]
    assert quoted_parts(ran, near) == []


@pytest.mark.parametrize(
    "text",
    [
        "   31  epoch  loss\n   32  CUDA out of memory\n   33  0.2",  # a table without a mark
        "step 30\n---> 32 retry\n   40 CUDA out of memory",  # numbers that do not follow each other
        "    a list of reasons:\n    CUDA out of memory\n\ndone",
    ],
)
def test_other_numbered_or_indented_lines_are_no_source(text: str) -> None:
    rows = lines(text)
    assert not any(quoted_parts(row, {row.number: row.text for row in rows}) for row in rows)


def test_a_message_that_is_quoted_and_printed_stays_where_it_is_printed(
    events: Callable[[str], list[Observation]],
) -> None:
    text = "RuntimeError      Traceback (most recent call last)\nCell In[2], line 32\n" + IPYTHON
    assert not [e for e in events(text + "\nRuntimeError: other") if e.cause == "gpu_memory.capacity"]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("ValueError: names\nunseen:\n- rain\n- sun\nmissing:\n- wind\nstep 4", 6),
        ("RuntimeError: keys\n\tMissing: a\n\tUnexpected: b\n\n- no item", 3),
        ("ValueError: 2 errors\n1. too long\n2. too short\nnext", 3),
        ("KeyError: 'a'\nstep 4\n- loss", 1),
    ],
)
def test_a_list_belongs_to_its_message(text: str, last: int) -> None:
    assert list_end(parse_lines(lines(text)), 0) == last


def test_a_framed_text_belongs_to_its_message() -> None:
    rule = "*" * 40
    rows = parse_lines(lines(f"LookupError: \n{rule}\n  Resource x not found.\n\n  Searched in:\n{rule}\nnext"))
    assert message_end(rows, 0) == 6
    assert message_end(parse_lines(lines(f"LookupError: a\n{rule}\nother\n\nmore")), 0) == 1


@pytest.mark.parametrize(
    "head",
    [
        'Traceback (most recent call last):\n  File "/usr/lib/python3.12/multiprocessing/util.py", line 303, in _run_finalizers\n',
        'Error in atexit._run_exitfuncs:\nTraceback (most recent call last):\n  File "/home/u/a.py", line 3, in clean\n',
        'Exception ignored on threading shutdown:\nTraceback (most recent call last):\n  File "/home/u/a.py", line 3, in f\n',
        'Traceback (most recent call last):\n  File "/home/u/a.py", line 9, in __del__\n',
    ],
)
@pytest.mark.parametrize("label", ["", "2: [rank2]: "])
def test_clean_up_at_the_exit_proves_nothing(events: Callable[[str], list[Observation]], head: str, label: str) -> None:
    text = head + "ValueError: it is gone\n"
    found = events("".join(label + row + "\n" for row in text.splitlines()))
    assert [e.kind for e in found if e.kind.startswith("traceback")] == ["traceback/ignored"]
    assert not [e for e in found if e.cause == "code.exception" and e.weight != "hint"]


def test_an_exception_raised_in_clean_up_code_of_the_program_itself_is_one(
    events: Callable[[str], list[Observation]],
) -> None:
    text = 'Traceback (most recent call last):\n  File "/home/u/a.py", line 3, in main\n  File "/x/util.py", line 3, in __del__\n'
    (event,) = [e for e in events(text + "StrangeError: it failed\n") if e.kind == "traceback"]
    assert event.cause == "code.exception"


@pytest.mark.parametrize(
    "text",
    [
        "  Cell In[3], line 1\n    import ./x as y\n           ^\nSyntaxError: invalid syntax\n",
        "  File \"/home/u/fit.py\", line 1\n    def f(\n         ^\nSyntaxError: '(' was never closed\n",
        "  Input In [3]\n    x = = 1\n        ^\nIndentationError: unexpected indent\n",
        "  File <ipython-input-3-5c1f0a2b7d40>, line 1\n    x = = 1\n        ^\nTabError: inconsistent use\n",
    ],
)
def test_a_syntax_error_needs_no_traceback(text: str) -> None:
    (region,) = regions(text, syntax_error.TRIGGER)
    record = syntax_error.read(region)
    assert record is not None
    assert record.outcome == "refused"
    assert record.fields["file"] in ("Cell In[3]", "Cell In [3]", "/home/u/fit.py")


def test_a_syntax_error_in_a_traceback_or_in_a_sentence_is_not_read_again() -> None:
    told = 'Traceback (most recent call last):\n  File "a.py", line 1\n    x = = 1\n        ^\nSyntaxError: invalid\n'
    assert [syntax_error.read(r) for r in regions(told, syntax_error.TRIGGER)] == [None]
    assert [syntax_error.read(r) for r in regions("it raised\nSyntaxError: x\n", syntax_error.TRIGGER)] == [None]


@pytest.mark.parametrize(
    "name", ["JAX_TRACEBACK_FILTERING=off", "HYDRA_FULL_ERROR=1", "CUDA_LAUNCH_BLOCKING=1", "RUST_BACKTRACE=1"]
)
def test_a_footer_of_a_library_asks_for_nothing(name: str) -> None:
    text = f"ValueError: no. Set {name} to see all of it."
    proof = Proof("log", 1, text, "x", "strong")
    assert "asked" not in own_words({"exc_message": text.partition(": ")[2]}, [proof])


def test_an_exception_of_a_callback_is_the_innermost_one(events: Callable[[str], list[Observation]]) -> None:
    text = (
        "Traceback (most recent call last):\nlib.XlaError: INTERNAL: Callback error: Traceback (most recent call last):\n"
        '  File "/home/u/cb.py", line 3, in f\nStrangeError: it failed\n'
    )
    (event,) = [e for e in events(text) if e.kind == "traceback"][:1]
    assert event.fields["exc_message"] == "StrangeError: it failed"
    assert event.fields["file"] == "/home/u/cb.py"


@pytest.mark.parametrize(
    ("head", "fields"),
    [
        ("rcu: INFO: rcu_sched self-detected stall on CPU", {"cpu": 41, "pid": 8812, "task": "ruleload"}),
        ("BUG: unable to handle page fault for address: 0", {"cpu": 41, "pid": 8812, "task": "ruleload"}),
        ("watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [fit:412]", {"cpu": 41}),
        ("fit invoked oom-killer: gfp_mask=0x201da", None),
        ("WARNING: CPU: 41 PID: 8812 at kernel/x.c:3", None),
    ],
)
@pytest.mark.parametrize(
    "label", ["[ 4210.1] ".replace("4210.1", "4210.252462"), "<4>[ 4210.252462] ", "kern  :err   : [ 4210.252462] "]
)
def test_the_dump_of_a_report_names_its_task(head: str, fields: dict[str, object] | None, label: str) -> None:
    text = f"{head}\nCPU: 41 PID: 8812 Comm: ruleload Kdump: loaded Tainted: G\nCall Trace:"
    (region,) = regions("\n".join(label + row for row in text.splitlines()), dump.TRIGGER)
    record = dump.read(region)
    assert (record and record.fields) == fields


@pytest.mark.parametrize(
    "label",
    [
        "trainer-1  | ",
        "0: ",
        " 12: ",
        "<6>",
        "kern  :info  : ",
        "[0]: ",
        "[1,0]<stderr>:",
        "[pod/train-0/main] ",
        "[rank3]: ",
        "node07: ",
    ],
)
@pytest.mark.parametrize("text", ["Killed", "[ 4210.252462] text", "RuntimeError: x"])
def test_a_label_is_no_part_of_what_the_program_wrote(label: str, text: str) -> None:
    assert unlabelled(label + text) == text


@pytest.mark.parametrize(
    "text",
    ["3: 4", "2026-08-22 03:00:07,123 x", "2026-08-22 03:00:07 INFO x", "loss: 0.3", "CUDA: no", "a | b", "[3] x", "<html>"],
)
def test_other_beginnings_are_no_labels(text: str) -> None:
    assert unlabelled(text) == text
