"""Captures sample logs: `python -m scripts.capture [--work FOLDER] [--list] [CASE...]`; without CASE, all."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from . import (  # noqa: F401  (each registers its cases)
    advised,
    distributed,
    healthy,
    memory,
    native,
    neighbours,
    notebook,
    process,
    series,
    serving,
    slurm,
    storage,
    training,
)
from .case import CASES, SAMPLES, capture, readme
from .stage import make_venv


def main() -> int:
    """Run the wanted cases one after the other; the exit status is 1 when one of them could not be captured."""
    parser = argparse.ArgumentParser(prog="python -m scripts.capture", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--work", type=Path, help="scratch folder that keeps the virtual environment between runs")
    parser.add_argument("--list", action="store_true", help="print the cases and what each makes happen")
    options = parser.parse_args()
    if options.list:
        print(*(f"{name:28} {one.cause:28} {one.about}" for name, one in CASES.items()), sep="\n")
        return 0
    if unknown := set(options.cases) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    if os.geteuid() != 0:
        parser.error("needs root: the victims run in namespaces and cgroups of their own")
    work = (options.work or Path(tempfile.mkdtemp(prefix="capture-"))).resolve()
    wanted = options.cases or CASES
    for venv in sorted({CASES[name].venv for name in wanted}):
        make_venv(work, venv)
    failed = [name for name in wanted if not _captured(name, work)]
    (SAMPLES / "README.md").write_text(readme())
    return 1 if failed else 0


def _captured(name: str, work: Path) -> bool:
    try:
        capture(CASES[name], work)
    except Exception as trouble:
        print(f"{name}: {trouble}", file=sys.stderr)
        return False
    print(name)
    return True


if __name__ == "__main__":
    sys.exit(main())
