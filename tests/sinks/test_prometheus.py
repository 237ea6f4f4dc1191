import shutil
import subprocess
from pathlib import Path

import pytest

from forensics.sinks import destinations
from tests.sinks.test_delivery import message


def test_the_counter_goes_on_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "deaths.prom"
    for cause in ("a.b", "a.b", "c.d"):
        destinations.send_prometheus(message(cause=cause), {"path": str(path)})
    assert 'forensics_deaths_total{cause="a.b",node="n1"} 2\n' in path.read_text()
    assert [p.name for p in tmp_path.iterdir()] == ["deaths.prom"]


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_accepts_the_file(tmp_path: Path) -> None:
    destinations.send_prometheus(message(), {"path": str(tmp_path / "deaths.prom")})
    done = subprocess.run(["promtool", "check", "metrics"], stdin=(tmp_path / "deaths.prom").open(), capture_output=True)
    assert done.returncode == 0, done.stderr
