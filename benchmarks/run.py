"""Measures this project beside other tools on the same logs in one run and prints the tables.

Each row is the median of several runs of the whole command, start-up included; `memory` is the peak resident set of the largest
process, as the kernel counted it.
"""

import argparse
import compileall
import gzip
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
from dataclasses import dataclass, replace
from pathlib import Path

import generate

ROOT = Path(__file__).parents[1]
FORENSICS = [sys.executable, "-m", "forensics"]
DRAIN = (
    "import sys; from drain3 import TemplateMiner; m = TemplateMiner()\n"
    "for line in open(sys.argv[1], errors='replace'): m.add_log_message(line)"
)
ISAL = "import sys; from isal import igzip\nf = igzip.open(sys.argv[1])\nwhile f.read(1 << 20): pass"


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


class Table:
    """Rows as they are measured, printed under a heading."""

    def __init__(self, folder: Path, runs: int) -> None:
        self.folder, self.runs, self.rows = folder, runs, list[Row]()

    def add(self, what: str, path: Path | None, command: list[str], times: int = 0, stdin: Path | None = None) -> Row:
        """Measure `command`, which reads `path`, and keep the row."""
        seconds, memory = measure(command, times or self.runs, stdin)
        files = [path] if path and path.is_file() else path.iterdir() if path else []
        self.rows.append(Row(what, seconds, sum(f.stat().st_size for f in files) / 1e6, memory))
        print(".", end="", file=sys.stderr, flush=True)
        return self.rows[-1]

    def own(self, what: str, path: Path, *options: str) -> Row:
        """Measure this project on `path`."""
        return self.add(f"forensics, {what}", path, [*FORENSICS, "analyze", str(path), "--format", "json", *options])

    def show(self, title: str) -> None:
        """Print the rows since the last heading; rates are told in relation to the first of them."""
        first = self.rows[0].megabytes / self.rows[0].seconds
        print(f"\n**{title}**\n")
        print("| what | MB | seconds | MB/s | of the first | memory, MiB |\n|---|---:|---:|---:|---:|---:|")
        for row in self.rows:
            rate = row.megabytes / row.seconds
            told = (
                f"{row.megabytes:.1f} | {row.seconds:.2f} | {rate:.0f} | {rate / first:.2f}"
                if row.megabytes
                else f"| {row.seconds:.2f} | |"
            )
            print(f"| {row.what} | {told} | {row.memory:.0f} |", flush=True)
        self.rows = []


def large(table: Table, megabytes: int, drain: str) -> None:
    """The mixed log, this project beside the others on the same file."""
    mixed = generate.write("mixed", megabytes, table.folder / "mixed.log")
    table.own("mixed log", mixed)
    table.own("mixed log, one thread", mixed, "--jobs", "1")
    for name, command in rivals(table.folder):
        table.add(name, mixed, command(mixed), times=min(table.runs, 3))
    if subprocess.run([drain, "-c", "import drain3"], capture_output=True, check=False).returncode == 0:
        part = generate.write("mixed", 10, table.folder / "part.log")
        table.add("Drain3, 10 MB of it", part, [drain, "-c", DRAIN, str(part)], times=1)
    table.show(f"One log of {megabytes:,} MB")


def kinds(table: Table, megabytes: int) -> None:
    """Loss lines, floods, containers of records, gzip and many small files."""
    part = megabytes // 10
    table.own("loss lines", generate.write("losses", megabytes, table.folder / "losses.log"))
    for kind, amount in (("xid", 1000), ("nccl", 2000), ("tracebacks", 200)):
        table.own(f"{amount * megabytes:,} {kind}", generate.write(kind, amount * megabytes, table.folder / f"{kind}.log"))
    for kind in ("docker", "cri", "journal"):
        table.own(kind, generate.write(kind, part, table.folder / f"{kind}.log"))
    packed = table.folder / "mixed.log.gz"
    packed.write_bytes(gzip.compress((table.folder / "mixed.log").read_bytes(), 6))
    table.own("gzip", packed)
    table.add("isal alone, the same gzip", packed, [sys.executable, "-c", ISAL, str(packed)])
    many = table.folder / "many"
    many.mkdir()
    for i, text in enumerate(generate.small(2 * megabytes)):
        (many / f"{i:05d}.log").write_text(text)
    table.own(f"{2 * megabytes:,} files of 5 KB", many)
    table.show("Other kinds of input")


def start(table: Table) -> None:
    """What every call costs."""
    dmesg, small = table.folder / "dmesg.txt", table.folder / "small.txt"
    rows = ((ROOT / "sample_logs/healthy_dmesg/dmesg.log").read_text().splitlines() * 20)[:2000]
    dmesg.write_text("\n".join(rows) + "\n")
    small.write_text("\n".join(rows[:50]) + "\n")
    bare = [sys.executable, "-c", "import typer, rich, yaml, regex, hyperscan"]
    table.add("a bare interpreter importing typer, rich, yaml, regex, hyperscan", None, bare)
    table.add("forensics --help", None, [*FORENSICS, "--help"])
    table.add("forensics stdin, dmesg of 50 lines", None, [*FORENSICS, "stdin", "--format", "json"], stdin=small)
    table.add("forensics stdin, dmesg of 2,000 lines", None, [*FORENSICS, "stdin", "--format", "json"], stdin=dmesg)
    table.own("mixed log of 5 MB", generate.write("mixed", 5, table.folder / "five.log"))
    table.rows[-1] = replace(table.rows[-1], megabytes=0)
    table.show("Start")


def growth(table: Table, sizes: tuple[int, ...]) -> None:
    """Seconds over size, and over the number of signatures."""
    for size in sizes:
        path = generate.write("mixed", size, table.folder / "grown.log")
        table.own(f"{size:,} MB", path)
        path.unlink()
    table.show("Linear in bytes")
    path = generate.write("mixed", 300, table.folder / "grown.log")
    for count in (100, 500, 1000, 2000):
        table.add(f"{count:,} signatures", path, [sys.executable, str(ROOT / "benchmarks/scan_some.py"), str(count), str(path)])
    table.show("Scanning 300 MB with so many signatures, one thread")


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100 MB instead of 1 GB, 3 runs instead of 5")
    parser.add_argument("--huge", action="store_true", help="also 10 GB of the mixed log")
    parser.add_argument("--drain", default=sys.executable, help="an interpreter that has drain3")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    compileall.compile_dir(ROOT / "forensics", quiet=1)  # as an installer does; otherwise every start may pay for it
    machine = f"{os.cpu_count()} cores, Linux {platform.release().split('-')[0]}, Python {platform.python_version()}"
    print(f"{time.strftime('%Y-%m-%d')}, {machine}, medians of {3 if options.quick else 5}")
    megabytes = 100 if options.quick else 1000
    with tempfile.TemporaryDirectory() as folder:
        table = Table(Path(folder), 3 if options.quick else 5)
        measure([*FORENSICS, "analyze", str(ROOT / "sample_logs/healthy_dmesg")], 1)  # fills the cache
        start(table)
        large(table, megabytes, options.drain)
        kinds(table, megabytes)
        growth(table, (10, 100, 300) if options.quick else (10, 100, 1000, 3000, *([10_000] if options.huge else [])))


if __name__ == "__main__":
    main()
