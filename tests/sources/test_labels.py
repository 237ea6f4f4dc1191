"""What a launcher or a collector writes in front of every line is taken away once, and remembered; several labels stay."""

import pytest

from forensics.line_formats.common_label import label_prefix
from tests.conftest import text_source
from tests.sources.helpers import read_bytes

PROGRAM = ["step 1 loss 0.5", "", "Traceback (most recent call last):", '  File "/w/train.py", line 3, in main', "KeyError: 'lr'"]


def labelled(label: str, lines: list[str] = PROGRAM) -> bytes:
    return "".join(f"{label}{line}".rstrip() + "\n" for line in lines).encode()


@pytest.mark.parametrize(
    "label",
    ["trainer-1  | ", "[pod/train-0/main] ", "[0]:", "0: ", " 3: ", "<6>", "kern  :err   : ", "[1,0]<stderr>:", "node07: "],
)
def test_the_label_of_all_lines_goes(label: str) -> None:
    assert read_bytes(labelled(label)).lines == PROGRAM


def test_labels_in_front_of_each_other_go() -> None:
    assert read_bytes(labelled("[pod/train-0/main] 0: ")).lines == PROGRAM


def test_a_level_may_differ_from_line_to_line() -> None:
    text = "".join(f"<{3 + n % 2}>{line}\n" for n, line in enumerate(PROGRAM)).encode()
    assert read_bytes(text).lines == PROGRAM


def test_the_level_of_a_single_line_goes_and_a_kernels_stays() -> None:
    assert read_bytes(b"<3>KeyError: 'lr'\n").lines == ["KeyError: 'lr'"]
    assert read_bytes(b"<3>Out of memory: Killed process 4242 (python3)\n").lines == [
        "<3>Out of memory: Killed process 4242 (python3)"
    ]


def test_several_labels_stay() -> None:
    text = labelled("0: ") + labelled("1: ")
    assert read_bytes(text).lines == text.decode().splitlines()


def test_a_kernels_levels_stay() -> None:
    text = labelled("<4>", ["usb 1-1: new device", "CPU: 0 PID: 12 Comm: python3", "Call Trace:", " dump_stack+0x1/0x2"])
    assert read_bytes(text).lines == text.decode().splitlines()


@pytest.mark.parametrize("text", ["0: a\n0: b\n", "1: a\n2: b\n3: c\n4: d\n", "[rank0]: a\n[rank0]: b\n[rank0]: c\n"])
def test_what_is_no_label_of_a_launcher_stays(text: str) -> None:
    assert read_bytes(text.encode()).lines == text.splitlines()


def test_a_label_that_stands_only_before_a_number_is_not_cut_out_of_it() -> None:
    text = "node07: a\nnode07: b\nnode07: c\nnode07:225140:225355 [0] NCCL INFO x\nnode07: d\n" + "node07: e\n" * 9
    assert "node07:225140:225355 [0] NCCL INFO x" in read_bytes(text.encode()).lines


def test_the_journal_of_one_process_keeps_its_times_only() -> None:
    who = "gpu-7 train.sh[4711]: "
    lines = [f"May 04 10:29:5{n} {who}{line}" for n, line in enumerate(PROGRAM)]
    text = "\n".join([*lines, "May 04 10:30:00 gpu-7 systemd[1]: train.service: Failed with result 'exit-code'."]) + "\n"
    read = read_bytes(text.encode()).lines
    assert read[0] == "May 04 10:29:50 | step 1 loss 0.5"
    assert read[-1].startswith("May 04 10:30:00 gpu-7 systemd[1]: ")
    other = text.replace("train.sh[4711]: KeyError", "eval.sh[4712]: KeyError")
    assert read_bytes(other.encode()).lines == other.splitlines()


@pytest.mark.parametrize("who", ["gpu-7 train[4711]: ", "gpu-7 train: "])
def test_what_the_interpreter_prints_itself_has_no_label(who: str) -> None:
    steps = [f"step {n} loss 0.{n}" for n in range(1, 4)]
    for level in ("", "<14>"):
        text = "".join(f"{level}May 04 10:29:5{n} {who}{line}\n" for n, line in enumerate(steps))
        read = read_bytes((text + "\n".join(PROGRAM[2:]) + "\n").encode()).lines
        assert read == [*(f"May 04 10:29:5{n} | {line}" for n, line in enumerate(steps)), *PROGRAM[2:]]


def test_a_daemon_that_writes_a_traceback_keeps_its_name() -> None:
    text = "".join(f"May 04 10:29:5{n} gpu-7 collectd[811]: {line}\n" for n, line in enumerate(PROGRAM)) + "KeyError: 'lr'\n"
    assert read_bytes(text.encode()).lines == text.splitlines()


def test_a_label_tells_whose_the_lines_are() -> None:
    assert label_prefix("3: ").rank == 3
    assert label_prefix("[pod/train-0/main] ").host == "train-0"
    assert label_prefix("May 04 10:29:50 gpu-7 train.sh[4711]: ").pid == 4711
    assert label_prefix("").host is None
    assert text_source("a.log", "x").label == ""
