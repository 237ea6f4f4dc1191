"""What a history of 1,000,000 incidents costs, and how often lemons are found among nodes of which some are.

    python benchmarks/history.py million FOLDER        a store is made in FOLDER, and its questions are timed
    python benchmarks/history.py reports REPORTS.jsonl FOLDER    10,000 reports, made of those in a file, are added to that store
    python benchmarks/history.py lemons                30 fleets of 10,000 nodes with 20 lemons of 8 times the rate, and 30 without
    python benchmarks/history.py pairs GROUPS.jsonl    pairs of reports: `case` is GROUP/NUMBER; which are told as the same again

Incidents of the first are drawn: 10,000 nodes, 64 causes, 20,000 fingerprints of Zipf's distribution, two years.
"""

import os
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from forensics.history.again import seen_before
from forensics.history.exchange import incidents_in, reports_in
from forensics.history.fingerprint import Incident, RunFacts, fingerprint
from forensics.history.lemons import Unit, lemons, test_units
from forensics.history.opening import open_store
from forensics.history.page import trend

NODES, CAUSES, PRINTS, START, SPAN = 10_000, 64, 20_000, 1_700_000_000, 2 * 365 * 86_400
LEMONS, WORSE, FLEETS = 20, 8, 30
MACHINE = [f"family.cause_{n}" for n in range(16)]


