"""How often the cause of a death is right with what `forensics run` took, and with the job's log alone of the same runs.

    sudo python -m benchmarks.captured_deaths [--runs 3] [--jobs 4] [--user nobody] [--only WORD] [--keep FOLDER]

Each way to die (benchmarks/ways_to_die.py) is caused truly, by default three times: as root with everything readable, or as `nobody`
without the kernel's log and without tracing (kernel.dmesg_restrict is set to 1 for the time). A memory limit is that of a group of
our own; nothing else on the machine is touched. Then every bundle is analysed twice: whole, and its job.log without our lines.
Needs root, cgroup v1 with the memory controller, a C compiler; the ways that need more are told as left out.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from benchmarks.more_ways_to_die import FURTHER
from benchmarks.ways_to_die import C_PROGRAMS, MIB, WAYS, Way

MEMORY = Path("/sys/fs/cgroup/memory")
PIDS = Path("/sys/fs/cgroup/pids")
ROOT = Path(__file__).parents[1]
PYTHON = "/usr/bin/python3"  # nobody may not read everybody's environment
NOBODY = 65534
TOO_LONG_S = 240
RESTRICT = Path("/proc/sys/kernel/dmesg_restrict")
HEAD = re.compile(r"^.*\] forensics run: .*\n?", re.MULTILINE)


class Run(NamedTuple):
    """One death: the bundle, and the status that the captured command gave."""

    way: Way
    user: str
    bundle: Path
    status: int


def compiled(folder: Path) -> dict[str, str]:
    """The programs of C and C++, compiled; path by name."""
    found = {}
    for name, text in C_PROGRAMS.items():
        compiler, ending = ("g++", "cc") if text.startswith("//c++") else ("gcc", "c")
        source = folder / f"{name}.{ending}"
        source.write_text(text)
        subprocess.run([compiler, "-O0", "-w", "-o", str(folder / name), str(source)], check=True)
        found[name] = str(folder / name)
    return found


@contextmanager
def groups(way: Way, name: str) -> Iterator[list[Path]]:
    """Groups of our own with the way's limits; removed at the end."""
    made = []
    for top, limit, file in ((MEMORY, way.limit_mib * MIB, "memory.limit_in_bytes"), (PIDS, way.pids, "pids.max")):
        if limit:
            folder = top / f"forensics-deaths-{name}"
            folder.mkdir()
            (folder / file).write_text(str(limit))
            made.append(folder)
    try:
        yield made
    finally:
        for folder in made:
            for pid in (folder / "cgroup.procs").read_text().split():
                with suppress(OSError):
                    os.kill(int(pid), signal.SIGKILL)
            for _ in range(50):
                with suppress(OSError):
                    folder.rmdir()
                    break
                time.sleep(0.1)


