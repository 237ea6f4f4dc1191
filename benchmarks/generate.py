"""Logs to measure on: a mixed training log of any size, dense floods, and many small files. Made, not captured; seeds are fixed.

python benchmarks/generate.py mixed 1000 /tmp/mixed.log      about 1,000 MB, one failure near its end
"""

import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

BLOCK_LINES = 20_000
NEWLINE = "\n"
JOURNAL = {  # what systemd adds to every entry of a service
    "_TRANSPORT": "stdout",
    "PRIORITY": "6",
    "_UID": "1000",
    "_GID": "1000",
    "_COMM": "python3",
    "_EXE": "/usr/bin/python3.11",
    "_CMDLINE": "python3 train.py --config large.yaml",
    "_CAP_EFFECTIVE": "0",
    "_SYSTEMD_CGROUP": "/system.slice/training.service",
    "_SYSTEMD_UNIT": "training.service",
    "_SYSTEMD_SLICE": "system.slice",
    "_SYSTEMD_INVOCATION_ID": "0123456789abcdef0123456789abcdef",
    "_MACHINE_ID": "0123456789abcdef0123456789abcdef",
    "_STREAM_ID": "0123456789abcdef0123456789abcdef",
}
FAILURE = (
    "[rank3]: Traceback (most recent call last):\n"
    '[rank3]:   File "/home/user/run/train.py", line 88, in step\n'
    "[rank3]:     loss = criterion(model(batch), labels)\n"
    "[rank3]: RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x512 and 256x10)\n"
)


def mixed_block(seed: int) -> str:
    """Lines that trainings, launchers and hosts really mix in one file: loss lines, rank prefixes, syslog, progress bars."""
    rng = random.Random(seed)
    lines = []
    for i in range(BLOCK_LINES):
        step, kind = seed * BLOCK_LINES + i, rng.random()
        clock = f"{step // 3600 % 24:02d}:{step // 60 % 60:02d}:{step % 60:02d}"
        if kind < 0.45:
            lines.append(
                f"2026-11-21 {clock},{rng.randrange(1000):03d} INFO trainer: step {step} loss {rng.random():.4f} lr 3.0e-04 grad_norm {rng.random():.3f}"
            )
        elif kind < 0.70:
            lines.append(
                f"[rank{rng.randrange(64)}]: step {step} | tokens/s {rng.randrange(9000, 12000)} | loss: {rng.random():.4f} | mem 61.2GB"
            )
        elif kind < 0.85:
            lines.append(
                f"Nov 21 {clock} node-{rng.randrange(16)} systemd[1]: Started session {step} of user user{rng.randrange(9)}."
            )
        elif kind < 0.95:
            done = rng.randrange(1000)
            lines.append(
                "\r".join(
                    f"{d / 10:.0f}%|{'#' * (d // 50):<20}| {d}/1000 [00:{d % 60:02d}<00:30, {rng.random() * 9:.2f}it/s]"
                    for d in range(done, done + 4)
                )
            )
        else:
            lines.append(
                f"node-{rng.randrange(16)}:{rng.randrange(9999)}:{step % 9999} [{rng.randrange(8)}] NCCL INFO Channel 00/32 : 0 1 2 3 4 5 6 7"
            )
    return "\n".join(lines) + "\n"


def mixed(megabytes: int) -> Iterator[str]:
    """A mixed log of about `megabytes` MB whose only failure stands near the end."""
    blocks = [mixed_block(seed) for seed in range(8)]
    size, number = 0, 0
    while size < megabytes * 1_000_000:
        yield blocks[number % len(blocks)]
        size += len(blocks[number % len(blocks)])
        number += 1
    yield FAILURE
    yield blocks[0][:10_000]


def small(count: int) -> Iterator[str]:
    """So many pieces of the mixed log, whole lines of 5 KB at most, no two alike."""
    seed, block = 0, ""
    for _ in range(count):
        if len(block) < 5000:
            seed, block = seed + 1, mixed_block(seed)
        end = block.rfind("\n", 0, 5000) + 1
        yield block[:end]
        block = block[end:]


