"""What two runs print of themselves is compared: arguments, versions, commit, paths of data and the pace of a step."""

import re
from pathlib import Path

import pytest

from tests.commandline import forensics, in_text


def run(folder: Path, name: str, batch: int, data: str, torch: str, commit: str, pace: str) -> Path:
    steps = "".join(f"epoch {n // 10} step {n * 10} loss {2 - n / 30:.4f} {pace}\n" for n in range(30))
    path = folder / name
    path.write_text(f"Namespace(lr=0.1, batch_size={batch}, data='{data}', epochs=3)\ntorch {torch}, commit {commit}\n{steps}")
    return path


def told(folder: Path, pace: str) -> str:
    good = run(folder, "good.log", 64, "/data/v1", "2.12.0", "3f2a91c", "0.31s/it")
    bad = run(folder, "bad.log", 128, "/data/v2", "2.13.0", "9b1c0de", pace)
    return forensics("compare", str(good), str(bad)).stdout.decode()


def test_what_differs_is_told(tmp_path: Path) -> None:
    text = told(tmp_path, "0.52s/it")
    for name, old, new in (
        ("--batch-size", "64", "128"),
        ("--data", "/data/v1", "/data/v2"),
        ("PyTorch", "2.12.0", "2.13.0"),
        ("commit", "3f2a91c", "9b1c0de"),
        ("seconds a step", "0.31 s", "0.52 s"),
    ):
        assert any(line.split() == f"{name} {old} -> {new}".split() for line in text.replace("different", "").splitlines()), name


def test_a_pace_that_is_nearly_the_same_and_in_another_unit_is_no_difference(tmp_path: Path) -> None:
    assert "seconds a step" not in told(tmp_path, "3.1it/s")


def numbers(folder: Path, name: str, loss: float, used: str, seconds: float, more: str = "") -> Path:
    """A run of 40 steps whose loss is multiplied by `loss` from step 300 on."""
    rows = []
    for n in range(40):
        at = f"2026-11-21 10:{int(n * seconds * 10) // 60:02}:{int(n * seconds * 10) % 60:02}"
        value = (3 - n / 20) * (loss if n >= 30 else 1)
        rows.append(f"{at} INFO step {n * 10} loss {value:.4f} gpu mem {used} GiB{more}\n")
    path = folder / name
    path.write_text("".join(rows))
    return path


def test_the_step_where_two_losses_part_the_time_of_a_step_and_the_memory_are_told(tmp_path: Path) -> None:
    good, bad = numbers(tmp_path, "good.log", 1.0, "40.1", 1.0), numbers(tmp_path, "bad.log", 4.0, "60.2", 2.0)
    text = forensics("compare", str(good), str(bad)).stdout.decode()
    assert re.search(r"loss from step 300 on +1\.5 -> 6\n", text), text
    assert re.search(r"seconds a step +1 -> 2\n", text), text
    assert re.search(r"mem, at most +40\.1 GiB -> 60\.2 GiB\n", text), text


def test_numbers_that_are_nearly_the_same_are_no_difference(tmp_path: Path) -> None:
    good, bad = numbers(tmp_path, "good.log", 1.0, "40.1", 1.0), numbers(tmp_path, "bad.log", 1.02, "40.4", 1.1)
    text = forensics("compare", str(good), str(bad)).stdout.decode()
    assert not re.search("from step|seconds a step|at most", text), text


@pytest.mark.parametrize("label", ["tokens/s", "tokens_per_s"])
def test_a_rate_that_both_print_is_compared(label: str, tmp_path: Path) -> None:
    good = numbers(tmp_path, "good.log", 1.0, "40.1", 1.0, f" {label} 41000")
    bad = numbers(tmp_path, "bad.log", 1.0, "40.1", 2.0, f" {label} 21000")
    assert re.search(r"tokens/s +41,000 -> 21,000\n", in_text("compare", good, bad).stdout)


def test_the_learning_rate_of_each_line_is_compared_and_the_step_from_which_the_losses_part(tmp_path: Path) -> None:
    """Also where the message of the end names its step once more."""
    good, bad, late = (tmp_path / f"{name}.log" for name in ("good", "bad", "late"))
    good.write_text("".join(f"step {n} loss {2.4 - n / 30:.4f} lr 0.001\n" for n in range(30)))
    lines = "".join(f"step {n} loss {2.4 - n / 30 if n < 5 else 4.0**n:.4f} lr 0.9\n" for n in range(10))
    bad.write_text(lines + "FloatingPointError: loss 2.6e+05 is above the limit at step 9\n")
    text = in_text("compare", good, bad).stdout
    assert re.search(r"learning rate +0.001 -> 0.9\n", text) and re.search(r"loss from step 5 on +2.233 -> 1024\n", text), text
    late.write_text("".join(f"step {n} loss {2.4 - n / 30:.4f} lr {0.001 if n < 20 else 0.1}\n" for n in range(30)))
    assert re.search(r"learning rate from step 20 on +0.001 -> 0.1\n", in_text("compare", good, late).stdout)
