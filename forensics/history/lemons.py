"""Lemons: nodes, GPUs, DIMMs, links and switches that fail more often than the rest of their fleet.

Counted are separate jobs that a hardware fault (gpu_hardware, host_hardware ...) of the unit ended. A job that only lost a peer
does not count against its node.

With exposure (hours of work of each unit) the count k of a unit is tested against the fleet's rate r: P(K >= k) with K ~
Poisson(r * hours), one-sided. The Benjamini-Hochberg procedure over all units keeps the expected share of false lemons below
FALSE_SHARE. The fleet's rate is that of the units which are not lemons; it is estimated repeatedly until the lemons no longer
change. The reported rate of a unit is shrunken towards the fleet's: posterior mean and 90 % interval under a gamma prior,
fitted by moments.

Without exposure only counts are given: a node that fails twice as often may have worked twice as much.

Source: Benjamini and Hochberg 1995.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import func, select

from forensics.core.errors import UsageError
from forensics.history.store import C

if TYPE_CHECKING:
    from forensics.history.store import Store

UNIT_KINDS = ("node", "gpu", "dimm", "link", "switch")
FALSE_SHARE = 0.05  # of the units called lemons, in expectation
MIN_FAILED_JOBS = 3  # two may be one fault: a job and its restart
CONFIDENCE_LEVEL = 0.90  # of the interval of a rate
MAX_ROUNDS = 10  # the rate of the fleet converges in two or three
RATE_HOURS = 1000  # rates are given per thousand hours, six weeks: per hour they would be unreadably small
MAX_UNITS_WITH_CAUSES = 500  # units whose causes are looked up


class Unit(Struct, frozen=True):
    """One unit. `jobs`: the separate jobs that its faults ended. `causes`: the most frequent first.

    The other fields need exposure. `rate`, `low`, `high`: failures per 1,000 hours, shrunken. `p`: probability of so many or more
    failures by chance; `q`: the same corrected for the number of units (Benjamini-Hochberg).
    """

    name: str
    jobs: int
    causes: tuple[str, ...]
    hours: float | None = None
    rate: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    q: float | None = None
    lemon: bool = False


class Lemons(Struct, frozen=True):
    """All units with a fault of their own, the worst first. `note`: a remark for the reader.

    `fleet_rate`: failures per 1,000 hours of the units that are not lemons; None without exposure.
    """

    unit: str
    units: tuple[Unit, ...]
    fleet_rate: float | None
    note: str


def lemons(
    store: "Store", machine_causes: Iterable[str], exposure: Mapping[str, float] | None = None, unit: str = "node", since: int = 0
) -> Lemons:
    """The units of the kind `unit`. `machine_causes`: ids of the hardware causes. `exposure`: hours of work by unit. `since`:
    seconds since 1970."""
    if unit not in UNIT_KINDS:
        raise UsageError(f"no unit {unit!r}", "history nodes", f"choose one of {', '.join(UNIT_KINDS)}")
    causes = sorted(machine_causes)
    found = _counted(store, causes, unit, since)
    if not exposure:
        note = "the hours of work are unknown, so there are counts and no rates; give --exposure sacct.csv"
        made = Lemons(unit, tuple(sorted(found.values(), key=lambda u: (-u.jobs, u.name))), None, note)
    else:
        made = test_units(found, exposure, unit)
    return _with_causes(store, made, causes, since)


def _counted(store: "Store", machine_causes: Iterable[str], unit: str, since: int) -> dict[str, Unit]:
    """The number of separate jobs by unit; an incident without a job number counts as one job."""
    name, count = C[unit], func.count()
    counted = [C.cause.in_(sorted(machine_causes)), C.verdict == "crash", name != "", *([C.time >= since] if since else [])]
    separate = select(name.label("name"), C.job).where(*counted, C.job != "").distinct().subquery()
    each = (
        select(separate.c.name, count).group_by(separate.c.name),
        select(name, count).where(*counted, C.job == "").group_by(name),
    )
    jobs: dict[str, int] = {}
    with store.engine.connect() as connection:
        for query in each:
            for unit_name, found in connection.execute(query):
                jobs[unit_name] = jobs.get(unit_name, 0) + found
    return {n: Unit(n, k, ()) for n, k in jobs.items()}


def _with_causes(store: "Store", found: Lemons, machine_causes: Iterable[str], since: int) -> Lemons:
    """`found` with the causes of its first units; looking up those of all would take longer than everything else."""
    listed = {u.name for u in found.units[:MAX_UNITS_WITH_CAUSES]}
    name, count = C[found.unit], func.count()
    query = select(name, C.cause).where(name.in_(sorted(listed)), C.cause.in_(sorted(machine_causes)), C.verdict == "crash")
    query = (query.where(C.time >= since) if since else query).group_by(name, C.cause).order_by(count.desc(), C.cause)
    causes: dict[str, list[str]] = {}
    with store.engine.connect() as connection:
        for unit_name, cause in connection.execute(query):
            causes.setdefault(unit_name, []).append(cause)
    return replace(found, units=tuple(replace(u, causes=tuple(causes.get(u.name, ()))) for u in found.units))


def test_units(found: Mapping[str, Unit], exposure: Mapping[str, float], unit: str = "node") -> Lemons:
    """Test each unit against the fleet's rate. Units without hours are listed and not tested."""
    import numpy as np
    from scipy.stats import false_discovery_control, poisson

    names = [n for n, hours in exposure.items() if hours > 0]
    counts = np.array([found[n].jobs if n in found else 0 for n in names], dtype=float)
    hours = np.array([exposure[n] for n in names], dtype=float)
    if not names or hours.sum() <= 0:
        raise UsageError("no unit with hours of work", "exposure", "give a file `node,hours`, or one that sacct wrote")
    is_lemon = np.zeros(len(names), dtype=bool)
    for _ in range(MAX_ROUNDS):
        rate = counts[~is_lemon].sum() / hours[~is_lemon].sum()
        p = poisson.sf(counts - 1, rate * hours)
        q = false_discovery_control(p)  # Benjamini and Hochberg's
        now = (q <= FALSE_SHARE) & (counts >= MIN_FAILED_JOBS)
        if (now == is_lemon).all():
            break
        is_lemon = now
    means, lows, highs = shrunken_rates(counts, hours)
    made: list[Unit] = []
    for i, name in enumerate(names):
        if name in found:
            rates = (float(v[i]) * RATE_HOURS for v in (means, lows, highs))
            rate_fields = dict(zip(("rate", "low", "high"), rates, strict=True))
            test_fields = {"p": float(p[i]), "q": float(q[i]), "lemon": bool(is_lemon[i])}
            made.append(replace(found[name], hours=float(hours[i]), **rate_fields, **test_fields))
    worked = set(names)
    untested = [u for n, u in found.items() if n not in worked]
    note = f"{len(untested)} of them have no hours in the exposure and were not tested" if untested else ""
    made.sort(key=lambda u: (not u.lemon, u.p if u.p is not None else 1.0, u.name))
    return Lemons(unit, (*made, *untested), float(rate) * RATE_HOURS, note)


def shrunken_rates(counts: Any, hours: Any) -> tuple[Any, Any, Any]:
    """Posterior mean, low and high end of the rate per hour of each unit, under a gamma prior with the fleet's mean and variance.

    The variance between units is the variance of the counts minus that of a Poisson distribution. It is at least a thousandth, so
    that the rates of a fleet of equal units shrink to nearly the same value.
    """
    import numpy as np
    from scipy.stats import gamma

    mean = max(counts.sum() / hours.sum(), 1e-12)
    expected = mean * hours
    spread = ((counts - expected) ** 2 - expected).sum() / (expected**2).sum()  # squared coefficient of variation between units
    shape = 1 / max(float(spread), 1e-3)
    a, b = shape + counts, shape / mean + hours
    tail = (1 - CONFIDENCE_LEVEL) / 2
    return a / b, gamma.ppf(tail, a) / b, gamma.ppf(1 - tail, a) / np.asarray(b)