def drawn(count: int) -> Iterator[Incident]:
    """That many incidents, always the same ones."""
    rng = np.random.default_rng(7)
    prints = np.minimum(rng.zipf(1.3, count), PRINTS)
    nodes, times, jobs, users = (rng.integers(0, n, count) for n in (NODES, SPAN, count // 2, 500))
    for i in range(count):
        cause, like = int(prints[i]) % CAUSES, f"{int(prints[i]):016x}"
        yield Incident(
            key=f"{i:024x}", time=START + int(times[i]), dated=True, added=START, case=f"case-{i:08x}", verdict="crash",
            cause=f"family.cause_{cause}", title="A title", probability=0.9, exact=like, similar=like, line="RuntimeError: " + "x" * 60,
            node=f"gpu-{int(nodes[i]):05d}", job=str(int(jobs[i])), run=f"run-{int(jobs[i]) % 3000:08x}",
            user=f"user-{int(users[i]):08x}", gpu_hours=8.0, version="0.1.0",
        )  # fmt: skip


def timed(what: str, do: Callable[[], object], times: int = 5) -> None:
    """Print the median of so many runs."""
    took = []
    for _ in range(times):
        start = time.perf_counter(), time.process_time()
        do()
        took.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    wall, cpu = sorted(took)[len(took) // 2]
    print(f"{what:<50} {wall:8.3f} s  {cpu:8.3f} s of processor", flush=True)


def million(folder: Path, count: int = 1_000_000) -> None:
    """Make the store where there is none, and time its questions."""
    place = folder / "million.db"
    store = open_store(str(place), keep_names=True)
    if not store.count():
        start = time.perf_counter(), time.process_time()
        store.add(drawn(count), at_once=20_000)
        print(f"loaded {count:,} in {time.perf_counter() - start[0]:.1f} s, {time.process_time() - start[1]:.1f} s of processor")
    print(f"{place.stat().st_size / 2**20:.0f} MiB")
    rare, often = (next(i for i in drawn(5000) if int(i.similar, 16) == n) for n in (40, 1))
    for name, one in (("rare", rare), ("the most frequent", often)):
        print(f"  {name}: {seen_before(store, one).seen:,} incidents alike")
        timed(f"same, {name}", lambda one=one: seen_before(store, one))  # type: ignore[misc]
    hours = {f"gpu-{n:05d}": 10_000.0 for n in range(NODES)}
    timed("nodes --lemons", lambda: lemons(store, MACHINE, hours), 3)
    for by in ("cause", "node", "user"):
        timed(f"trend --by {by}", lambda by=by: trend(store, by), 3)  # type: ignore[misc]


def added(reports: Path, folder: Path, count: int = 10_000) -> None:
    """As many reports as `history add` reads from a file are added to a copy of FOLDER's million, each a transaction."""
    shutil.copyfile(folder / "million.db", folder / "added.db")
    documents = [d for d in map(msgspec.json.decode, reports.read_bytes().splitlines()) if d["verdict"] != "no_crash"]
    with (folder / "added.jsonl").open("wb") as file:
        for n in range(count):
            document = documents[n % len(documents)]
            for proof in document["causes"][0]["evidence"]:
                proof["line"] += 1_000_000  # another line of the log: another incident
            file.write(msgspec.json.encode(document | {"case": f"{document['case']}-{n}"}) + b"\n")
    store = open_store(str(folder / "added.db"))
    start = time.perf_counter(), time.process_time()
    new = store.add(incidents_in(folder / "added.jsonl", 0, b"salt", RunFacts()))
    took = time.perf_counter() - start[0], time.process_time() - start[1]
    print(f"{new:,} reports added in {took[0]:.1f} s, {took[1]:.1f} s of processor; load {os.getloadavg()[0]:.1f}")


def drawn_fleet(bad: int, seed: int, expected: float) -> tuple[Any, Any]:
    """Failures and hours of NODES nodes: an ordinary one works about 5,000 hours and is expected to fail `expected` times in
    them; the first `bad` ones fail WORSE times as often."""
    rng = np.random.default_rng(seed)
    hours = 5_000.0 * rng.gamma(4, 0.25, NODES)
    rates = np.full(NODES, expected / 5_000.0)
    rates[:bad] *= WORSE
    return rng.poisson(rates * hours), hours


def called(counts: Any, hours: Any) -> set[int]:
    """The nodes that are called lemons."""
    found = {str(i): Unit(str(i), int(k), ()) for i, k in enumerate(counts) if k}
    return {int(u.name) for u in test_units(found, {str(i): float(h) for i, h in enumerate(hours)}).units if u.lemon}


def fleets() -> None:
    """Recall and false alarms over FLEETS fleets with lemons and as many without, at several exposures. `best possible`: a
    likelihood ratio that knows both rates and who works how long, with as many false ones a run as is said."""
    for expected in (2.5, 3.0, 3.5, 4.0, 5.0):
        fleets_drawn = [drawn_fleet(LEMONS, seed, expected) for seed in range(FLEETS)]
        planted = [called(*fleet) for fleet in fleets_drawn]
        none = [len(called(*drawn_fleet(0, 1000 + seed, expected))) for seed in range(FLEETS)]
        right, wrong = ([len({n for n in found if (n < LEMONS) == lemon}) for found in planted] for lemon in (True, False))
        ratios = np.array([k * np.log(WORSE) - (WORSE - 1) * expected / 5_000.0 * h for k, h in fleets_drawn])
        best = [np.mean(ratios[:, :LEMONS] > np.sort(ratios[:, LEMONS:].ravel())[-int(f * FLEETS) - 1]) for f in (0.5, 1.0)]
        print(
            f"{expected} failures expected: recall {sum(right) / FLEETS / LEMONS:.3f}, least in a run {min(right)} of {LEMONS}; false"
            f" {sum(wrong) / FLEETS:.2f} a run, most {max(wrong)}; without lemons nobody in {none.count(0)} of {FLEETS} runs;"
            f" best possible {best[0]:.3f} at 0.5 false a run, {best[1]:.3f} at 1",
            flush=True,
        )


def pairs(path: Path) -> None:
    """Precision and recall of pairs at each level, by the groups that the cases are named after."""
    every = [(r.case.rsplit("__", 1)[0], fingerprint(r)) for r in reports_in(path)]
    for level in ("exact", "similar", "cause"):
        hit = wrong = missed = 0
        for (group, one), (other, two) in combinations(every, 2):
            same, told = group == other, getattr(one, level) == getattr(two, level)
            hit, wrong, missed = hit + (same and told), wrong + (told and not same), missed + (same and not told)
        print(
            f"{level}: precision {hit / max(hit + wrong, 1):.3f}, recall {hit / max(hit + missed, 1):.3f} ({hit} {wrong} {missed})"
        )


if __name__ == "__main__":
    random.seed(1)
    what, *given = sys.argv[1:]
    {"million": million, "reports": added, "lemons": fleets, "pairs": pairs}[what](*map(Path, given))  # type: ignore[operator]
