"""Jobs on other hosts are asked by the launcher that is there, with a program that needs nothing of this package."""

import os
import sys
from pathlib import Path

import pytest

from forensics.adapters import launchers
from forensics.core.errors import UsageError


def script(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_srun_asks_all_nodes_of_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in of srun runs the step twice, as on two nodes, and prints what srun prints beside it."""
    step = f'echo "srun: step created"; while [ "$1" != python3 ]; do shift; done; shift; cat > {tmp_path}/program'
    script(tmp_path, "srun", f'{step}; for node in 1 2; do {sys.executable} "$@" < {tmp_path}/program; done')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("SLURM_JOB_ID", "")
    found = launchers.of_job("4711")
    assert len(found.hosts) == 2 and found.notes == ()
    assert found.hosts[0].host == os.uname().nodename


def test_a_launcher_that_fails_says_why_and_this_host_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path, "kubectl", '[ "$1" = get ] && exit 0; echo "pods \\"fit\\" not found" >&2; exit 1')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = launchers.of_job("fit")
    assert [host.processes for host in found.hosts] == [()]
    assert "kubectl exec -i pod/fit" in found.notes[0] and 'pods "fit" not found' in found.notes[0]


@pytest.mark.parametrize("job", ["", "-o evil", "a;b", "../x"])
def test_what_is_no_name_of_a_job_is_refused(job: str) -> None:
    with pytest.raises(UsageError):
        launchers.of_job(job)
