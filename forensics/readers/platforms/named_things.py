"""Files, addresses, peers and ports that errors name.

/usr/bin/python3: No module named ipykernel_launcher    -> path /usr/bin/python3
"""

from collections.abc import Sequence

from forensics.data_files.named_parts import part_rows, patterns_of
from forensics.model import Fields, Proof
from forensics.readers.python.library_files import knows_own_code
from forensics.readers.surroundings.near import MAX_READ_PROOFS, MAX_TOLD_PROOFS, Found

PATTERNS = patterns_of("named things")


def named_file(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The file or the address that an error names."""
    if {"path", "device", "asked_url"} & facts.keys() or knows_own_code(facts):
        return {}
    texts = [p.text for p in proofs[:MAX_TOLD_PROOFS]]
    path = next((found["path"] for row in part_rows("named paths") for found in map(row.parts, texts) if found), None)
    url = next((m["url"] for m in map(PATTERNS.address.search, texts) if m), None)
    return {"path": path} if path else {"asked_url": url} if url else {}


def path_before_error(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The file that an error with a number names before it: `Failed to write info to /home/u/run.json: [Errno 28] ...`."""
    if {"path", "device"} & facts.keys() or knows_own_code(facts):
        return {}
    found = next(filter(None, (PATTERNS.path.search(p.text) for p in proofs[:MAX_READ_PROOFS])), None)
    return {"path": found["path"]} if found else {}


def connection(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The address that could not be reached, the peer that failed, or the port that was taken; a peer's port is no place."""
    texts = [p.text for p in proofs[:MAX_TOLD_PROOFS]]
    if reached := next(filter(None, map(PATTERNS.connect.search, texts)), None):
        return {"endpoint": f"{reached['host']}:{reached['port']}"}
    if peer := next(filter(None, map(PATTERNS.peer.search, texts)), None):
        return {"peer": peer["peer"]}
    return {"listening_port": facts["port"]} if "port" in facts and any(map(PATTERNS.listen.search, texts)) else {}
