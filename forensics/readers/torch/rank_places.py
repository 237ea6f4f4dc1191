"""The ranks that messages of launchers and collectives name: PyTorch, torchelastic, DeepSpeed, Horovod.

[rank3]:[E1121 16:24:10 ...] Timed out        -> rank 3
Stalled ranks: / 6: [allreduce.0, ...]        -> missing_ranks 6
"""

from collections.abc import Sequence
from itertools import takewhile

from forensics.core.text import number_ranges
from forensics.data_files.named_parts import patterns_of
from forensics.model import Fields, Proof
from forensics.model.dumps import Frame
from forensics.readers.base import MAX_READ_PROOFS, MAX_SENTENCE_LINES, NEAR, WIDE, Found
from forensics.readers.python.frames import file_frame

PATTERNS = patterns_of("rank places")
STALLED_FACTS = MISSING_RANKS, MISSING_REASON = "missing_ranks", "missing_reason"
QUIET_RANKS = "quiet_ranks"  # those whose lines stand in the log and do not report the time-out: `1, 3`
MAX_QUIET_RANKS = 4  # chosen by hand: of more, each one is as likely


def tagged_rank(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The rank whose tag the evidence has, if it has only one."""
    if any("rank" in name for name in facts):
        return {}
    tags = {m.groups() for p in proofs[:MAX_READ_PROOFS] for m in PATTERNS.rank_tag.finditer(p.text)}
    if len(tags) != 1:
        return {}
    rank, local = tags.pop()
    program = PATTERNS.program.search(proofs[0].text)
    return {"rank": int(rank)} if rank else {"local_rank": int(local), **({"own_program": program["program"]} if program else {})}


def reporting_ranks(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The ranks that report a time-out, and those that do not, by their tags; nothing if the culprit is known."""
    if "timeout_s" not in facts or "rank" not in facts or any(n.startswith(("culprit_", "missing_")) for n in facts):
        return {}
    tagged = [(int(m["rank"]), text) for text in lines if (m := PATTERNS.rank_tag.search(text)) and m["rank"]]
    reports = {rank for rank, text in tagged if PATTERNS.timed_out.search(text)} | {int(str(facts["rank"]))}
    lost = {rank for rank, text in tagged if PATTERNS.lost_peer.search(text)}  # they waited, too, until another one gave up
    listed = {int(m["rank"]) for text in lines if (m := PATTERNS.table_rank.match(text))}  # by torchrun, at the end
    others = ({rank for rank, _ in tagged} | listed | _teed_ranks(lines)) - reports - lost
    said = "rank " if len(reports) == 1 else "ranks "
    text = f"{said}{number_ranges(reports)} {'reports' if len(reports) == 1 else 'report'} it"
    if others and len(others) < MAX_QUIET_RANKS:
        quiet = number_ranges(others)
        return {"reporters": f"{text}, {'rank' if len(others) == 1 else 'ranks'} {quiet} not", QUIET_RANKS: quiet}
    return {"reporters": text} if len(reports) > 1 else {}


def tagged_ranks(proofs: Sequence[Proof]) -> set[int]:
    """The ranks whose tags stand in lines: equal lines of several ranks are one event."""
    return {int(m["rank"]) for p in proofs for m in PATTERNS.rank_tag.finditer(p.text) if m["rank"]}


def tagged_frames(proofs: Sequence[Proof]) -> dict[int, Frame]:
    """The line of the program of each rank whose tag stands in front of one."""
    found = ((m, file_frame(p.text)) for p in proofs for m in PATTERNS.rank_tag.finditer(p.text) if m["rank"])
    return {int(m["rank"]): Frame(f.file, f.line, f.function) for m, f in found if f and f.line is not None}


def _teed_ranks(lines: Sequence[str]) -> set[int]:
    """The ranks whose lines torchrun tags with their number on the node, if that is the rank of all that tell both."""
    tags = [m for text in lines if (m := PATTERNS.role_tag.match(text))]
    known = {(m["local"], m["rank"]) for m in tags if m["rank"]}
    return {int(m["local"]) for m in tags} if len(known) > 1 and all(local == rank for local, rank in known) else set()


def stalled_ranks(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The ranks that Horovod waits for, as it lists them below its warning: `Stalled ranks:`, `6: [allreduce.0, ...]`."""
    if any(name in facts for name in (*STALLED_FACTS, "culprit_rank")):
        return {}
    head = next((i for i in range(max(0, at - NEAR), min(len(lines), at + WIDE)) if "Stalled ranks:" in lines[i]), len(lines))
    listed = takewhile(bool, (PATTERNS.stalled_rank.search(text) for text in lines[head + 1 :]))
    ranks = {int(m["rank"]) for m in listed if m}
    return {MISSING_RANKS: number_ranges(ranks), MISSING_REASON: "Horovod lists what waits for them"} if ranks else {}


def rendezvous_endpoint(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """Where the ranks were to meet, if the message is about that."""
    if not any(word in proofs[0].text.lower() for word in ("rendezvous", "c10d", "tcpstore", "store")):
        return {}
    found = next(filter(None, (PATTERNS.endpoint.search(t) for t in (*reversed(lines[: at + 1]), *lines[at:]))), None)
    return {"endpoint": found["endpoint"]} if found else {}


def table(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The host and the rank in the rows of torchelastic's table of failures."""
    if not PATTERNS.table_row.match(proofs[0].text) or "rank" in facts:
        return {}
    above = lines[max(0, at - MAX_SENTENCE_LINES // 2) : at][::-1]
    rank = next(filter(None, (PATTERNS.table_rank.match(t) for t in above)), None)
    host = next(filter(None, (PATTERNS.table_host.match(t) for t in above)), None)
    known: Found = {"rank": int(rank["rank"])} if rank else {}
    return known | ({"host": host["host"]} if host and not {"host", "node"} & facts.keys() else {})
