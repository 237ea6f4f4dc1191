"""The installed packages against the public list of known vulnerabilities, by pip-audit.

    python -m scripts.audit          # "audit: 52 packages, none with a known vulnerability", or one line for each that has some

Status 1 for a vulnerability. Where the list cannot be reached, or knows none of the packages, that is said and the status is 0:
a machine without a network has not found anything out.
"""

import json
import subprocess
import sys
from typing import Any

LIMIT_S = 120


def judged(document: dict[str, Any]) -> tuple[list[str], int]:
    """The lines to print for pip-audit's JSON, and the status."""
    packages = document.get("dependencies", [])
    known = [p for p in packages if "vulns" in p]
    found = [
        f"audit: {p['name']} {p['version']}: {v['id']}, mended in {', '.join(v.get('fix_versions') or ['no version yet'])}"
        for p in known
        for v in p["vulns"]
    ]
    if not known:
        return ["audit: skipped, none of the packages could be looked up"], 0
    said = f"{len(known)} packages looked up" + (
        f", {len(packages) - len(known)} could not be" if len(known) < len(packages) else ""
    )
    return [*found, f"audit: {said}, {len(found) or 'no'} known vulnerabilities"], int(bool(found))


def main() -> None:
    """Ask pip-audit about the environment that runs this."""
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off", "--skip-editable"]
    try:
        told = subprocess.run(command, capture_output=True, timeout=LIMIT_S)
        lines, status = judged(json.loads(told.stdout))
    except (OSError, subprocess.TimeoutExpired, ValueError):
        lines, status = ["audit: skipped, pip-audit is not installed or could not reach its list"], 0
    print("\n".join(lines))
    sys.exit(status)


if __name__ == "__main__":
    main()
