"""More logs with known truth: evaluations that keep memory, uneven epochs, saw-teeth, heat and stragglers, and what only looks so."""

import random

from tests.series.truth import Run, base


def _evaluations(run: Run, rng: random.Random) -> list[int]:
    """Evaluations at even distances, told by a line each; the steps behind which they come."""
    every = rng.randint(8, max(9, len(run.loss) // 6))
    at = list(range(every - 1, len(run.loss) - 4, every))
    run.between |= {i: f"eval step {i} val_loss {run.loss[i] * rng.uniform(1.0, 1.2):.4f}" for i in at}
    return at


def evaluation_jump(rng: random.Random) -> Run:
    """Memory that steps up at each evaluation and stays."""
    run = base(rng, least=60)
    at, height = _evaluations(run, rng), rng.uniform(0.04, 0.5)
    rough = rng.choice([0.0, 0.001, 0.1 * height])
    for i, level in enumerate(run.memory):
        run.memory[i] = run.memory[0] * (1 + height * sum(i > a for a in at) + rng.gauss(0, rough)) if i else level
    return run


def evaluation_peak(rng: random.Random) -> Run:
    """Memory that is higher during evaluations and comes back, or steps up at the first one and has enough."""
    run = base(rng, least=60)
    at, height, keeps = _evaluations(run, rng), rng.uniform(0.1, 1.0), rng.random() < 0.5
    for i in range(len(run.memory)):
        beside = any(0 <= i - a <= 1 for a in at)
        run.memory[i] *= 1 + height * (float(i > at[0]) if keeps else float(beside))
    return run


def _epochs(run: Run, rng: random.Random, seconds: list[float]) -> None:
    """A line at the end of each epoch that tells its time, in one of three forms."""
    steps = len(run.loss) // len(seconds)
    form = rng.choice([
        "Epoch {e} took {s:.2f} s",
        "Epoch: {e:02d} | Epoch Time: {m:.0f}m {r:.0f}s",
        "Epoch {e}: 100%|#####| {n}/{n} [{m:02.0f}:{r:02.0f}<00:00]",
    ])  # fmt: skip
    for e, s in enumerate(seconds):
        run.between[(e + 1) * steps - 1] = form.format(e=e, s=s, m=s // 60, r=s % 60 // 1, n=steps)


def uneven_epochs(rng: random.Random) -> Run:
    """Epochs of which a third takes half as long again, or more."""
    run = base(rng, least=100)
    usual, often, count = rng.uniform(30, 2000), rng.uniform(0.3, 0.5), rng.randint(10, 20)
    slow = [rng.random() < often for _ in range(count)]
    slow[3] = slow[count // 2] = slow[-1] = True
    slow[4] = slow[-2] = False
    _epochs(run, rng, [usual * rng.lognormvariate(0, 0.04) * (rng.uniform(1.6, 4) if s else 1.0) for s in slow])
    return run


def even_epochs(rng: random.Random) -> Run:
    """Epochs of about the same time, the first one slower, at times one with a pause."""
    run = base(rng, least=100)
    usual, count = rng.uniform(30, 2000), rng.randint(8, 20)
    seconds = [usual * rng.lognormvariate(0, 0.06) for _ in range(count)]
    seconds[0] *= rng.uniform(1, 5)
    seconds[rng.randrange(count)] *= rng.choice([1.0, 3.0])
    _epochs(run, rng, seconds)
    return run


def waves(rng: random.Random) -> Run:
    """Steps that are slow again and again: each so many, or in stretches."""
    run = base(rng, least=120)
    period, factor = rng.randint(3, 16), rng.uniform(4, 10)
    slow = 1 if period < 8 else max(1, round(period * rng.uniform(0.2, 0.5)))
    run.seconds = [s * (factor if i % period < slow else 1.0) for i, s in enumerate(run.seconds)]
    return run


def _query(heat: float, clock: float, reasons: int) -> str:
    return f"{{clock:%Y/%m/%d %H:%M:%S}}.000, 0, {heat:.0f}, 40960 MiB, 390.12 W, {clock:.0f} MHz, 0x{reasons:016x}"


HEAD = "timestamp, index, temperature.gpu, memory.used [MiB], power.draw [W], clocks.current.sm [MHz], clocks_throttle_reasons.active"


def throttled(rng: random.Random) -> Run:
    """Steps that slow down while clocks are held down, with a reason told or with falling clocks and heat alone."""
    run = base(rng, least=60)
    n, factor = len(run.seconds), rng.uniform(1.8, 4)
    at, told = rng.randint(n // 3, n * 2 // 3), rng.choice([0x20, 0x40, 0x80, 0x4, 0x0])
    run.seconds = [s * (factor if i >= at else 1.0) for i, s in enumerate(run.seconds)]
    for i in range(n):
        slow = i >= at
        heat = rng.gauss(86 if slow else 62, 1)
        run.tools[i] = _query(heat, rng.gauss(1400 / (factor if slow else 1), 10), told if slow else 0)
    run.tools[0] = HEAD + "\n" + run.tools[0]
    return run


def warm_gpu(rng: random.Random) -> Run:
    """A busy GPU at its power cap all the time, warm, at an even pace."""
    run = base(rng, least=60)
    level = rng.uniform(60, 90)
    run.tools = {i: _query(rng.gauss(level, 1), rng.gauss(1400, 15), 0x4) for i in range(len(run.seconds))}
    run.tools[0] = HEAD + "\n" + run.tools[0]
    return run


def straggler(rng: random.Random) -> Run:
    """Several ranks, one of them slower than the others."""
    run = base(rng, least=20, most=60)
    run.ranks = [1.0] * rng.randint(3, 8)
    run.ranks[rng.randrange(len(run.ranks))] = rng.uniform(1.4, 3)
    return run


def even_ranks(rng: random.Random) -> Run:
    """Several ranks that are about as fast."""
    run = base(rng, least=20, most=60)
    run.ranks = [rng.uniform(0.97, 1.03) for _ in range(rng.randint(3, 8))]
    return run
