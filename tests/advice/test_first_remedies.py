"""Facts of the case choose the first remedies: what the log shows of the setting, the platform and the work."""

from pathlib import Path

import pytest

from forensics import analyze
from forensics.advice.remedies import fitting_remedies
from forensics.database import Cause
from forensics.database.entries import Remedy
from forensics.report.course import first_shown

LOAD = "MemoryError: Unable to allocate 22.4 GiB for an array with shape (3006477107, 2) and data type float32"
NO_CUDA = """\
Traceback (most recent call last):
  File "{folder}/train.py", line 9, in <module>
    model = model.cuda()
  File "{folder}/lib/python3.12/site-packages/torch/cuda/__init__.py", line 403, in _lazy_init
AssertionError: Torch not compiled with CUDA enabled
"""
NO_ANSWER = """\
Traceback (most recent call last):
  File "/srv/fit/start.py", line 12, in <module>
    {code}
{error}
"""
KILLED = "{before}\n/var/spool/job.sh: line 3:  4711 Killed                  python fit.py\n"


def first_two(folder: Path, log: str) -> list[str]:
    (folder / "job.log").write_text(log)
    found = [f"{r.action} {' '.join(r.commands)}" for r in analyze(folder).causes[0].remediations]
    return [*found, "", ""][:2]


@pytest.mark.parametrize("reads", ["x = np.load(path)", "x = numpy.load(path)['poses']", "x = np.fromfile(path, np.float32)"])
def test_a_file_that_is_read_whole_is_mapped_and_never_opened_for_writing(tmp_path: Path, reads: str) -> None:
    first, second = first_two(tmp_path, f'  File "fit.py", line 3, in <module>\n    {reads}\n{LOAD}\n')
    assert 'mode="r"' in first
    assert "w+" not in first + second


@pytest.mark.parametrize("folder", ["/Users/me/fit", "/opt/homebrew/fit"])
def test_on_a_mac_another_device_is_advised_and_no_build(tmp_path: Path, folder: str) -> None:
    assert "mps" in first_two(tmp_path, NO_CUDA.format(folder=folder))[0]


def test_elsewhere_a_build_with_code_for_gpus_is_advised(tmp_path: Path) -> None:
    assert first_two(tmp_path, NO_CUDA.format(folder="/srv/fit"))[0].startswith("Install a build")


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ('name = input("Name: ")', "EOFError: EOF when reading a line"),
        ('name = input("Name: ")', "OSError: [Errno 9] Bad file descriptor"),
        ("if input('Overwrite? ') == 'y':", "EOFError: EOF when reading a line"),
    ],
)
def test_a_question_that_nobody_can_answer_is_an_argument(tmp_path: Path, code: str, error: str) -> None:
    assert "in place of input()" in first_two(tmp_path, NO_ANSWER.format(code=code, error=error))[0]


@pytest.mark.parametrize(
    ("before", "change"),
    [
        ("Loading checkpoint shards:  60%|######    | 3/5 [00:09<00:06,  3.10s/it]", "half precision"),
        ("Generating train split: 41000 examples [00:09, 4500 examples/s]", "in pieces"),
        ("step 9000 replay buffer 812000 of 1000000", "replay buffer"),
        ("Building wheel for attention (setup.py): started", "fewer jobs"),
        ("epoch 3 loss 0.41", "a smaller batch, fewer workers"),
    ],
)
def test_the_first_remedy_of_a_killed_process_says_how_to_find_out_and_what_to_do_in_each_case(
    tmp_path: Path, before: str, change: str
) -> None:
    first = first_two(tmp_path, KILLED.format(before=before))[0]
    assert "dmesg" in first
    assert change in first
    assert "ask who or what ended it" in first


