"""Logs with known truth: a made run of some hundred steps, printed in one of several dialects, with at most one thing wrong.

Every log carries a loss, a gradient norm, a time per step and memory, so each detector meets each family. The numbers are made
here from a seed; nothing is copied from real logs but the form of their lines.
"""

import datetime
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field

START = datetime.datetime(2025, 3, 1, 22, 15)
GIB = 1 << 30


@dataclass
class Run:
    """What happens at each printed step: seconds it took, loss, gradient norm, bytes of memory.

    `between`: lines behind a step, `tools`: the same without a stamp, `after`: lines behind the last with the seconds in front of
    them.
    """

    rng: random.Random
    seconds: list[float]
    loss: list[float]
    norm: list[float]
    memory: list[float]
    total: int
    after: list[tuple[float, str]] = field(default_factory=list)
    between: dict[int, str] = field(default_factory=dict)
    tools: dict[int, str] = field(default_factory=dict)


def base(rng: random.Random, least: int = 40, most: int = 300) -> Run:
    """A run in which all is well."""
    n = rng.randint(least, most)
    first, last, speed = rng.uniform(2, 12), rng.uniform(0.05, 2), rng.uniform(2, 8)
    wobble, pace = rng.uniform(0.01, 0.1), rng.choice([0.05, 0.4, 2.0, 20.0]) * rng.uniform(0.7, 1.4)
    level, jitter = rng.uniform(0.4, 30) * GIB, rng.choice([0.0, 0.001, 0.01])
    loss = [(last + (first - last) * math.exp(-speed * i / n)) * rng.lognormvariate(0, wobble) for i in range(n)]
    norm = [rng.lognormvariate(0, 0.4) for _ in range(n)]
    seconds = [pace * rng.lognormvariate(0, 0.08) for _ in range(n)]
    seconds[0] *= rng.uniform(1, 20)
    memory = [level * (1 + rng.gauss(0, jitter)) for _ in range(n)]
    return Run(rng, seconds, loss, norm, memory, n + rng.randint(10, 2000))


def healthy(rng: random.Random) -> Run:
    """Nothing wrong: pauses for evaluation and checkpoints, and in every second log an end that is told."""
    run = base(rng)
    for at in range(rng.randint(10, 40), len(run.loss), rng.randint(20, 60)):
        run.between[at] = rng.choice(["saving checkpoint to out/last.pt", "eval accuracy 0.71", "evaluation: 120 batches"])
    if rng.random() < 0.5:
        run.total = len(run.loss)
        run.after = [(5.0, "training finished"), (1.0, "saved final model")]
    return run


def noise(rng: random.Random) -> Run:
    """Memory, loss and step times that depend on the batch."""
    run = base(rng)
    level, spread = run.memory[0], rng.uniform(0.02, 0.3)
    run.memory = [level * rng.lognormvariate(0, spread) for _ in run.memory]
    run.loss = [x * rng.lognormvariate(0, 0.3) for x in run.loss]
    slow = rng.uniform(0.1, 0.5)
    run.seconds = [x * rng.lognormvariate(0, slow) for x in run.seconds]
    return run


def warm_up(rng: random.Random) -> Run:
    """Memory that rises at first and flattens: exponentially, or in one to three steps."""
    run = base(rng)
    n, level, more = len(run.memory), run.memory[0], rng.uniform(0.3, 6)
    if rng.random() < 0.6:
        speed = n * rng.uniform(0.01, 0.2)
        shape = [1 - math.exp(-i / speed) for i in range(n)]
    else:
        edges = sorted(rng.randrange(n) for _ in range(rng.randint(1, 3)))
        shape = [sum(i >= e for e in edges) / len(edges) for i in range(n)]
    jitter = rng.choice([0.0, 0.002, 0.01])
    run.memory = [level * (1 + more * s) * (1 + rng.gauss(0, jitter)) for s in shape]
    return run


def saw_tooth(rng: random.Random) -> Run:
    """Memory that rises and is given back, again and again."""
    run = base(rng)
    n, level, height = len(run.memory), run.memory[0], rng.uniform(0.1, 3)
    period, shift = rng.uniform(4, max(5.0, n / 3)), rng.random()
    run.memory = [level * (1 + height * ((i / period + shift) % 1) + rng.gauss(0, 0.005)) for i in range(n)]
    return run


def leak(rng: random.Random) -> Run:
    """Memory that grows to the end: evenly, by a stair each epoch, or under a saw-tooth, with noise and a warm-up."""
    run = base(rng, least=12)
    n, level, more = len(run.memory), run.memory[0], rng.uniform(0.3, 8)
    form = rng.choice(["even", "even", "stairs", "teeth"])
    stairs, period = rng.randint(10, 40), rng.uniform(4, max(5.0, n / 8))
    warm, rough = rng.choice([0.0, 0.0, 0.3]), rng.choice([0.0, 0.01, 0.05, 0.1])
    for i in range(n):
        part = i / n
        shape = math.floor(part * stairs) / stairs if form == "stairs" else part
        teeth = 0.25 * more * ((i / period) % 1) if form == "teeth" else 0.0
        grown = more * shape + teeth + warm * (1 - math.exp(-20 * part))
        run.memory[i] = level * (1 + grown + rng.gauss(0, rough * more))
    return run


