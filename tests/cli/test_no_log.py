"""A program, or what lies beside one, is no log: it is said, and its messages are nobody's failure."""

from pathlib import Path

import pytest

from tests.commandline import forensics

PROGRAM = """\
import torch

def main():
    try:
        step()
    except RuntimeError:
        print("step 1 loss 0.5")
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")

main()
"""
SCRIPT = '#!/bin/bash\n#SBATCH --mem=1G\nset -e\npython train.py || echo "Killed"\n'
PRINTED = "step 1 loss 2.0\nTraceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    x = d['a']\nKeyError: 'a'\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("train.py", PROGRAM),
        ("job.sbatch", SCRIPT),
        ("README.md", "# Kiln\n\nStart it by hand.\n"),
        ("requirements.txt", "torch==2.3\n"),
    ],
)
def test_what_is_no_log_is_refused_with_what_to_give(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    done = forensics(str(tmp_path))
    assert done.returncode == 2
    assert b"no log, but a program or what belongs to one; give what it printed" in done.stderr
    assert name.encode() in done.stderr


def test_beside_a_log_a_program_is_read_for_its_settings_and_not_for_its_messages(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "job.sh").write_text(SCRIPT)
    (tmp_path / "out.log").write_text("step 1 loss 2.0\nstep 2 loss 1.9\nstep 3 loss 1.8\n")
    told = forensics(str(tmp_path)).stdout.decode()
    assert "out.log breaks off" in told
    assert "out of memory" not in told


@pytest.mark.parametrize("name", ["train.py", "job.sh", "README.md"])
def test_what_a_run_printed_is_a_log_whatever_its_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(PRINTED)
    assert b"KeyError" in forensics(str(tmp_path)).stdout
