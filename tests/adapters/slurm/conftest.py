"""The recorded Slurm in place of the programs of a real one."""

from pathlib import Path

import pytest

from forensics.adapters.slurm import accounting
from tests.adapters.slurm.recorded import Cluster


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    folder = tmp_path / "jobs"
    folder.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    cluster = Cluster(folder)
    monkeypatch.setattr(accounting, "run_program", cluster.ask)
    return cluster
