"""The process that watches for guard() is no child of the program: one that waits for any child never finds it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc"), pytest.mark.seconds]
WAITS_FOR_ALL = """
import os, resource, forensics
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1200)]
with forensics.guard(name="pool", tell=False) as made:
    child = os.fork() or os._exit(5)
    ended = []
    try:
        while True:
            ended.append(os.wait())
    except ChildProcessError:
        print(ended == [(child, 5 << 8)], os.path.isdir(made.bundle))
made.watch.wait(60)
print(os.path.isdir(made.bundle))
"""


def test_a_program_that_waits_for_all_its_children_finds_its_own(tmp_path: Path) -> None:
    environment = os.environ | {"FORENSICS_RUNS": str(tmp_path)}
    command = [sys.executable, "-c", WAITS_FOR_ALL]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)
    assert (done.stdout, done.stderr) == ("True True\nFalse\n", "")
