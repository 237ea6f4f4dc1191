"""Check the built-in database: every fault with path and line; exit status 1 if there is one. Two minutes of processor time.

    python -m scripts.lint [--notes]

It makes the checks of `forensics signatures check` and those that only the built-in database needs.
"""

import sys

from forensics.core.text import with_noun
from forensics.database import builtin_folder
from forensics.signature_lint.lint import lint
from scripts.lint.builtin import builtin_faults


def main() -> int:
    """Print the faults, and the notes if they are asked for."""
    found = lint(builtin_folder())
    faults = sorted({*found.faults, *builtin_faults()})
    for line in (*faults, *(f"{note} (note)" for note in found.notes if "--notes" in sys.argv)):
        print(line)
    print(f"{with_noun(found.signatures, 'signature')}: {with_noun(len(faults), 'fault')}", file=sys.stderr)
    return bool(faults)


sys.exit(main())
