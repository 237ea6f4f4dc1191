"""The notebook, the cell, and the host that a program named when it started, in the lines above the evidence.

[I 2026-11-21 08:39:48.076 ServerApp] Saving file at /train.ipynb     -> notebook_file train.ipynb
Executing Cell 3---------------------------------------               -> cell 3
... mmdet - INFO - Start running, host: user@gpu-04, work_dir: ...    -> host gpu-04
"""

from collections.abc import Sequence

from forensics.core import lazy
from forensics.model import Fields, Proof, Value
from forensics.readers.python.library_files import knows_own_code

Found = dict[str, Value]
SERVED_NOTEBOOK_PATTERN = lazy.regex(
    r"(?:Saving file at /?|App\] Notebook |GET /(?:notebooks|lab/tree|doc/tree)/|Input Notebook:\s{1,8}|NbClientApp\] Executing"
    r"|Converting notebook)\s{0,2}(?P<notebook>[^\s?\"'<>|:]{1,200}\.ipynb)\b"
)
EXECUTED_CELL_PATTERN = lazy.regex(r"\A(?:.{0,60}\s)?(?:Executing|Ending) [Cc]ell (?P<cell>\d{1,6})\b")
DEAD_KERNEL_PATTERN = lazy.regex(r"DeadKernel|Kernel died")
STARTED_ON_PATTERN = lazy.regex(
    r"\bStart running, host: (?:[\w.-]{1,40}@)?(?P<host>[\w.-]{2,62}),"
    r"|\A(?i:hostname|running on (?:host|node))\s?[:= ] ?(?P<bare>[a-z][\w.-]{1,62})\s*\Z"
)
AGENT_PATTERN = lazy.regex(r"\blocal_rank: (?P<local_rank>\d{1,4}) \(pid: (?P<pid>\d{1,8})\) of binary")  # of torchelastic
NO_STARTED_HOSTS = ("localhost", "localhost.localdomain")


def notebook(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The notebook of a kernel, if the server speaks of one only; the cell that was executed, by papermill."""
    dead = any(DEAD_KERNEL_PATTERN.search(p.text) for p in proofs[:1])
    if not dead and "kernel_id" not in facts:
        return {}
    names = {m["notebook"].rpartition("/")[2] for m in map(SERVED_NOTEBOOK_PATTERN.search, lines[:at]) if m}
    cells = [m["cell"] for m in map(EXECUTED_CELL_PATTERN.match, lines[:at]) if m]
    found: Found = {"notebook_file": names.pop()} if len(names) == 1 else {}
    return found | ({"cell": int(cells[-1])} if dead and cells and "cell" not in facts else {})


def started_on(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The host that the program named when it started, or the worker that the launcher names; not where its code is known."""
    if agent := AGENT_PATTERN.search(proofs[0].text):
        return {} if any("rank" in n for n in facts) else {"local_rank": int(agent["local_rank"]), "pid": int(agent["pid"])}
    if {"host", "node", "pid", "job"} & facts.keys() or knows_own_code(facts):
        return {}
    named = next(filter(None, map(STARTED_ON_PATTERN.search, lines[at::-1])), None)
    host = str(named[named.lastgroup or 0]) if named else ""
    return {"host": host} if host and host not in NO_STARTED_HOSTS else {}


NOTEBOOK_READERS = (notebook, started_on)