def losses(megabytes: int) -> Iterator[str]:
    """About `megabytes` MB of loss lines and nothing else: what a long healthy run leaves behind."""
    rng = random.Random(0)
    size = step = 0
    while size < megabytes * 1_000_000:
        lines = []
        for _ in range(BLOCK_LINES):
            step += 1
            clock = (
                f"2026-11-{1 + step // 864_000 % 28:02d} {step // 36_000 % 24:02d}:{step // 600 % 60:02d}:{step // 10 % 60:02d}"
            )
            lines.append(
                f"{clock},{step % 10}00 INFO step {step} loss {2 + rng.random():.4f} lr 3.0e-04 grad_norm {rng.random():.3f} time {0.1 + rng.random() / 100:.4f}"
            )
        block = "\n".join(lines) + "\n"
        yield block
        size += len(block)


def xid_flood(count: int) -> Iterator[str]:
    """`count` lines of one Xid, every line with another time and channel."""
    for i in range(count):
        yield f"[{1000 + i / 1000:.6f}] NVRM: Xid (PCI:0000:3b:00): 31, pid={4000 + i % 7}, name=python, Ch {i % 64:08x}, intr 00000000. MMU Fault\n"


def nccl_flood(count: int) -> Iterator[str]:
    """`count` NCCL warnings of the peers of one lost rank."""
    for i in range(count):
        yield f"node-{i % 16}:{4000 + i % 8}:{5000 + i % 97} [{i % 8}] misc/socket.cc:483 NCCL WARN socketProgress: Connection closed by remote peer node-3<4{i % 9999:04d}>\n"


def tracebacks(count: int) -> Iterator[str]:
    """`count` tracebacks, no two alike."""
    for i in range(count):
        yield f'Traceback (most recent call last):\n  File "/home/user/run/job{i}.py", line {i % 900}, in part{i}\n    work({i})\nValueError: item {i} is of no use\n'


def docker(megabytes: int) -> Iterator[str]:
    """The mixed log as Docker's json-file driver writes it."""
    for n, line in enumerate(_lines(megabytes)):
        clock = f"2026-11-21T08:{n // 60 % 60:02d}:{n % 60:02d}.123456789Z"
        yield f'{{"log":{json.dumps(line + NEWLINE)},"stream":"stderr","time":"{clock}"}}\n'


def cri(megabytes: int) -> Iterator[str]:
    """The mixed log as a container runtime writes it for Kubernetes."""
    for n, line in enumerate(_lines(megabytes)):
        yield f"2026-11-21T08:{n // 60 % 60:02d}:{n % 60:02d}.123456789Z stderr F {line}\n"


def journal(megabytes: int) -> Iterator[str]:
    """The mixed log as `journalctl -o json` prints it."""
    for n, line in enumerate(_lines(megabytes)):
        yield (
            json.dumps(
                {
                    "__REALTIME_TIMESTAMP": str(1_795_248_000_000_000 + n * 1000),
                    "__MONOTONIC_TIMESTAMP": str(n * 1000),
                    "_BOOT_ID": "0123456789abcdef0123456789abcdef",
                    "_HOSTNAME": "node-1",
                    "SYSLOG_IDENTIFIER": "python3",
                    "_PID": "4242",
                    "MESSAGE": line,
                    **JOURNAL,
                },
                separators=(",", ":"),
            )
            + "\n"
        )


def _lines(megabytes: int) -> Iterator[str]:
    for block in mixed(megabytes):
        yield from block.replace("\r", " ").removesuffix("\n").split("\n")


KINDS: dict[str, Callable[[int], Iterator[str]]] = {
    "mixed": mixed,
    "losses": losses,
    "xid": xid_flood,
    "nccl": nccl_flood,
    "tracebacks": tracebacks,
    "docker": docker,
    "cri": cri,
    "journal": journal,
}


def write(kind: str, amount: int, path: Path) -> Path:
    """Write the log and give its path back."""
    with path.open("w") as file:
        file.writelines(KINDS[kind](amount))
    return path


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
