"""The notebook, the cell and the kernel that lines of servers, of papermill and of editors name.

[I 2026-11-21 08:39:48.076 ServerApp] Saving file at /train.ipynb     -> notebook_file train.ipynb
Executing Cell 3---------------------------------------               -> cell 3
"""

from collections.abc import Sequence

from forensics.core import lazy
from forensics.data_files.named_parts import patterns_of
from forensics.model import Fields, Proof
from forensics.readers.surroundings.near import MAX_SENTENCE_LINES, Found

EDITOR_LINE_PATTERN = lazy.regex(r"\A\d\d:\d\d:\d\d\.\d{3} \[(?:info|warn|error)\]")  # of Visual Studio Code's log
PATTERNS = patterns_of("notebooks places")
DEAD_KERNEL_PATTERN = lazy.regex(r"DeadKernel|Kernel died")


def notebook(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The notebook of a kernel, if the server speaks of one only; the cell that was executed, by papermill."""
    dead = any(DEAD_KERNEL_PATTERN.search(p.text) for p in proofs[:1])
    if not dead and "kernel_id" not in facts:
        return {}
    names = {m["notebook"].rpartition("/")[2] for m in map(PATTERNS.served_notebook.search, lines[:at]) if m}
    cells = [m["cell"] for m in map(PATTERNS.executed_cell.match, lines[:at]) if m]
    found: Found = {"notebook_file": names.pop()} if len(names) == 1 else {}
    return found | ({"cell": int(cells[-1])} if dead and cells and "cell" not in facts else {})


def cell_of_output(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The cell whose output the evidence is, by the heading above it; nothing for one without a count."""
    if "cell" in facts:
        return {}
    heading = next(filter(None, map(PATTERNS.output_heading.match, reversed(lines[: at + 1]))), None)
    return {"cell": int(heading["cell"])} if heading and heading["cell"].isdecimal() else {}


def editor_cell(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The cell and the kernel by the log of Visual Studio Code."""
    near = lines[max(0, at - MAX_SENTENCE_LINES) : at + MAX_SENTENCE_LINES]
    if "cell" in facts or not any(map(EDITOR_LINE_PATTERN.match, near)):
        return {}
    ended = next(filter(None, map(PATTERNS.editor_cell.search, lines[at : at + MAX_SENTENCE_LINES])), None)
    cell = ended or next(filter(None, map(PATTERNS.started_cell.search, lines[at::-1])), None)
    kernel = next(filter(None, map(PATTERNS.started_kernel.search, lines[at::-1])), None)
    found: Found = {"cell": int(cell["cell"])} if cell else {}
    return found | ({"kernel_name": kernel["name"]} if kernel else {})
