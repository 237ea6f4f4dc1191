"""What a fleet costs: against `batch`, with one worker and two, and what its scheduler pays for many workers.

    python benchmarks/fleet.py make LOGS FILLER FOLDER 1000   cases of 5 MB: the real cases of LOGS, each beside 5 MB of FILLER's logs;
                                                             200 are written, all others are hard links to them
    python benchmarks/fleet.py cost FOLDER [batch] [1] [2]   batch, fleets of one worker and of two: processor time, clock, memory
    python benchmarks/fleet.py scheduler WORKERS TASKS SECONDS.txt   tasks that sleep as long as real ones took, on a real scheduler
    python benchmarks/fleet.py page ROWS                      a folder of so many rows is made, and its summary page

Processor time is that of all processes; machines that do other work make the clock's useless and leave it nearly as it is.
"""

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from forensics.fleet import Case, engine
from forensics.fleet.worker import Analysed, Limits

MIB = 1 << 20
DISTINCT, FILLER_BYTES = 200, 5_000_000
REPORT_BYTES = 20_000  # the median report
LOOK_S = 0.2


def make(logs: str, filler: str, folder: str, count: str) -> None:
    """Cases, each a folder: the files of one of LOGS, and a window of all that stands in FILLER."""
    text = b"".join(p.read_bytes() for p in sorted(Path(filler).rglob("*")) if p.is_file())
    real = sorted(p for p in Path(logs).iterdir() if p.is_dir())
    for n in range(int(count)):
        case = Path(folder) / f"case-{n:05d}"
        if n >= DISTINCT:
            like = Path(folder) / f"case-{n % DISTINCT:05d}"
            for path in [p for p in like.rglob("*") if p.is_file()]:
                (case / path.relative_to(like)).parent.mkdir(parents=True, exist_ok=True)
                os.link(path, case / path.relative_to(like))
            continue
        source = real[n % len(real)]
        for path in [p for p in source.rglob("*") if p.is_file()]:
            (case / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
            (case / path.relative_to(source)).write_bytes(path.read_bytes())
        start = n * (len(text) - FILLER_BYTES) // DISTINCT
        (case / "earlier.log").write_bytes(text[start : start + FILLER_BYTES])


def cost(folder: str, *asked: str) -> None:
    """Batch, one worker, two workers, or those of them that are asked; what each process held at most."""
    cases = sum(1 for p in Path(folder).iterdir() if p.is_dir())
    found: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as place:
        for what in asked or ("batch", "1", "2"):
            fleet = ["fleet", folder, "--workers", what, "-o", f"{place}/{what}"]
            name = "batch" if what == "batch" else f"fleet, {what} workers"
            found[what] = _measured(name, ["batch", folder] if what == "batch" else fleet, cases)
    if {"batch", "1"} <= set(found):
        print(f"Dask adds {found['1'][0] / found['batch'][0] - 1:.1%} of processor")
    if {"1", "2"} <= set(found):
        cpu, wall = (found["1"][i] / found["2"][i] for i in (0, 1))
        print(f"two workers: {cpu:.2f} of linear by processor time, {wall / 2:.2f} by the clock; load {os.getloadavg()[0]:.1f}")


def _measured(name: str, arguments: list[str], cases: int) -> tuple[float, float]:
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "forensics", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    most: dict[int, tuple[str, int, float]] = {}
    watching = threading.Thread(target=_watch, args=(process, most))
    watching.start()
    status = process.wait()
    watching.join()
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{name}: status {status}, {cpu:.1f} s of processor, {1000 * cpu / cases:.1f} ms a case, {wall:.1f} s", flush=True)
    for what, held, used in sorted(most.values(), reverse=True):
        print(f"    {held / MIB:6.0f} MiB {used:6.1f} s of processor  {what}", flush=True)
    return cpu, wall


def _watch(process: "subprocess.Popen[bytes]", most: dict[int, tuple[str, int, float]]) -> None:
    """The proportional set size of each process below: what is shared is counted once."""
    while process.poll() is None:
        for pid in _below(process.pid):
            try:
                lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
                held = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
                words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
            except (OSError, StopIteration, IndexError):
                continue
            what = next((w for w in words if "helper" in w or "resource_tracker" in w), "worker" if "-c" in words else "client")
            most[pid] = (what, max(held, most.get(pid, ("", 0, 0.0))[1]), _processor(pid))
        time.sleep(LOOK_S)


def _below(pid: int) -> list[int]:
    found = [pid]
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in path.read_text().split():
                found += _below(int(child))
        except OSError:
            continue
    return found


def scheduler(workers: str, tasks: str, times: str) -> None:
    """A real scheduler, real workers that share a few processes, and the client's own loop; each task sleeps."""
    took = [float(t) for t in Path(times).read_text().split()]
    many, count = int(workers), int(tasks)
    with tempfile.TemporaryDirectory() as place:
        file = f"{place}/scheduler.json"
        server = subprocess.Popen([sys.executable, __file__, "serve", file])
        while not Path(file).exists():
            time.sleep(0.1)
        hosts = [subprocess.Popen([sys.executable, __file__, "work", file, str(n)]) for n in _shares(many)]
        try:
            import distributed

            with distributed.Client(scheduler_file=file) as client:
                client.wait_for_workers(many, timeout=600)
                idle = _processor(server.pid)
                time.sleep(10)
                idle = (_processor(server.pid) - idle) / 10
                engine.analysed = _sleeping(took)  # type: ignore[assignment]
                cases = (Case(str(n), (f"incidents/{n}",), "/data") for n in range(count))
                start = time.perf_counter(), _processor(server.pid), time.process_time()
                done = sum(1 for _ in engine.reports(client, cases, Limits()))
                wall = time.perf_counter() - start[0]
                paid, own = _processor(server.pid) - start[1], time.process_time() - start[2]
                held = int(Path(f"/proc/{server.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        finally:
            for process in (*hosts, server):
                process.terminate()
                process.wait()
    ideal = sum(took[n % len(took)] for n in range(count)) / many
    print(
        f"{many} workers, {done} tasks: scheduler {1000 * paid / done:.2f} ms of processor a task, {idle / many * 1000:.3f} ms a second"
    )
    print(
        f"for each idle worker, {held / MIB:.0f} MiB; client {1000 * own / done:.2f} ms a task; {wall:.1f} s, without any cost {ideal:.1f} s;"
    )
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)


def _shares(many: int, most: int = 250) -> list[int]:
    return [min(most, many - n) for n in range(0, many, most)]


def _processor(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _sleeping(took: list[float]) -> Callable[[Case, Limits], Awaitable[Analysed]]:
    """What a worker does instead of an analysis; it holds the worker's one thread slot and no thread."""
    made, size = Analysed, REPORT_BYTES

    async def analysed(case: Case, _limits: Limits) -> Analysed:
        seconds = took[int(case.name) % len(took)]
        await asyncio.sleep(seconds)
        return made(case.name, b"x" * size, "", seconds)

    return analysed


def serve(file: str) -> None:
    """The scheduler as a process of its own, so that its processor time is known."""
    from distributed import Scheduler

    async def go() -> None:
        async with Scheduler(scheduler_file=file, dashboard=False, port=0, host="127.0.0.1") as running:
            await running.finished()

    asyncio.run(go())


def work(file: str, count: str) -> None:
    """So many workers in one process."""
    from distributed import Worker

    async def go() -> None:
        made = [Worker(scheduler_file=file, nthreads=1, dashboard=False, memory_limit=0) for _ in range(int(count))]
        await asyncio.gather(*made)
        await asyncio.gather(*(w.finished() for w in made))

    asyncio.run(go())


def page(rows: str) -> None:
    """The page of a fleet of so many incidents, and how large it is."""
    from history import drawn

    from forensics.history.opening import open_store
    from forensics.history.page import page as written

    store = open_store(":memory:", keep_names=True)
    start = time.process_time()
    store.add(drawn(int(rows)), at_once=5000)
    filled = time.process_time()
    text = written(store, f"{rows} cases", None)
    print(f"store {filled - start:.1f} s of processor, page {time.process_time() - filled:.2f} s, {len(text) / 1024:.0f} KiB")


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    {"make": make, "cost": cost, "scheduler": scheduler, "serve": serve, "work": work, "page": page}[what](*given)  # type: ignore[operator]
