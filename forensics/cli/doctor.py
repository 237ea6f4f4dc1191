"""`forensics doctor`: what can be read on this machine, what reports lack otherwise, and the command that mends each."""

from typing import Annotated

import typer

from forensics.cli.output import write

MARKS = {"ok": "ok", "limited": "partly", "missing": "missing", "absent": "-"}


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def doctor(
        as_json: Annotated[bool, typer.Option("--json", help="Print a list of objects instead of a table.")] = False,
    ) -> None:
        """Say what an analysis can read on this machine, what reports lack otherwise, and the command that mends it.

        \b
        Examples:
          forensics doctor
          forensics doctor --json | jq '.[] | select(.state == "missing")'

        Needs no right, changes nothing, asks no network, and takes a few seconds at most. Exit status: always 0.
        """
        from forensics.cli.checks import checked
        from forensics.report.escape import json_text

        found = checked()
        if as_json:
            write(json_text([check._asdict() for check in found], 2), None)
            return
        width = max(len(check.name) for check in found)
        lines: list[str] = []
        for check in found:
            lines.append(f"{check.name:<{width}}  {MARKS[check.state]:<7}  {check.found}")
            lines += [f"{'':<{width}}           without it: {check.lacks}"] if check.lacks else []
            lines += [f"{'':<{width}}           $ {check.mend}"] if check.mend else []
        write("\n".join(lines) + "\n", None)
