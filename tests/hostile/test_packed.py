"""The bars: an input of at most 1 MB takes 5 s of processor and 300 MiB, one of at most 100 MB 30 s and 500 MiB."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.inputs import CAUSE, Row, lay
from tests.hostile.packed import PACKED

pytestmark = pytest.mark.seconds
SMALL_BYTES = 1 << 20
MEASURED = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
sys.stdout.buffer.write(done.stdout)
print(used.ru_utime + used.ru_stime, used.ru_maxrss // 1024, done.stderr.decode()[-200:], sep="\\n", file=sys.stderr)
"""


@pytest.mark.parametrize("row", [pytest.param(r, id=r.name, marks=[pytest.mark.slow] * r.slow) for r in PACKED])
def test_a_packed_input_keeps_the_bars(row: Row, tmp_path: Path) -> None:
    folder = lay(row, tmp_path / "case")
    size = sum(p.stat().st_size for p in (folder / "hostile").iterdir() if p.is_file() and not p.is_symlink())
    max_seconds, max_mib = (5, 300) if size <= SMALL_BYTES else (30, 500)
    command = [sys.executable, "-c", MEASURED, sys.executable, "-m", "forensics", "analyze", str(folder), "-f", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, mib, said = done.stderr.split("\n", 2)
    report = json.loads(done.stdout)
    assert CAUSE in {c["id"] for c in report["causes"]}, said
    assert row.warning is None or row.warning in {w["kind"] for w in report["warnings"]}
    assert float(seconds) <= max_seconds
    assert int(mib) <= max_mib
