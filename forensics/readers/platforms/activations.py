"""Where a job's script could not activate the environment that its program was to run in.

    slurm_script: line 15: venv/bin/activate: No such file or directory    -> a FailedActivation on that line
    CommandNotFoundError: Your shell has not been properly configured to use 'conda activate'.

The script goes on with the interpreter that is left, and what the program imports may be missing there. Wordings: the shells' and
conda's.
"""

from collections.abc import Iterable

from forensics.core import lazy
from forensics.model import FailedActivation, Scan, Trigger

TRIGGER = Trigger(
    "activation",
    (
        *("activate: no such file", "activate: not found", "conda.sh: no such file", "could not find conda environment"),
        *("conda: command not found", "mamba: command not found", "conda: not found"),
        *("configured to use 'conda activate'", "'conda init' before 'conda activate'", "not a conda environment"),
    ),
)
ACTIVATION_PATTERN = lazy.regex(
    r"(?:line \d{1,6}: )?\S{0,300}(?:activate|conda\.sh): (?:No such file or directory|not found)"
    r"|(?:line \d{1,6}: )?\b(?:conda|mamba): (?:command )?not found"
    r"|(?i:could not find conda environment|not a conda environment): \S{1,300}"
    r"|Your shell has not been properly configured to use 'conda activate'"
    r"|Run 'conda init' before 'conda activate'"
)


def failed_activations(scans: Iterable[Scan]) -> tuple[FailedActivation, ...]:
    """All of them, in the order of the logs."""
    regions = ((scan, r) for scan in scans for r in scan.regions.get(TRIGGER.kind, ()))
    return tuple(
        FailedActivation(scan.source.name, (scan.source.origin or int)(region.number), region.text, found[0])
        for scan, region in regions
        if (found := ACTIVATION_PATTERN.search(region.text))
    )
