"""The Containerfile where no builder is: what it copies is there, and its steps, run one by one below a folder, make what it promises."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Containerfile").read_text()
STEPS = re.findall(r"^(FROM|WORKDIR|COPY|RUN|ENV|USER|ENTRYPOINT) +(.+)$", TEXT, re.MULTILINE)
INSTALLED = "/opt/forensics"


def test_what_it_copies_is_in_the_repository_and_every_line_is_a_known_step() -> None:
    lines = [line for line in TEXT.splitlines() if line.strip() and not line.startswith("#")]
    assert len(lines) == len(STEPS)
    copied = [word for step, rest in STEPS if step == "COPY" and "--from" not in rest for word in rest.split()[:-1]]
    assert {"pyproject.toml", "signatures", "forensics", "etc"} <= set(copied)
    assert [word for word in copied if not (ROOT / word).exists()] == []
    assert ("USER", "65534") in STEPS


@pytest.mark.slow
def test_its_steps_make_an_entry_point_that_says_why(tmp_path: Path) -> None:
    """Both stages lie in one folder here, so the copy between them is none."""
    source, installed = tmp_path / "src", tmp_path / "opt"
    source.mkdir()
    settings = dict(part.split("=", 1) for step, rest in STEPS if step == "ENV" for part in rest.split())
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    for step, rest in STEPS:
        if step == "COPY" and "--from" not in rest:
            *names, target = rest.split()
            for name in names:
                place = source / (name if target.startswith("./") or (ROOT / name).is_file() else target)
                (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, place)
        elif step == "RUN" and "/usr/local/bin" not in rest:
            subprocess.run(
                ["sh", "-ec", rest.replace(INSTALLED, str(installed))], cwd=source, env=environment, check=True, timeout=900
            )
    message = tmp_path / "termination-log"
    message.touch()
    environment |= {k: v.replace(INSTALLED, str(installed)) for k, v in settings.items()}
    environment |= {"FORENSICS_TERMINATION_FILE": str(message), "XDG_STATE_HOME": str(tmp_path / "state")}
    command = [installed / "bin/forensics-entrypoint", "python3", "-c", "print({}['learning_rate'])"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "code.exception" in done.stderr
    assert "code.exception" in message.read_text()
    assert not (tmp_path / ".cache/forensics").exists()  # the compiled signatures of the image were used
