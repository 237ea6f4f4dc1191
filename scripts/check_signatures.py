"""Temporary entry point: python scripts/check_signatures.py [FAMILY...] prints the faults of those families."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from forensics.database.causefiles import read_causes
from forensics.database.check import check

root = Path(__file__).parents[1] / "signatures"
causes, faults = read_causes(root)
where = {c.id: str(root / (c.id.replace(".", "/", 1) + ".yaml")) for c in causes}
taxonomy = sys.argv[1:]
faults += check(causes, where)
faults = [f for f in faults if not taxonomy or any(f"/{t}/" in f.path for t in taxonomy)]
faults = [f for f in faults if "explains" not in f.what]  # other families may not exist yet
print(*faults, sep="\n")
print(len(causes), "causes", sum(len(c.signatures) for c in causes), "signatures", len(faults), "faults")
