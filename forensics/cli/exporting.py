"""`forensics signatures export`: signatures as rules for monitors of other projects."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from forensics.cli.common import Signatures
from forensics.cli.output import save, write
from forensics.core.errors import UsageError

Target = Annotated[str, typer.Option("--format", "-f", help="npd, loki, prometheus or hyperpod.")]
Weight = Annotated[str, typer.Option("--weight", help="Signatures of at least this weight: proof, strong or hint.")]
Family = Annotated[list[str] | None, typer.Option("--family", help="Only this family or cause; can be repeated.")]
Selector = Annotated[str, typer.Option("--selector", help="The streams that Loki's rules read.")]
Site = Annotated[str, typer.Option("--site", help="Where the pages of causes are; without it, alerts name a command.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write the rules to this file.")]


def add_export(group: typer.Typer) -> None:
    """Add the command."""

    @group.command()
    def export(
        form: Target, weight: Weight = "strong", family: Family = None, selector: Selector = '{job=~".+"}',
        site: Site = "", output: Output = None, signatures: Signatures = None,
    ) -> None:  # fmt: skip
        """Export signatures as rules for a monitor: node-problem-detector, Loki, Prometheus, HyperPod.

        \b
        What cannot be said in the language of the monitor is listed on stderr with the reason.

        \b
        Examples:
          forensics signatures export -f npd --weight proof -o forensics-monitor.json
          forensics signatures export -f loki --family gpu_hardware --family host_memory -o rules.yaml
        """
        from forensics.config import config
        from forensics.database import builtin_folder, read_folders
        from forensics.database.entries import WEIGHT_NAMES
        from forensics.signature_export.rules import collect
        from forensics.signature_export.targets import TARGETS, Setting

        for given, known in ((form, tuple(TARGETS)), (weight, WEIGHT_NAMES)):
            if given not in known:
                raise UsageError(f"unknown {given!r}", advice=f"choose one of {', '.join(known)}")
        causes, _ = read_folders([builtin_folder(), *config(signatures or ()).signatures])
        target = TARGETS[form]
        found = collect(causes, weight, family or (), target.on_node, target.vetoes)
        if not found.rules:
            raise UsageError("no such signature to export", ", ".join(family or ()), "forensics signatures list shows all")
        text = target.write(found.rules, Setting(selector, site))
        if output is None:
            write(text, None)
        else:
            save(text, output)
        for loss in found.losses:
            print(f"{loss.id}: {loss.why if loss.exported else 'not exported: ' + loss.why}", file=sys.stderr)
        left = sum(not loss.exported for loss in found.losses)
        print(f"{len(found.rules)} rules; {left} signatures not exported", file=sys.stderr)
