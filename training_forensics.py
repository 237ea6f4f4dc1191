"""The command's entry: makes sure that `import forensics` finds this project's package before anything of it runs.

Another project has the name `forensics` in the index and installs a folder `forensics/`, too. Where both lie in one
environment, or another folder `forensics/` comes first on the path, the command says so in a line instead of failing midway.
"""

import importlib.util
import sys
from pathlib import Path

NAME = "training-forensics"


def main() -> None:
    """Run `forensics`, or exit with 2 and a line that says which other package stands in its way."""
    own = Path(__file__).resolve().parent / "forensics"
    spec = importlib.util.find_spec("forensics")
    places = [Path(p).resolve() for p in (spec.submodule_search_locations or ())] if spec else []
    if places != [own]:
        found = ", ".join(map(str, places)) or "nothing"
        _stop(f"`import forensics` finds {found} instead of {own}")
    import forensics

    if getattr(forensics, "DISTRIBUTION", None) != NAME:
        _stop(f"another project's files were installed over those of {NAME} in {own}")
    from forensics.cli import main as run

    run()


def _stop(what: str) -> None:
    from importlib.metadata import packages_distributions

    others = sorted(set(packages_distributions().get("forensics", ())) - {NAME})
    remove = f"`pip uninstall {' '.join(others)}`, then " if others else ""
    again = f"{remove}`pip install --force-reinstall {NAME}`"
    print(f"forensics: {what}; install {NAME} alone (`pipx install {NAME}`), or {again}", file=sys.stderr)
    sys.exit(2)
