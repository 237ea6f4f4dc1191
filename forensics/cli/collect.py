"""`forensics collect`: a bundle of what can still be collected about a job that ran without `forensics run`."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from forensics.cli.output import capture_settings, say
from forensics.core.errors import UsageError

ARCHIVE_SUFFIXES = (".tar.gz", ".tgz")


Pid = Annotated[int, typer.Option(min=0, help="A process with its child processes.")]
Job = Annotated[str, typer.Option(help="A Slurm job on this node.")]
Unit = Annotated[str, typer.Option(help="A systemd unit.")]
Since = Annotated[str, typer.Option(help="How far back the kernel's log and journals are read: 30m, 2h.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="A folder, or a file with the suffix .tar.gz.")]
Redact = Annotated[bool, typer.Option("--redact", help="Replace hosts, users and addresses in the bundle with stand-ins.")]
Script = Annotated[bool, typer.Option("--script", help="Print a shell script for machines on which nothing can be installed.")]


def collect(
    pid: Pid = 0,
    job: Job = "",
    unit: Unit = "",
    since: Since = "1h",
    output: Output = None,
    redact: Redact = False,
    script: Script = False,
) -> None:
    """Collect logs and facts about why a job died, in a bundle that `analyze` reads.

    \b
    Examples:
      forensics collect --pid 4711 -o bundle.tar.gz
      forensics collect --job 815 --since 6h
      forensics collect --script > collect.sh
    """
    if script:
        from forensics.capture.collect import script as text

        sys.stdout.write(text())
        return
    if sum(map(bool, (pid, job, unit))) > 1:
        raise UsageError("more than one of --pid, --job and --unit", advice="give one of them")
    _collect({"pid": pid, "job": job, "unit": unit}, since, output, redact)


def _collect(what: dict[str, Any], since: str, output: Path | None, redact: bool) -> None:
    from forensics.capture import collect as collecting
    from forensics.config import seconds

    capture_settings()
    packed = output is not None and output.name.endswith(ARCHIVE_SUFFIXES)
    folder = str(output.absolute()) if output and not packed else ""
    made = ""
    try:
        made, missing = collecting.collect(since_s=abs(seconds(since.removeprefix("-"))), bundle=folder, **what)
        if redact:
            _redact(Path(made))
        if packed:
            collecting.packed(made, str(output))
    except OSError as error:
        where = error.filename or output or folder
        kept = f"what was collected is in {made}" if packed and made else ""
        raise UsageError(f"the bundle could not be written ({error.strerror or error})", str(where), kept) from error
    for line in missing:
        say(f"forensics: not taken: {line}")
    print(output if packed else made)


def _redact(folder: Path) -> None:
    """Replace names in every file of the bundle by stand-ins, the same one for a name in all files."""
    import platform

    from forensics.report.redaction.names import Names
    from forensics.report.redaction.secrets import mask_text

    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.rglob("*")) if path.is_file()}
    names = Names.among([("host", platform.node())], (line for text in texts.values() for line in text.splitlines()))
    for path, text in texts.items():
        path.write_text("\n".join(names.hide(mask_text(line)) for line in text.split("\n")), encoding="utf-8")
