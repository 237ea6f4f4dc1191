"""Units that fail more often than the others of their fleet: nodes, GPUs, DIMMs, links, switches.

Counted are separate jobs that a machine's own fault ended (gpu_hardware, host_hardware ...) with the unit at fault; a victim,
whose peer was lost or timed out, never counts against its node.

With exposure (hours of work by unit) each unit's count k is tested against the fleet's rate r with P(K >= k), K ~ Poisson(r *
hours), one-sided; Benjamini-Hochberg over all units keeps the expected share of false ones at most FALSE_SHARE. The rate that is
reported is shrunken towards the fleet's: a gamma prior fitted to all units by moments, its posterior mean and 90 % interval.

Without exposure only counts can be given: a node that fails twice as often may have worked twice as much.

Sources: Benjamini, Hochberg 1995; the fleet's rate is that of the units without the candidates, estimated again until it stands.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import func, select

from forensics.core.errors import UsageError
from forensics.history.tables import INCIDENT_TABLE

if TYPE_CHECKING:
    from forensics.history.store import Store

UNIT_KINDS = ("node", "gpu", "dimm", "link", "switch")
FALSE_SHARE = 0.05  # of the units called lemons, in expectation
LEAST_JOBS = 3  # two may be one story: a job and its restart
CONFIDENCE_LEVEL = 0.90  # of the interval of a rate
ROUNDS = 10  # the rate of the rest stands after two or three
RATE_HOURS = 1000  # rates are told for a thousand hours, six weeks: of an hour they would be unreadably small
MOST_TOLD = 500  # units whose causes are looked up
C = INCIDENT_TABLE.c


class Unit(Struct, frozen=True):
    """One unit. `jobs`: separate ones that its fault ended. `causes`: the most frequent first, of the first MOST_TOLD units.

    The rest needs exposure.

    `rate`, `low`, `high`: per 1,000 hours, shrunken. `p`: of so many or more by chance; `q`: over all units (Benjamini-Hochberg).
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
    """All units with a fault of their own, the worst first. `note`: what the reader has to know of it.

    `fleet_rate`: per 1,000 hours of the ordinary ones; None without exposure.
    """

    unit: str
    units: tuple[Unit, ...]
    fleet_rate: float | None
    note: str


def lemons(
    store: "Store", machine_causes: Iterable[str], exposure: Mapping[str, float] | None = None, unit: str = "node", since: int = 0
) -> Lemons:
    """The units of that kind. `machine_causes`: ids of the causes that are the machine's own. `exposure`: hours by unit."""
    if unit not in UNIT_KINDS:
        raise UsageError(f"no unit {unit!r}", "history nodes", f"choose one of {', '.join(UNIT_KINDS)}")
    causes = sorted(machine_causes)
    found = _counted(store, causes, unit, since)
    if not exposure:
        note = (
            "exposure is unknown: how much each worked was not given, so counts are told and no rate; give --exposure sacct.csv"
        )
        made = Lemons(unit, tuple(sorted(found.values(), key=lambda u: (-u.jobs, u.name))), None, note)
    else:
        made = test_units(found, exposure, unit)
    return _with_causes(store, made, causes, since)


def _counted(store: "Store", machine_causes: Iterable[str], unit: str, since: int) -> dict[str, Unit]:
    """Separate jobs by unit; an incident without a job's number is a job of its own."""
    name, count = C[unit], func.count()
    counted = [C.cause.in_(sorted(machine_causes)), C.verdict == "crash", name != "", *([C.time >= since] if since else [])]
    separate = select(name.label("name"), C.job).where(*counted, C.job != "").distinct().subquery()
    each = (
        select(separate.c.name, count).group_by(separate.c.name),
        select(name, count).where(*counted, C.job == "").group_by(name),
    )
    jobs: dict[str, int] = {}
    with store.engine.connect() as connection:
        for asked in each:
            for unit_name, found in connection.execute(asked):
                jobs[unit_name] = jobs.get(unit_name, 0) + found
    return {n: Unit(n, k, ()) for n, k in jobs.items()}


def _with_causes(store: "Store", found: Lemons, machine_causes: Iterable[str], since: int) -> Lemons:
    """The causes of the units that may be shown; looking up all would take longer than everything else."""
    listed = {u.name for u in found.units[:MOST_TOLD]}
    name, count = C[found.unit], func.count()
    asked = select(name, C.cause).where(name.in_(sorted(listed)), C.cause.in_(sorted(machine_causes)), C.verdict == "crash")
    asked = (asked.where(C.time >= since) if since else asked).group_by(name, C.cause).order_by(count.desc(), C.cause)
    causes: dict[str, list[str]] = {}
    with store.engine.connect() as connection:
        for unit_name, cause in connection.execute(asked):
            causes.setdefault(unit_name, []).append(cause)
    return replace(found, units=tuple(replace(u, causes=tuple(causes.get(u.name, ()))) for u in found.units))


def test_units(found: Mapping[str, Unit], exposure: Mapping[str, float], unit: str = "node") -> Lemons:
    """Each unit against the fleet's rate. Units without hours are listed and not tested."""
    import numpy as np
    from scipy.stats import poisson

    names = [n for n, hours in exposure.items() if hours > 0]
    counts = np.array([found[n].jobs if n in found else 0 for n in names], dtype=float)
    hours = np.array([exposure[n] for n in names], dtype=float)
    if not names or hours.sum() <= 0:
        raise UsageError("no unit with hours of work", "exposure", "give a file `node,hours`, or one that sacct wrote")
    called = np.zeros(len(names), dtype=bool)
    for _ in range(ROUNDS):
        rate = counts[~called].sum() / hours[~called].sum()
        p = poisson.sf(counts - 1, rate * hours)
        q = q_values(p)
        now = (q <= FALSE_SHARE) & (counts >= LEAST_JOBS)
        if (now == called).all():
            break
        called = now
    means, lows, highs = shrunken_rates(counts, hours)
    made: list[Unit] = []
    for i, name in enumerate(names):
        if name in found:
            rates = (float(v[i]) * RATE_HOURS for v in (means, lows, highs))
            rate_fields = dict(zip(("rate", "low", "high"), rates, strict=True))
            sure = {"p": float(p[i]), "q": float(q[i]), "lemon": bool(called[i])}
            made.append(replace(found[name], hours=float(hours[i]), **rate_fields, **sure))
    worked = set(names)
    untested = [u for n, u in found.items() if n not in worked]
    note = f"{len(untested)} of them have no hours in the exposure and were not tested" if untested else ""
    made.sort(key=lambda u: (not u.lemon, u.p if u.p is not None else 1.0, u.name))
    return Lemons(unit, (*made, *untested), float(rate) * RATE_HOURS, note)


def q_values(p: Any) -> Any:
    """Benjamini and Hochberg's q values of an array of p values."""
    import numpy as np

    order = np.argsort(p)
    ranked = p[order] * len(p) / np.arange(1, len(p) + 1)
    q = np.empty_like(ranked)
    q[order] = np.minimum.accumulate(ranked[::-1])[::-1].clip(max=1.0)
    return q


def shrunken_rates(counts: Any, hours: Any) -> tuple[Any, Any, Any]:
    """Posterior mean, low and high end of each rate per hour, under a gamma prior with the fleet's own mean and variance.

    The variance between units is what is left of the counts' variance beyond a Poisson's; at least a thousandth of it, so that a
    fleet of equals shrinks nearly all the way.
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