@pytest.mark.parametrize(("line", "kept"), [("losses.append(loss)", True), ("losses.append(loss.item())", False)])
def test_a_loss_that_is_kept_comes_before_the_batch(tmp_path: Path, line: str, kept: bool) -> None:
    where = f'Traceback (most recent call last):\n  File "/w/train.py", line 71, in train_step\n    {line}\n'
    first, _ = first_two(
        tmp_path, f"it 500: loss=1.84\n{where}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB.\n"
    )
    assert (line in first, "batch" in first) == (kept, not kept)


@pytest.mark.parametrize("program", ["bench-07: Test NCCL failure common.cu:891 'unhandled system error'"])
def test_a_bare_system_error_of_nccl_is_asked_for_its_reason(tmp_path: Path, program: str) -> None:
    first, _ = first_two(tmp_path, f"# nThread 1 nGpus 2 minBytes 1024\n{program}\n")
    assert "NCCL_DEBUG" in first
    assert "/dev/shm" in first


@pytest.mark.parametrize(
    ("environment", "commands"),
    [
        ({}, ("docker run --shm-size=1g IMAGE   # in a container", "kubectl get pod   # in Kubernetes", "df -h /dev/shm")),
        ({"container": {"docker"}}, ("docker run --shm-size=1g IMAGE", "df -h /dev/shm")),
        ({"container": {"podman"}}, ("df -h /dev/shm",)),
        ({"scheduler": {"kubernetes"}}, ("kubectl get pod", "df -h /dev/shm")),
        ({"cloud": {"colab"}}, ("df -h /dev/shm",)),
    ],
    ids=["nothing known", "docker", "podman", "kubernetes", "colab"],
)
def test_forms_for_each_setting_that_is_not_excluded_are_told(
    environment: dict[str, set[str]], commands: tuple[str, ...]
) -> None:
    given = ("docker run --shm-size=1g IMAGE", "kubectl get pod", "df -h /dev/shm")
    more = Remedy(do="Give it more", who="user", why="", commands=given)
    cause = Cause(id="process.x", title="", means="", signatures=(), remedies=(more,))
    assert fitting_remedies(cause, {}, environment)[0].commands == commands


FAILED_BEFORE = """\
Traceback (most recent call last):
  File "/srv/fit/train.py", line 88, in <module>
    main(args)
RuntimeError: Error(s) in loading state_dict for Net:
\tsize mismatch for head.weight: copying a param with shape torch.Size([10, 4]) from checkpoint, the shape in current model is torch.Size([9, 4]).
usage: train.py [-h] [--lr LR] [--epochs EPOCHS]
train.py: error: {refused}
"""


@pytest.mark.parametrize(
    ("refused", "change"),
    [
        ("argument --epochs: invalid int value: '3.5'", "Give --epochs a value of type int"),
        ("the following arguments are required: --data", "Give the program --data"),
        ("argument --epochs: expected one argument", "Give --epochs its value"),
    ],
)
def test_an_argument_that_is_refused_below_an_earlier_failure_is_what_to_change(
    tmp_path: Path, refused: str, change: str
) -> None:
    assert first_two(tmp_path, FAILED_BEFORE.format(refused=refused))[0].startswith(change)


@pytest.mark.parametrize(
    ("before", "first"), [("2.3 grad_norm 1.1", "Look at what the model was given"), ("2.3 grad_norm 80", "Lower")]
)
def test_numbers_that_were_usual_until_they_were_lost_point_to_the_data(tmp_path: Path, before: str, first: str) -> None:
    rows = [f"step {i} loss 2.{i % 4} grad_norm 1.{i % 3}" for i in range(20)]
    lost = [f"step {i} loss nan grad_norm nan" for i in range(21, 40)]
    (tmp_path / "job.log").write_text(
        "\n".join(f"2026-11-30 10:00:{n:02d} {row}" for n, row in enumerate([*rows, f"step 20 loss {before}", *lost]))
    )
    report = analyze(tmp_path)
    assert report.causes[0].remediations[0].action.startswith(first)
    assert first_shown(report) == "2026-11-30 10:00:21"
