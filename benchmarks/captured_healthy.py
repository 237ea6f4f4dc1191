"""Forty captured runs in which nothing died: quiet ones, loud ones, some that end with a status of their own on purpose.

    python -m benchmarks.captured_healthy [--keep FOLDER]

Counted is every one of which something other than the truth is said: a crash where there was none.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

STEPS = "import time, sys, os\ndef steps(n):\n    for i in range(n): print(f'step {i} loss {1/(i+1):.3f}', flush=True); time.sleep(0.01)\n"
LOUD = (
    "print('ERROR: retrying download, attempt 1 of 3', file=sys.stderr)",
    "print('Traceback (most recent call last):\\n  File \"x.py\", line 1, in <module>\\nConnectionError: refused\\nretrying in 1 s', file=sys.stderr)",
    "import warnings; warnings.warn('CUDA is not available, falling back to the CPU')",
    "print('WARNING: NaN in gradients at step 3, skipping the batch')",
    "print('[W] NCCL WARN Call to connect failed, trying the next interface')",
    "try: 1 / 0\nexcept ZeroDivisionError:\n    import traceback; traceback.print_exc(); print('ignored, going on')",
    "print('CUDA out of memory; trying again with batch size 16', file=sys.stderr)",
    "print('0 errors, 0 failures'); print('killed 0 of 8 workers')",
    "import subprocess; subprocess.run(['sh', '-c', 'kill -9 $$']); print('restarted the worker')",
    "import multiprocessing as mp\np = mp.Process(target=time.sleep, args=(9,)); p.start(); time.sleep(.2); p.terminate(); p.join()",
    "import multiprocessing as mp\np = mp.Process(target=time.sleep, args=(9,)); p.start(); time.sleep(.2); p.kill(); p.join()",
    "import signal; signal.signal(15, lambda *_: print('SIGTERM received, ignored')); os.kill(os.getpid(), 15)",
    "import subprocess; print(subprocess.run(['sh', '-c', 'exit 3']).returncode)",
    "import logging; logging.error('dataset shard 7 is missing, using shard 8'); logging.critical('disk almost full')",
    "print('Killed'); print('Segmentation fault'); print('the words of a test')",
)
PYTHON = "/usr/bin/python3"


def py(code: str) -> list[str]:
    """The command that runs `code` in Python."""
    return [PYTHON, "-u", "-c", code]


def sh(script: str) -> list[str]:
    """The command that runs `script` in a shell."""
    return ["/bin/sh", "-c", script]


RUNS: tuple[list[str], ...] = (
    *(py(f"{STEPS}steps({n})\nprint('training finished')") for n in (1, 20, 60)),
    *(py(f"{STEPS}steps(10)\n{loud}\nsteps(20)\nprint('training finished')") for loud in LOUD),
    *(py(f"{STEPS}steps(10)\n{loud}\nsteps(20)") for loud in LOUD[:7]),
    sh("grep -q nothing-like-it /etc/passwd"),
    sh("diff /etc/passwd /etc/group > /dev/null"),
    sh("test -e /nowhere"),
    sh("cmp /etc/passwd /etc/group"),
    py(f"{STEPS}steps(5)\nprint('2 of 40 files need formatting'); sys.exit(1)"),
    py(f"{STEPS}steps(5)\nprint('early stopping: no improvement'); sys.exit(3)"),
    py("import sys; print('usage: tool [-h] file'); sys.exit(0)"),
    sh("for i in 1 2 3; do false; done; echo all tried; exit 4"),
    sh("seq 1 5000; exit 7"),
    sh("yes | head -1000 > /dev/null; echo ok"),
    sh("(sleep 30 & echo $!) > /dev/null; echo started the service"),
    sh("make -v > /dev/null; ls / > /dev/null; true"),
    py("import unittest, sys\nclass T(unittest.TestCase):\n    def test_a(self): pass\nunittest.main(argv=['t'])"),
    ["true"],
    ["false"],
)


def captured(task: tuple[int, list[str], Path]) -> Path:
    """Run one; its bundle."""
    number, command, top = task
    folder = top / f"{number:02d}"
    options = {"command": command, "folder": str(folder), "keep": "always", "report": False, "quiet": True}
    line = [sys.executable, "-P", "-m", "forensics.capture", "run", json.dumps(options)]
    subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return folder


def main() -> None:
    """Run all of them, analyse the bundles, and tell what was said."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--keep", type=Path)
    given = asked.parse_args()
    top = given.keep or Path(tempfile.mkdtemp(prefix="forensics-healthy-"))
    with ThreadPoolExecutor(6) as pool:
        folders = list(pool.map(captured, ((i, c, top) for i, c in enumerate(RUNS))))
    from forensics import pipeline

    knowledge = pipeline.database()
    wrong = 0
    for command, folder in zip(RUNS, folders, strict=True):
        report = pipeline.analyze_paths([folder], folder.name, knowledge)
        first = report.causes[0]
        if report.verdict == "crash" or (
            report.verdict == "undetermined" and first.probability >= 0.5 and first.id != "none.healthy"
        ):
            wrong += 1
            print(f"wrong: {folder.name} {report.verdict} {first.id} {first.probability:.2f}  {' '.join(command)[-150:]!r}")
        elif report.verdict != "no_crash":
            print(f"open:  {folder.name} {report.verdict} {first.id} {first.probability:.2f}  {' '.join(command)[-150:]!r}")
    print(f"{len(RUNS)} healthy runs: {wrong} called a crash")


if __name__ == "__main__":
    main()