def nan(rng: random.Random) -> Run:
    """A loss that becomes NaN and stays so, at times after a spike."""
    run = base(rng)
    at = rng.randint(len(run.loss) // 10 + 2, len(run.loss) - 4)
    spike = rng.choice([0, 0, 3, 6])
    for i in range(max(1, at - spike), at):
        run.loss[i] *= 10 ** (i - at + spike + 1)
        run.norm[i] *= 100.0
    for i in range(at, len(run.loss)):
        run.loss[i] = math.nan if rng.random() < 0.98 else math.inf
        run.norm[i] = math.nan
    return run


def divergence(rng: random.Random) -> Run:
    """A loss that explodes and stays high without ever becoming NaN."""
    run = base(rng)
    at, factor = rng.randint(len(run.loss) // 4, len(run.loss) * 3 // 4), 10 ** rng.uniform(2, 6)
    for i in range(at, len(run.loss)):
        run.loss[i] = run.loss[at] * factor ** min(1.0, (i - at) / 10) * rng.lognormvariate(0, 0.2)
    return run


def overflow(rng: random.Random) -> Run:
    """Single steps of inf that the loss scaler skips, and a scale that settles."""
    run, scale = base(rng), 65536.0
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(run.loss) - 1)
        for i in range(at, min(at + rng.randint(1, 3), len(run.loss) - 1)):
            run.norm[i] = math.inf
            run.loss[i] = rng.choice([math.inf, math.nan, run.loss[i]])
            scale = max(128.0, scale / 2)
            run.between[i] = f"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {scale}"
    return run


def stall(rng: random.Random) -> Run:
    """Progress that stops while the log goes on: a heartbeat, or trouble long after."""
    run = base(rng)
    silent = max(900.0, 30 * max(run.seconds)) * rng.uniform(1, 10)
    if rng.random() < 0.6:
        beats = rng.randint(4, 20)
        run.after = [(silent / beats, f"heartbeat: job 4711 is alive, {i} reports") for i in range(beats)]
    else:
        run.after = [(silent, rng.choice(["slurmstepd: error: *** STEP 99.0 CANCELLED ***", "job was killed by its owner"]))]
    return run


def slow_down(rng: random.Random) -> Run:
    """Steps that take twice to ten times as long from some step on."""
    run = base(rng, least=50)
    n, factor, at = len(run.seconds), rng.uniform(2, 10), 0
    at = rng.randint(n // 4, n * 3 // 4)
    run.seconds = [x * (factor if i >= at else 1) for i, x in enumerate(run.seconds)]
    return run


def _plain(i: int, run: Run) -> str:
    rss, norm = run.memory[i] / (1 << 20), run.norm[i]
    return f"INFO step {i} loss {run.loss[i]:.4g} grad_norm {norm:.4g} step_time {run.seconds[i]:.4g}s rss {rss:,.1f} MB"


def _dictionary(i: int, run: Run) -> str:
    rate = 32 / run.seconds[i]
    return (
        f"{{'loss': {run.loss[i]:.5g}, 'grad_norm': {run.norm[i]:.4g}, 'step': {i}, 'samples_per_second': {rate:.5g}, "
        f"'memory_allocated': {run.memory[i]:.0f}}}"
    )


def _mmengine(i: int, run: Run) -> str:
    return (
        f"- mmdet - INFO - Epoch [1][{i}/{run.total}]\tlr: 1.978e-03, eta: 2:36:29, time: {run.seconds[i]:.4f}, data_time: 0.004, "
        f"GPU memory used: {run.memory[i] / GIB:.3f} GiB, loss: {run.loss[i]:.4f}, grad_norm: {run.norm[i]:.4f}"
    )


def _megatron(i: int, run: Run) -> str:
    return (
        f" iteration {i:8}/{run.total:8} | elapsed time per iteration (ms): {run.seconds[i] * 1000:.1f} | learning rate: 5.880E-05 | "
        f"lm loss: {run.loss[i]:.6E} | loss scale: 65536.0 | grad norm: {run.norm[i]:.3f} | memory (MB) allocated: "
        f"{run.memory[i] / (1 << 20):.2f} |"
    )


def _bar(i: int, run: Run) -> str:
    rate = f"{1 / run.seconds[i]:.2f}it/s" if run.seconds[i] < 1 else f"{run.seconds[i]:.2f}s/it"
    done = f"{100 * i // run.total}%|###   | {i}/{run.total} [00:00<01:10, {rate}, "
    return f"Epoch 0: {done}loss={run.loss[i]:.4g}, grad_norm={run.norm[i]:.3g}] rss={run.memory[i]:.0f}"


DIALECTS: tuple[Callable[[int, Run], str], ...] = (_plain, _dictionary, _mmengine, _megatron, _bar)


def printed(run: Run) -> str:
    """The log of a run in one of the dialects, with stamps."""
    dialect, clock = run.rng.choice(DIALECTS), START
    lines = [f"{clock:%Y-%m-%d %H:%M:%S},000 INFO starting run with seed {run.rng.randint(0, 99)}"]
    for i in range(len(run.loss)):
        clock += datetime.timedelta(seconds=run.seconds[i])
        stamp = f"{clock:%Y-%m-%d %H:%M:%S},{clock.microsecond // 1000:03}"
        lines.append(f"{stamp} {dialect(i, run)}")
        if i in run.between:
            lines += [f"{stamp} {text}" for text in run.between[i].splitlines()]
        if i in run.tools:
            lines.append(run.tools[i].format(clock=clock))
    for pause, text in run.after:
        clock += datetime.timedelta(seconds=pause)
        lines.append(f"{clock:%Y-%m-%d %H:%M:%S},000 {text}")
    return "\n".join(lines) + "\n"
