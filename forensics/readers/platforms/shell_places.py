"""What a shell prints of its commands: the program that it saw die, a tool for files that failed, an activation that failed.

The program that died, and a tool that failed:

run.sh: line 5: 19817 Killed      python train.py       -> command train.py, pid 19817
mv: cannot stat '*.pt': No such file or directory       -> mv

Where a job's script could not activate the environment that its program was to run in.

    slurm_script: line 15: venv/bin/activate: No such file or directory    -> a FailedActivation on that line
    CommandNotFoundError: Your shell has not been properly configured to use 'conda activate'.

The script goes on with the interpreter that is left, and what the program imports may be missing there. Wordings: the shells' and
conda's.
"""

from collections.abc import Iterable, Sequence

from forensics.data_files.named_parts import patterns_of
from forensics.model import FailedActivation, Fields, Proof, Scan, Trigger
from forensics.readers.base import Found
from forensics.readers.python.library_files import knows_own_code

PATTERNS = patterns_of("shell places")


def failed_file_tool(text: str) -> str:
    """The tool that could not do something with a file, as the line says; empty if it says no such thing."""
    found = PATTERNS.file_tool.match(text)
    return str(found[1]) if found else ""


def refused_program(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The program that refused its arguments: a launcher's frames around it are no place."""
    found = PATTERNS.usage_error.search(proofs[0].text)
    return {"own_program": found["script"]} if found and not knows_own_code(facts) else {}


def command(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The program that a shell saw die, and its pid. Where a task is told already, only what the shell says of its pid."""
    if "task" in facts and "pid" not in facts:
        return {}
    for text in (*(p.text for p in proofs), *lines[at:]):
        died = PATTERNS.shell_death.search(text)
        script = PATTERNS.script.search(died["command"]) if died else None
        if died and script and str(facts.get("pid", died["pid"])) == died["pid"]:
            return {"pid": int(died["pid"]), "command": script["script"]}
    return {}


TRIGGER = Trigger("activation", of="shell places")


def failed_activations(scans: Iterable[Scan]) -> tuple[FailedActivation, ...]:
    """All of them, in the order of the logs."""
    regions = ((scan, r) for scan in scans for r in scan.regions.get(TRIGGER.kind, ()))
    return tuple(
        FailedActivation(scan.source.name, scan.source.number_of(region.number), region.text, found[0])
        for scan, region in regions
        if (found := PATTERNS.activation.search(region.text))
    )
