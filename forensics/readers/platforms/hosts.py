"""The machine that a prompt, a prefix, a record or a program's first line names.

root@nas02[/]# nvidia-smi                                           -> host nas02
... mmdet - INFO - Start running, host: user@gpu-04, work_dir: ...  -> host gpu-04
"""

from collections.abc import Sequence

from forensics.data_files.named_parts import PartRow, part_rows, patterns_of
from forensics.model import Fields, Proof
from forensics.readers.python.library_files import knows_own_code
from forensics.readers.surroundings.near import MAX_FAULT_LINES, MAX_LISTED_DEVICES, MAX_PROMPT_LINES, NEAR, Found

PATTERNS = patterns_of("machines")
NO_HOSTS = ("host", "localhost", "kernel", "server", "node")
NO_STARTED_HOSTS = ("localhost", "localhost.localdomain")


def prompt_host(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The machine in the prompt above, or in the message itself."""
    if {"host", "node"} & facts.keys():
        return {}
    said = next(filter(None, (PATTERNS.node.search(t) for t in lines[at : at + NEAR])), None)
    if said:
        return {"host": said["host"] or said["named"]}
    for text in reversed(lines[max(0, at - MAX_PROMPT_LINES) : at + 1]):
        if found := PATTERNS.prompt.match(text):
            return {"host": found["host"]}
    return {}


def hosts(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The machine in a prefix or in a record that the evidence is a row of; several if lines of one kind name them."""
    if {"host", "node"} & facts.keys():
        return {}
    texts = [p.text for p in proofs if p.signature == proofs[0].signature]
    named = _named_hosts(part_rows("hosts"), texts)
    if not named and PATTERNS.document_row.match(proofs[0].text):
        near = lines[max(0, at - MAX_FAULT_LINES) : at + MAX_FAULT_LINES]
        named = _named_hosts(part_rows("hosts of documents"), near)[:1]
    return {"host": ", ".join(named[:MAX_LISTED_DEVICES])} if named else {}


def _named_hosts(rows: Sequence[PartRow], texts: Sequence[str]) -> list[str]:
    names = (name for row in rows for text in texts for name in row.parts(text).values())
    return list(dict.fromkeys(n for n in names if n not in NO_HOSTS))


def started_on(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The host that the program named when it started, or the worker that the launcher names; not where its code is known."""
    if agent := PATTERNS.agent.search(proofs[0].text):
        return {} if any("rank" in n for n in facts) else {"local_rank": int(agent["local_rank"]), "pid": int(agent["pid"])}
    if {"host", "node", "pid", "job"} & facts.keys() or knows_own_code(facts):
        return {}
    named = next(filter(None, map(PATTERNS.started_on.search, lines[at::-1])), None)
    host = str(named[named.lastgroup or 0]) if named else ""
    return {"host": host} if host and host not in NO_STARTED_HOSTS else {}
