"""Measures this project on the forms of logs that people have, at four sizes each, beside `wc -l` and ripgrep on the same bytes.

python benchmarks/forms.py                 all, at full size: some five minutes
python benchmarks/forms.py --write         the same, and the tables go into docs/speed.md
python benchmarks/forms.py kernel ranks    these two
python benchmarks/forms.py --part 0.1      a tenth of the size of each
python benchmarks/forms.py --busy          while other processes take all cores: threads must not make anything slower
"""

import argparse
import contextlib
import json
import math
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import generate
import run

SIZES = (0.125, 0.25, 0.5, 1.0)
NEXT_TO_NOTHING = 0.001  # of the full size: what that takes is the start
MIN_MEGABYTES = 100  # chosen by hand: smaller logs take less time than the start, and that varies; the exponent is of larger
DMESG = run.ROOT / "sample_logs/healthy_dmesg/dmesg.log"


def rank(number: int, megabytes: float) -> Iterator[str]:
    """What one rank prints: a line of numbers a step."""
    rng, size, step = random.Random(number), 0, 0
    while size < megabytes * 1_000_000:
        step += 1
        clock = f"2026-11-21 {8 + step // 7200 % 12:02d}:{step // 120 % 60:02d}:{step // 2 % 60:02d},{rng.randrange(1000):03d}"
        line = (
            f"{clock} INFO rank {number}: step {step} loss {2 + rng.random():.4f} lr 3.0e-04 grad_norm {rng.random():.3f}"
            f" tokens/s {rng.randrange(9000, 12000)} mem {61 + rng.random():.2f}GB\n"
        )
        size += len(line)
        yield line


def bars(megabytes: float) -> Iterator[str]:
    """Epochs of a bar of tqdm and of one of Keras, each redrawn in its line."""
    rng, size, epoch = random.Random(0), 0, 0
    while size < megabytes * 1_000_000:
        epoch += 1
        tqdm = (
            f"train: {i / 10:3.0f}%|{'#' * (i // 50):<20}| {i}/1000 [00:{i % 60:02d}<00:30, {rng.random() * 9:.2f}it/s]"
            for i in range(1001)
        )
        keras = (f"{i}/200 [{'=' * (i // 8):.<25}] - ETA: {200 - i}s - loss: {rng.random():.4f}" for i in range(201))
        block = f"Epoch {epoch}/9999\n" + "\r".join(tqdm) + "\n" + "\r".join(keras) + "\n"
        size += len(block)
        yield block


def kernel(megabytes: float) -> Iterator[str]:
    """A kernel's messages, as one boot prints them, again and again with a clock that goes on."""
    messages = [row.split("] ", 1)[1] for row in DMESG.read_text().splitlines() if "] " in row]
    rng, size, clock = random.Random(0), 0, 0.0
    while size < megabytes * 1_000_000:
        for message in messages:
            clock += rng.random() / 50
            line = f"[{clock:12.6f}] {message}\n"
            size += len(line)
            yield line


def partial(megabytes: float) -> Iterator[str]:
    """A container's log of one line that never ends: every record is marked as partial."""
    for i in range(int(megabytes * 1_000_000 / 270)):
        yield f"2026-11-21T08:{i // 60 % 60:02d}:{i % 60:02d}.123456789Z stderr P {'step ' * 45}\n"


def notebook(megabytes: float) -> Iterator[str]:
    """A notebook, nearly all of it the output of one cell that trains."""
    yield '{"cells": [{"cell_type": "code", "execution_count": 1, "metadata": {}, "source": ["train()"], "outputs": ['
    yield '{"name": "stdout", "output_type": "stream", "text": ["start\\n"'
    for line in rank(0, megabytes):
        yield f', "{line.rstrip()}\\n"'
    yield ']}]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n'


def one(lines: Callable[[float], Iterator[str]], name: str) -> Callable[[Path, float], Path]:
    """What writes `lines` of so many megabytes to the file `name`."""

    def write(folder: Path, amount: float) -> Path:
        with (folder / name).open("w") as file:
            file.writelines(lines(amount))
        return folder / name

    return write


def ranks(count: int) -> Callable[[Path, float], Path]:
    """What writes so many megabytes as the logs of `count` ranks."""

    def write(folder: Path, amount: float) -> Path:
        for i in range(count):
            one(lambda part, i=i: rank(i, part), f"rank_{i}.log")(folder, amount / count)  # type: ignore[misc]
        return folder

    return write


def small(folder: Path, amount: float) -> Path:
    """So many files of 5 KB."""
    for i, text in enumerate(generate.small(int(amount))):
        (folder / f"{i:05d}.log").write_text(text)
    return folder


