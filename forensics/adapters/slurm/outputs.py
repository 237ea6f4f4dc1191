r"""Find the paths of a job's output.

StdOut=/home/alice/slurm-4711.out of scontrol, which knows a job for some minutes after its end; else the options it was submitted
with, `sbatch -o logs/%x-%j.out train.sh`, or the `#SBATCH` lines of that script; else slurm-%j.out, slurm-%A_%a.out (sbatch(1)).
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from forensics.adapters.slurm.accounting import SacctRow

MAX_SCRIPT_BYTES = 1 << 20  # the directives are at the start of a script; a longer file is not read whole
NAME_SIGN_PATTERN = re.compile(r"%(?P<width>\d{0,2})(?P<sign>[%AajNnsutxJ])")
DIRECTIVE = re.compile(r"^#SBATCH\s+(?P<options>.+)$", re.MULTILINE)
OPTION_NAMES = {"-o": "output", "--output": "output", "-e": "error", "--error": "error", "-D": "chdir", "--chdir": "chdir"}


def output_paths(row: SacctRow, control: dict[str, str]) -> list[str]:
    """The files for the output and errors of job `row`, whether they can be read or not."""
    known = [control[k] for k in ("StdOut", "StdErr") if control.get("JobId") == row["JobIDRaw"] and control.get(k)]
    if known:
        return list(dict.fromkeys(known))
    options = _options(row["SubmitLine"], row["WorkDir"])
    base = options.get("chdir") or row["WorkDir"] or "."
    usual = "slurm-%A_%a.out" if "_" in row.id else "slurm-%j.out"
    patterns = [options.get("output") or usual, *([options["error"]] if "error" in options else [])]
    found = [str(Path(base, expand_pattern(p, row))) for p in patterns]
    return list(dict.fromkeys(found))


def expand_pattern(pattern: str, row: SacctRow) -> str:
    """A pattern of sbatch for this job: `%x-%j.out` -> `train-4711.out`."""
    array, _, task = row.id.partition("_")
    leader = row.id.partition("+")[0]
    values = {"%": "%", "A": array, "a": task or "4294967294", "j": row["JobIDRaw"] or leader, "x": row["JobName"]}
    values |= {"J": row["JobIDRaw"] or leader, "u": row["User"], "N": row["NodeList"].partition(",")[0], "n": "0", "t": "0"}
    values["s"] = "batch"

    def sign(found: re.Match[str]) -> str:
        value = values.get(found["sign"], "")
        return value.zfill(int(found["width"])) if found["width"] and value.isdigit() else value

    return NAME_SIGN_PATTERN.sub(sign, pattern.replace("\\\\", "\\"))


def _options(submitted: str, folder: str) -> dict[str, str]:
    """The options that name the output: of the command line, else of the script that it names."""
    words = _words(submitted)
    given = _read(words[1:])
    script = next((w for w in words[1:] if not w.startswith("-") and Path(folder, w).is_file()), "")
    if script:
        try:
            with Path(folder, script).open("rb") as file:
                text = file.read(MAX_SCRIPT_BYTES).decode("utf-8", "replace")
        except OSError:
            return given
        lines = [word for found in DIRECTIVE.finditer(text) for word in _words(found["options"].split(" #")[0])]
        return _read(lines) | given  # the command line wins
    return given


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _read(words: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for i, word in enumerate(words):
        name, eq, value = word.partition("=")
        if name in OPTION_NAMES:
            found[OPTION_NAMES[name]] = value if eq else (words[i + 1] if i + 1 < len(words) else "")
        elif word[:2] in OPTION_NAMES and len(word) > 2 and not word.startswith("--"):
            found[OPTION_NAMES[word[:2]]] = word[2:]
    return {k: v for k, v in found.items() if v}
