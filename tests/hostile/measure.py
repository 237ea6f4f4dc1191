"""Each hostile input through the command line, in a process of its own: processor time, peak memory, status, warnings; a table.

python -m tests.hostile.measure            prints the table and writes it into README.md between its marks
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.hostile.inputs import CAUSE, Row, lay
from tests.hostile.packed import ROWS

README = Path(__file__).parent / "README.md"
MARK = "<!-- measured -->"
LIMIT_S, LIMIT_MIB = 60, 700
PROBE = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True)
said = json.loads(done.stdout) if done.stdout else {"causes": [], "warnings": []}
kinds = sorted({w["kind"] for w in said["warnings"]})
used = resource.getrusage(resource.RUSAGE_CHILDREN)
causes, took = [c["id"] for c in said["causes"]], used.ru_utime + used.ru_stime
print(json.dumps([done.returncode, causes, kinds, took, used.ru_maxrss // 1024, done.stderr.decode()[-200:]]))
"""


def measured(row: Row) -> tuple[str, bool]:
    """The table's line for `row`, and whether it held."""
    import json

    with tempfile.TemporaryDirectory() as place:
        folder = lay(row, Path(place) / "case")
        command = [sys.executable, "-c", PROBE, sys.executable, "-m", "forensics", "analyze", str(folder), "-f", "json"]
        told = subprocess.run(command, capture_output=True, env={k: v for k, v in os.environ.items() if k != "FORENSICS_DEBUG"})
    status, causes, kinds, took, peak, noise = json.loads(told.stdout)
    held = status == 0 and CAUSE in causes and took < LIMIT_S and peak < LIMIT_MIB and not noise and "internal" not in kinds
    held = held and (row.warning is None or row.warning in kinds)
    told_of = ", ".join(kinds) or "-"
    return (
        f"| {row.name} | {row.what.replace('|', '/')} | {told_of} | {took:.1f} | {peak} | {'yes' if held else '**no**'} |",
        held,
    )


def main() -> None:
    """Measure all rows, or those named in the arguments."""
    rows = [r for r in ROWS if not sys.argv[1:] or r.name in sys.argv[1:]]
    table = ["| input | what | warnings | s of processor | MiB | held |", "|---|---|---|---|---|---|"]
    failed = 0
    for row in rows:
        line, held = measured(row)
        failed += not held
        print(line, flush=True)
        table.append(line)
    if not sys.argv[1:]:
        before, _, after = README.read_text().split(MARK)
        README.write_text(f"{before}{MARK}\n" + "\n".join(table) + f"\n{MARK}{after}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