FORMS: dict[str, tuple[str, Callable[[Path, float], Path], float]] = {
    "ranks": ("64 ranks, numbers in each line", ranks(64), 16),
    "long-ranks": ("64 ranks, long logs", ranks(64), 160),
    "many-ranks": ("256 ranks, numbers in each line", ranks(256), 64),
    "bars": ("bars of tqdm and Keras", one(bars, "train.log"), 50),
    "kernel": ("a kernel's log", one(kernel, "dmesg.log"), 50),
    "partial": ("CRI, all records partial", one(partial, "0.log"), 3.4),
    "nccl": ("NCCL flood", one(lambda mb: generate.nccl_flood(int(mb * 1e6 / 113)), "nccl.log"), 81),
    "small": ("10,000 files of 5 KB", small, 10_000),
    "notebook": ("a notebook", one(notebook, "train.ipynb"), 50),
    "mixed": ("mixed log", one(lambda mb: generate.mixed(int(mb)), "mixed.log"), 400),
}
SLOW = {"small"}  # measured once instead of several times
TABLE = run.ROOT / "docs/speed.md"
BEGIN, END = "<!-- forms: made by benchmarks/forms.py -->", "<!-- end of forms -->"
TINY = 'step 1 loss 0.5\nTraceback (most recent call last):\n  File "train.py", line 3, in <module>\nRuntimeError: no data\n'


HERE = Path(__file__).parent
WRITTEN = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
SEARCH = """# seconds that Hyperscan takes for all anchors in the bytes of files, without anything around it
import sys, time, hyperscan
from forensics import pipeline
matcher = pipeline.database(()).matcher
scratch, taken = hyperscan.Scratch(matcher), 0.0
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            start = time.perf_counter()
            matcher.scan(block, match_event_handler=lambda *_: None, scratch=scratch)
            taken += time.perf_counter() - start
print(taken)
"""


@dataclass(frozen=True)
class Measured:
    """A form of log at full size, medians, and the exponent of the processor's time over its sizes.

    `alone`: with one thread or process. `search`: Hyperscan's time on the same bytes, below which no program that searches for
    all anchors comes.
    """

    what: str
    megabytes: float
    wall: float
    alone: float
    cpu: float
    memory: float
    wc: float
    ripgrep: float | None
    search: float
    exponent: float

    def row(self) -> str:
        """A row of the table."""
        beside = f"{self.wall / self.ripgrep:.2f}" if self.ripgrep else ""
        return (
            f"| {self.what} | {self.megabytes:.1f} | {self.wall:.2f} | {self.alone:.2f} | {self.cpu:.2f} |"
            f" {self.megabytes / self.wall:.1f} | {self.memory:.0f} | {self.wall / self.wc:.0f} | {beside} |"
            f" {self.wall / self.search:.1f} | {self.exponent:.2f} |"
        )


HEAD = (
    "| log | MB | seconds | with one thread | of processor | MB/s | memory, MiB | times `wc -l` | times ripgrep | times the search"
    " alone | exponent |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
)


def measure(
    command: list[str], runs: int, stdin: Path = Path(os.devnull), stdout: Path = Path(os.devnull)
) -> tuple[float, float, float]:
    """Median seconds by the clock and of the processor, and peak MiB, of `runs` runs of `command`."""
    taken: list[tuple[float, float, float]] = []
    streams = [(os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, stdout, WRITTEN, 0o600)]
    for _ in range(runs):
        start = time.perf_counter()
        pid = os.posix_spawnp(command[0], command, os.environ, file_actions=streams)
        _, status, usage = os.wait4(pid, 0)
        if status != 0 and command[: len(run.FORENSICS)] == run.FORENSICS:
            sys.exit(f"benchmark: {' '.join(command)} failed")
        taken.append((time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024))
    walls, cpus, peaks = zip(*taken, strict=True)
    return statistics.median(walls), statistics.median(cpus), max(peaks)


def processor_seconds(name: str, amount: float) -> tuple[float, float]:
    """The megabytes of a log of this form, and the least processor seconds of three runs on it; of one if it takes long."""
    with tempfile.TemporaryDirectory() as folder:
        path = FORMS[name][1](Path(folder), amount)
        size = sum(f.stat().st_size for f in ([path] if path.is_file() else path.iterdir())) / 1e6
        command = [*run.FORENSICS, "analyze", str(path), "--format", "json"]
        return size, min(measure(command, 1)[1] for _ in range(1 if name in SLOW else 3))


