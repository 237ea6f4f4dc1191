"""What a capture costs: processor, memory, time from the end to the report, and output that is passed on.

python -m benchmarks.captured_overhead [--seconds 30] [--deaths 10]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
BUSY = """
import os, sys, time
for _ in range({processes} - 1):
    if os.fork() == 0:
        time.sleep({seconds} + 5); os._exit(0)
end = time.time() + {seconds}
i = 0
while time.time() < end:
    print(f"step {{i}} loss {{1 / (i + 1):.4f}} lr 0.001 throughput 1234 samples/s", flush=True); i += 1
    time.sleep(0.01)
os._exit(0)
"""


def run_line(command: list[str], folder: str, **options: object) -> list[str]:
    """The command line of a captured run."""
    given = {"command": command, "folder": folder, "keep": "always", **options}
    return [sys.executable, "-P", "-m", "forensics.capture", "run", json.dumps(given)]


def own(pid: int) -> list[int]:
    """The capture's processes: the one that is seen and the keeper."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(int(c) for c in children[:1])]


def cpu_s(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(pid: int) -> dict[str, float]:
    """Its memory in MiB: resident, its share of what it shares (PSS), its own alone (USS)."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    sizes = {k: int(v) / 1024 for k, v in re.findall(r"(\w+): +(\d+) kB", text)}
    return {"rss": sizes["Rss"], "pss": sizes["Pss"], "uss": sizes["Private_Dirty"] + sizes["Private_Clean"]}


def steady(seconds: int) -> None:
    """64 processes and 100 lines a second."""
    with tempfile.TemporaryDirectory() as folder:
        job = [sys.executable, "-c", BUSY.format(processes=64, seconds=seconds)]
        running = subprocess.Popen(run_line(job, folder + "/b", report=False, quiet=True), stdout=subprocess.DEVNULL)
        time.sleep(3)
        pids = own(running.pid)
        before, begun = sum(map(cpu_s, pids)), time.monotonic()
        time.sleep(seconds - 8)
        used, took = sum(map(cpu_s, pids)) - before, time.monotonic() - begun
        print(
            f"64 processes, 100 lines/s: {100 * used / took:.2f} % of one core over {took:.0f} s; {before:.2f} s of it to start"
        )
        for name, pid in zip(("run", "keeper"), pids, strict=False):
            print(f"  {name:7}" + "".join(f" {k} {v:5.1f} MiB" for k, v in memory(pid).items()))
        running.wait()


def throughput() -> None:
    """How fast output passes, and that all of it does."""
    with tempfile.TemporaryDirectory() as folder:
        job = ["sh", "-c", "head -c 2000000000 /dev/zero"]
        for name, line in (
            ("alone", job),
            ("captured", run_line(job, folder + "/b", report=False, quiet=True, max_log_bytes=64 << 20)),
        ):
            begun = time.monotonic()
            running = subprocess.Popen(line, stdout=subprocess.PIPE)
            done = subprocess.run(["wc", "-c"], stdin=running.stdout, capture_output=True, check=False)
            took = time.monotonic() - begun
            running.wait()
            print(f"2 GB of output {name}: {int(done.stdout):,} bytes, {2000 / took:.0f} MB/s")


def reports(deaths: int) -> None:
    """From the end of the job to the end of the report."""
    took = []
    with tempfile.TemporaryDirectory() as top:
        for i in range(deaths):
            folder = f"{top}/{i}"
            job = [
                sys.executable,
                "-c",
                "import time\nprint('step 1', flush=True)\ntime.sleep(1)\nprint(repr(time.time()), flush=True)\nraise ValueError('x')",
            ]
            before = os.times()
            done = subprocess.run(run_line(job, folder), capture_output=True, text=True, check=False)
            ended, after = time.time(), os.times()
            cpu = (after.children_user + after.children_system) - (before.children_user + before.children_system)
            took.append(
                (ended - float(done.stdout.splitlines()[1]), cpu, "ValueError" in done.stderr.partition("captured in")[0])
            )
    took.sort()
    print(f"report after a death, {deaths} times: median {took[deaths // 2][0]:.2f} s, slowest {took[-1][0]:.2f} s;")
    print(
        f"  processor {sorted(t[1] for t in took)[deaths // 2]:.2f} s for the whole run, capture and job included; load {os.getloadavg()[0]:.1f}"
    )


def main() -> None:
    """Measure all of it."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--seconds", type=int, default=30)
    asked.add_argument("--deaths", type=int, default=10)
    given = asked.parse_args()
    steady(given.seconds)
    throughput()
    reports(given.deaths)


if __name__ == "__main__":
    main()
