"""Exits with 1, and says which, where a package of constraints.txt is installed here in another version."""

import importlib.metadata
import re
import sys
from pathlib import Path

tested: dict[str, set[str]] = {}
for line in (Path(__file__).parents[1] / "constraints.txt").read_text().splitlines():
    if found := re.match(r"([a-z0-9.-]+)==(\S+)", line):
        tested.setdefault(found[1], set()).add(found[2])
here = {re.sub(r"[-_.]+", "-", d.name).lower(): d.version for d in importlib.metadata.distributions()}
other = [f"{n} {here[n]}, tested {' or '.join(v)}" for n, v in tested.items() if n in here and here[n] not in v]
print("\n".join(other))
sys.exit(bool(other))