def exponent(name: str, part: float) -> float:
    """Of the processor's time over the sizes, without the start: the slope of the line of least squares through the logarithms."""
    full = FORMS[name][2] * part
    largest = full * (1 if name in SLOW else math.ceil(MIN_MEGABYTES / FORMS[name][2]))
    start = processor_seconds(name, full * NEXT_TO_NOTHING)[1]
    sizes, seconds = zip(*(processor_seconds(name, largest * size) for size in SIZES), strict=True)
    return statistics.linear_regression([math.log(s) for s in sizes], [math.log(max(s - start, 1e-3)) for s in seconds]).slope


def printed(code: str, *arguments: str) -> str:
    """What a program prints. It has a process of its own: the peak of ours would count as that of each command we start."""
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True, cwd=HERE).stdout


def of_form(name: str, part: float, runs: int, anchors: Path) -> Measured:
    """One form, measured at all sizes: once below the full one."""
    what, write, full = FORMS[name]
    runs = 1 if name in SLOW else runs
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as said:
        path = write(Path(folder), full * part)
        files = [path] if path.is_file() else sorted(path.iterdir())
        size = sum(f.stat().st_size for f in files) / 1e6
        wall, cpu, memory = measure([*run.FORENSICS, "analyze", str(path), "--format", "json"], runs, stdout=Path(said.name))
        if any(warning["kind"] == "limit" for warning in json.load(said)["warnings"]):
            what += " (not read whole: a limit was reached)"
        alone = measure([*run.FORENSICS, "analyze", str(path), "--format", "json", "-j", "1"], runs)[0]
        wc = measure(["wc", "-l", *map(str, files)], runs)[0]
        rg = measure(["rg", "-i", "-F", "-c", "-f", str(anchors), str(path)], runs)[0] if shutil.which("rg") else None
        search = float(printed(SEARCH, *map(str, files)))
    return Measured(what, size, wall, alone, cpu, memory, wc, rg, search, exponent(name, part))


def report(options: argparse.Namespace) -> str:
    """The tables as Markdown, the slowest form first."""
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    machine = f"{os.cpu_count()} cores, Linux {platform.release().split('-')[0]}, Python {platform.python_version()}"
    with tempfile.TemporaryDirectory() as folder:
        anchors, tiny = Path(folder) / "anchors.txt", Path(folder) / "tiny.log"
        anchors.write_text(printed("import run; print(*run.anchors()[:775], sep='\\n')"))
        tiny.write_text(TINY)
        measure([*run.FORENSICS, "stdin"], 2, tiny)  # fills the caches
        wall, cpu, memory = measure([*run.FORENSICS, "stdin"], 2 * options.runs + 1, tiny)
        bare = measure([sys.executable, "-c", "import regex, msgspec, hyperscan"], options.runs)[0]
        rows = []
        for name in options.forms or FORMS:
            rows.append(of_form(name, options.part, options.runs, anchors))
            print(name, rows[-1].row(), file=sys.stderr, flush=True)
    table = "\n".join(measured.row() for measured in sorted(rows, key=lambda m: m.megabytes / m.wall))
    return (
        f"{time.strftime('%Y-%m-%d')}, {machine}, load {load}{', both cores taken' if options.busy else ''}, medians of"
        f" {options.runs}.\n\n{HEAD}\n{table}\n\nA log of four lines on standard input takes {1000 * wall:.0f} ms by the clock,"
        f" {1000 * cpu:.0f} ms of the processor and {memory:.0f} MiB; an interpreter that only imports regex, msgspec and"
        f" hyperscan {1000 * bare:.0f} ms."
    )


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("forms", nargs="*", metavar="form", choices=[*FORMS, []], default=[], help=f"of {', '.join(FORMS)}")
    parser.add_argument("--part", type=float, default=1.0, help="of the full size of each form")
    parser.add_argument("--runs", type=int, default=3, help="of which the median is told")
    parser.add_argument("--busy", action="store_true", help="take all cores with other processes")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/speed.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as others:
        os.environ.update(PYTHONPYCACHEPREFIX=f"{folder}/compiled", FORENSICS_CACHE=f"{folder}/cache")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program is compiled once
        for _ in range((os.cpu_count() or 1) * options.busy):
            other = others.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            others.callback(other.kill)
        found = report(options)
    if options.write:
        before, _, rest = TABLE.read_text().partition(BEGIN)
        TABLE.write_text(f"{before}{BEGIN}\n{found}\n{END}{rest.partition(END)[2]}")
    print(found)


if __name__ == "__main__":
    main()