def one_run(way: Way, user: str, number: int, folder: Path, programs: dict[str, str]) -> Run:
    """Cause one death under the capture."""
    name = re.sub(r"\W+", "-", way.name) + f"-{user}-{number}"
    bundle = folder / name
    bundle.mkdir(mode=0o777)
    bundle.chmod(0o777)
    command = [word.replace("{python}", PYTHON) for word in way.command]
    command = [re.sub(r"\{c:(\w+)\}", lambda m: programs[m[1]], word) for word in command]
    options = {"command": command, "folder": str(bundle), "keep": "always", "report": False, "quiet": True, "every_s": 1.0}
    options["stall_s"] = way.stall_s or 900.0
    captured = [PYTHON, "-P", "-m", "forensics.capture", "run", json.dumps(options)]
    if user == "nobody":
        captured = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *captured]
    env = {
        **os.environ,
        "PYTHONPATH": str(folder / "code"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": "/tmp",
        **dict(way.environment),
    }
    if "slurmstepd" in way.outside:
        env |= {"SLURM_JOB_ID": "4711", "SLURM_JOB_END_TIME": str(int(time.time()) + 2)}
    with groups(way, name) as made:
        joined = "".join(f"echo $$ > {g}/cgroup.procs; " for g in made)
        full = ["/bin/sh", "-c", f'{joined}exec "$@"', "sh", *way.wrap, *captured]
        status = typed(full, env, way.terminal) if way.terminal else started(full, env, way, bundle)
        until = time.monotonic() + 15
        while not json_of(bundle / "run.json").get("complete") and time.monotonic() < until:
            time.sleep(0.05)
    return Run(way, user, bundle, status)


def json_of(path: Path) -> dict[str, object]:
    """The object in a JSON file; an empty one where there is none yet."""
    try:
        return json.loads(path.read_text())  # type: ignore[no-any-return]
    except (OSError, ValueError):
        return {}


def started(full: list[str], env: dict[str, str], way: Way, bundle: Path) -> int:
    """Run it with pipes, and do to it what the way says."""
    running = subprocess.Popen(
        full, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    if way.outside:
        threading.Thread(target=interfere, args=(way.outside, running.pid, bundle), daemon=True).start()
    try:
        running.communicate(timeout=TOO_LONG_S)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    return running.returncode if running.returncode >= 0 else 128 - running.returncode


def interfere(outside: str, run_pid: int, bundle: Path) -> None:
    """`COMM SIGNALS [run|worker|late]`: a process called COMM sends the signals, to the job's program, to `run` or to a child of it."""
    who, signals, *more = outside.split()
    until = time.monotonic() + 30
    while not (job := int(dict(json_of(bundle / "run.json").get("command") or {}).get("pid", 0))) and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(4.5 if "late" in more else 1.5)
    target = job
    if "run" in more:
        target = run_pid  # sh became setpriv, which became python: the same number
    elif "worker" in more:
        children: list[int] = []
        with suppress(OSError):
            children = [int(p) for p in Path(f"/proc/{job}/task/{job}/children").read_text().split()]
        target = children[min(1, len(children) - 1)] if children else job
    code = f"import os, time, ctypes\nctypes.CDLL(None).prctl(15, {who[:15]!r}.encode(), 0, 0, 0)\n"
    for i, name in enumerate(signals.split("-")):
        code += (
            "time.sleep(1.5)\n" if i else ""
        ) + f"try: os.kill({target}, {int(getattr(signal, 'SIG' + name))})\nexcept OSError: pass\n"
    subprocess.run([PYTHON, "-c", code], check=False)


def typed(full: list[str], env: dict[str, str], keys: bytes) -> int:
    """Run it on a terminal of its own and type `keys`; `close` closes the terminal."""
    pid, master = pty.fork()
    if pid == 0:
        os.execvpe(full[0], full, env)
    deadline = time.monotonic() + 2.5
    import select

    sent = False
    while True:
        if not sent and time.monotonic() > deadline:
            sent = True
            if keys == b"close":
                os.close(master)
                break
            os.write(master, keys)
        if select.select([master], [], [], 0.1)[0]:
            try:
                if not os.read(master, 65536):
                    break
            except OSError:
                break
    status = os.waitpid(pid, 0)[1]
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def answers(runs: list[Run]) -> Iterator[dict[str, object]]:
    """What is said of each run, with the bundle and with the log alone."""
    from forensics import pipeline

    knowledge = pipeline.database()
    for run in runs:
        with tempfile.TemporaryDirectory() as folder:
            alone = Path(folder, "job.log")
            log = run.bundle / "job.log"
            alone.write_text(HEAD.sub("", log.read_text(errors="replace")) if log.exists() else "")
            begun, cpu = time.perf_counter(), time.process_time()
            whole = pipeline.analyze_paths([run.bundle], "bundle", knowledge)
            took, cpu = time.perf_counter() - begun, time.process_time() - cpu
            try:
                bare = pipeline.analyze_paths([alone], "log", knowledge).causes[0].id
            except Exception:  # a log without a line
                bare = "nothing to read"
        first = whole.causes[0]
        size = sum(p.stat().st_size for p in run.bundle.rglob("*") if p.is_file() and p.name != "job.log")
        yield {
            "way": run.way.name, "user": run.user, "status": run.status, "right": run.way.right, "said": first.id, "verdict": whole.verdict,
            "probability": first.probability, "log_alone": bare, "seconds": took, "cpu_s": cpu, "bundle_bytes": size, "bundle": str(run.bundle),
        }  # fmt: skip


def main() -> None:
    """Cause them all, and tell."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--runs", type=int, default=3)
    asked.add_argument("--jobs", type=int, default=4)
    asked.add_argument("--user", choices=("root", "nobody", "both"), default="both")
    asked.add_argument("--only", default="")
    asked.add_argument("--further", action="store_true", help="the ways of more_ways_to_die in place of those of ways_to_die")
    asked.add_argument("--keep", type=Path)
    asked.add_argument("--json", type=Path)
    given = asked.parse_args()
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):  # a shell's background job, and nohup, ignore them
        signal.signal(number, signal.SIG_DFL)
    folder = given.keep or Path(tempfile.mkdtemp(prefix="forensics-deaths-"))
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    shutil.copytree(ROOT / "forensics" / "capture", folder / "code" / "forensics" / "capture", dirs_exist_ok=True)
    for name in ("__init__.py", "version.py"):
        shutil.copy(ROOT / "forensics" / name, folder / "code" / "forensics" / name)
    programs = compiled(folder)
    rows: list[dict[str, object]] = []
    before = RESTRICT.read_text()
    try:
        for user in ("root", "nobody") if given.user == "both" else (given.user,):
            RESTRICT.write_text("1")
            ways = [w for w in (FURTHER if given.further else WAYS) if given.only in w.name]
            tasks = [(w, user, n, folder, programs) for n in range(given.runs) for w in ways]
            with ThreadPoolExecutor(given.jobs) as pool:
                runs = list(pool.map(lambda task: one_run(*task), tasks))
            rows += answers(runs)
    finally:
        RESTRICT.write_text(before)
    tell(rows)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))
    if not given.keep:
        shutil.rmtree(folder, ignore_errors=True)


def is_right(row: dict[str, object]) -> bool:
    """Is the first cause right, or the word that nothing but the bad end is known where that is the truth?"""
    right = tuple(row["right"])  # type: ignore[call-overload]
    return row["said"] in right or row["verdict"] in right


def tell(rows: list[dict[str, object]]) -> None:
    """The misses, then one row for each user."""
    for row in sorted(rows, key=lambda r: (str(r["user"]), str(r["way"]))):
        if not is_right(row):
            print(f"miss  {row['user']:7} {row['way']:42} {row['said']:28} {row['verdict']:12} {row['bundle']}")
    for user in sorted({str(r["user"]) for r in rows}):
        own = [r for r in rows if r["user"] == user]
        right = sum(map(is_right, own))
        alone = sum(r["log_alone"] in r["right"] for r in own)  # type: ignore[operator]
        print(
            f"{user}: {len(own)} deaths, right first {right} ({right / len(own):.3f}); with the job's log alone {alone} ({alone / len(own):.3f})"
        )
        sizes = sorted(int(str(r["bundle_bytes"])) for r in own)
        print(f"  bundle without job.log: median {sizes[len(sizes) // 2]:,} bytes, most {sizes[-1]:,}")


if __name__ == "__main__":
    sys.exit(main())
