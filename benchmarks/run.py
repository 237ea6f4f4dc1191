"""Measures this project beside other tools on the same logs in one run and prints the table.

Each row is the median of several runs of the whole command, start-up included; `memory` is the peak resident set of the largest
process, as the kernel counted it.
"""

import argparse
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import generate

ROOT = Path(__file__).parents[1]
FORENSICS = [sys.executable, "-m", "forensics"]
DRAIN = (
    "import sys; from drain3 import TemplateMiner; m = TemplateMiner()\n"
    "for line in open(sys.argv[1], errors='replace'): m.add_log_message(line)"
)


@dataclass(frozen=True)
class Row:
    """One command on one input: median seconds and peak memory in MiB."""

    what: str
    seconds: float
    megabytes: float
    memory: float


def measure(command: list[str], runs: int, stdin: Path | None = None) -> tuple[float, float]:
    """Median seconds and peak MiB of `command`; its output goes nowhere."""
    taken: list[float] = []
    peaks: list[float] = []
    for _ in range(runs):
        start = time.perf_counter()
        pid = os.fork()
        if pid == 0:
            null = os.open(os.devnull, os.O_RDWR)
            source = os.open(stdin, os.O_RDONLY) if stdin else null
            for given, wanted in ((source, 0), (null, 1), (null, 2)):
                os.dup2(given, wanted)
            os.execvp(command[0], command)
        _, status, usage = os.wait4(pid, 0)
        if command[: len(FORENSICS)] == FORENSICS and status != 0:
            sys.exit(f"benchmark: {' '.join(command)} failed")
        taken.append(time.perf_counter() - start)
        peaks.append(usage.ru_maxrss / 1024)
    return statistics.median(taken), max(peaks)


def rivals(folder: Path) -> list[tuple[str, Callable[[Path], list[str]]]]:
    """The other tools that are here, each as a command on a file."""
    patterns = folder / "anchors.txt"
    patterns.write_text("\n".join(anchors()))
    few = folder / "anchors800.txt"
    few.write_text("\n".join(anchors()[:800]))
    found: list[tuple[str, Callable[[Path], list[str]]]] = []
    if shutil.which("rg"):
        found.append(("ripgrep, 800 literals", lambda p: ["rg", "-i", "-F", "-c", "-f", str(few), str(p)]))
        found.append(("ripgrep, all literals", lambda p: ["rg", "-i", "-F", "-c", "-f", str(patterns), str(p)]))
    if shutil.which("grep"):
        found.append(("grep -F, 800 literals", lambda p: ["grep", "-c", "-F", "-f", str(few), str(p)]))
    if shutil.which("lnav"):
        found.append(("lnav -n", lambda p: ["lnav", "-n", "-q", str(p)]))
    return found


def anchors() -> list[str]:
    """The literals of this project's signatures."""
    from forensics import pipeline

    return [a for a in pipeline.database().anchors if a.isprintable()]


def table(megabytes: int, runs: int, folder: Path) -> list[Row]:
    """All rows: this project on every input, the others on the mixed log."""
    rows: list[Row] = []

    def add(what: str, path: Path, command: list[str], times: int = runs, stdin: Path | None = None) -> None:
        seconds, memory = measure(command, times, stdin)
        rows.append(Row(what, seconds, path.stat().st_size / 1e6, memory))
        print(".", end="", file=sys.stderr, flush=True)

    mixed = generate.write("mixed", megabytes, folder / "mixed.log")
    small = generate.write("mixed", 5, folder / "small.log")
    dmesg = folder / "dmesg.txt"
    dmesg.write_text("\n".join(((ROOT / "sample_logs/healthy_dmesg/dmesg.log").read_text().splitlines() * 20)[:2000]) + "\n")
    json_report = ["--format", "json"]
    measure([*FORENSICS, "analyze", str(small)], 1)  # fills the cache
    add("forensics analyze, mixed", mixed, [*FORENSICS, "analyze", str(mixed), *json_report])
    add("forensics analyze, mixed, 5 MB", small, [*FORENSICS, "analyze", str(small), *json_report])
    add("forensics stdin, dmesg of 2,000 lines", dmesg, [*FORENSICS, "stdin", *json_report], stdin=dmesg)
    for kind, amount in (("xid", 1_000_000), ("nccl", 2_000_000), ("tracebacks", 200_000)):
        path = generate.write(kind, amount if megabytes >= 1000 else amount // 10, folder / f"{kind}.log")
        add(f"forensics analyze, {kind} flood", path, [*FORENSICS, "analyze", str(path), *json_report])
    for name, command in rivals(folder):
        add(name, mixed, command(mixed))
    part = generate.write("mixed", 20, folder / "part.log")
    if subprocess.run([sys.executable, "-c", "import drain3"], capture_output=True, check=False).returncode == 0:
        add("Drain3, 20 MB of the mixed log", part, [sys.executable, "-c", DRAIN, str(part)], times=1)
    print(file=sys.stderr)
    return rows


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100 MB instead of 1 GB, 3 runs instead of 5")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        rows = table(100 if options.quick else 1000, 3 if options.quick else 5, Path(folder))
    own = rows[0].megabytes / rows[0].seconds
    print(
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, Linux {platform.release().split('-')[0]}, Python {platform.python_version()}\n"
    )
    print("| what | MB | seconds | MB/s | of forensics | memory, MiB |\n|---|---:|---:|---:|---:|---:|")
    for row in rows:
        rate = row.megabytes / row.seconds
        print(f"| {row.what} | {row.megabytes:.1f} | {row.seconds:.2f} | {rate:.0f} | {rate / own:.2f} | {row.memory:.0f} |")


if __name__ == "__main__":
    main()
