"""The ranks that messages of launchers and collectives name: PyTorch, torchelastic, DeepSpeed, Horovod.

[rank3]:[E1121 16:24:10 ...] Timed out        -> rank 3
Stalled ranks: / 6: [allreduce.0, ...]        -> missing_ranks 6
"""

from collections.abc import Sequence
from itertools import takewhile

from forensics.core.text import number_ranges
from forensics.data_files.named_parts import part_pattern
from forensics.model import Fields, Proof
from forensics.readers.surroundings.near import MAX_READ_PROOFS, MAX_SENTENCE_LINES, NEAR, WIDE, Found

RANK_TAG_PATTERN = part_pattern("rank places", "rank tag")
TIMED_OUT_PATTERN = part_pattern("rank places", "timed out")
STALLED_RANK_PATTERN = part_pattern("rank places", "stalled rank")  # of Horovod, below `Stalled ranks:`
STALLED_FACTS = MISSING_RANKS, MISSING_REASON = "missing_ranks", "missing_reason"
QUIET_RANKS = "quiet_ranks"  # those whose lines stand in the log and do not report the time-out: `1, 3`
MAX_QUIET_RANKS = 4  # chosen by hand: of more, each one is as likely
ENDPOINT_PATTERN = part_pattern("rank places", "endpoint")
PROGRAM_PATTERN = part_pattern("rank places", "program")  # as DeepSpeed's launcher prints it
TABLE_ROW_PATTERN = part_pattern("rank places", "table row")  # torchelastic's
TABLE_HOST_PATTERN = part_pattern("rank places", "table host")
TABLE_RANK_PATTERN = part_pattern("rank places", "table rank")


def tagged_rank(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The rank whose tag the evidence has, if it has only one."""
    if any("rank" in name for name in facts):
        return {}
    tags = {m.groups() for p in proofs[:MAX_READ_PROOFS] for m in RANK_TAG_PATTERN.finditer(p.text)}
    if len(tags) != 1:
        return {}
    rank, local = tags.pop()
    program = PROGRAM_PATTERN.search(proofs[0].text)
    return {"rank": int(rank)} if rank else {"local_rank": int(local), **({"own_program": program["program"]} if program else {})}


def reporting_ranks(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The ranks that report a time-out, and those that do not, by their tags; nothing if the culprit is known."""
    if "timeout_s" not in facts or "rank" not in facts or any(n.startswith(("culprit_", "missing_")) for n in facts):
        return {}
    tagged = [(int(m["rank"]), text) for text in lines if (m := RANK_TAG_PATTERN.search(text)) and m["rank"]]
    reports = {rank for rank, text in tagged if TIMED_OUT_PATTERN.search(text)} | {int(str(facts["rank"]))}
    others = {rank for rank, _ in tagged} - reports
    said = "rank " if len(reports) == 1 else "ranks "
    text = f"{said}{number_ranges(reports)} {'reports' if len(reports) == 1 else 'report'} it"
    if others and len(others) < MAX_QUIET_RANKS:
        quiet = number_ranges(others)
        return {"reporters": f"{text}, {'rank' if len(others) == 1 else 'ranks'} {quiet} not", QUIET_RANKS: quiet}
    return {"reporters": text} if len(reports) > 1 else {}


def stalled_ranks(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The ranks that Horovod waits for, as it lists them below its warning: `Stalled ranks:`, `6: [allreduce.0, ...]`."""
    if any(name in facts for name in (*STALLED_FACTS, "culprit_rank")):
        return {}
    head = next((i for i in range(max(0, at - NEAR), min(len(lines), at + WIDE)) if "Stalled ranks:" in lines[i]), len(lines))
    listed = takewhile(bool, (STALLED_RANK_PATTERN.search(text) for text in lines[head + 1 :]))
    ranks = {int(m["rank"]) for m in listed if m}
    return {MISSING_RANKS: number_ranges(ranks), MISSING_REASON: "Horovod lists what waits for them"} if ranks else {}


def rendezvous_endpoint(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """Where the ranks were to meet, if the message is about that."""
    if not any(word in proofs[0].text.lower() for word in ("rendezvous", "c10d", "tcpstore", "store")):
        return {}
    found = next(filter(None, (ENDPOINT_PATTERN.search(t) for t in (*reversed(lines[: at + 1]), *lines[at:]))), None)
    return {"endpoint": found["endpoint"]} if found else {}


def table(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The host and the rank in the rows of torchelastic's table of failures."""
    if not TABLE_ROW_PATTERN.match(proofs[0].text) or "rank" in facts:
        return {}
    above = lines[max(0, at - MAX_SENTENCE_LINES // 2) : at][::-1]
    rank = next(filter(None, (TABLE_RANK_PATTERN.match(t) for t in above)), None)
    host = next(filter(None, (TABLE_HOST_PATTERN.match(t) for t in above)), None)
    known: Found = {"rank": int(rank["rank"])} if rank else {}
    return known | ({"host": host["host"]} if host and not {"host", "node"} & facts.keys() else {})
