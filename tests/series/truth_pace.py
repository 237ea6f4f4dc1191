"""More logs with known truth: evaluations that keep memory, heat, and what only looks so."""

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
