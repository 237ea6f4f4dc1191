"""Reads which collective call each of two ranks made, as PyTorch tells it where it compares them before they are made.

Detected mismatch between collectives on ranks. Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=90,
OpType=ALLREDUCE, TensorShape=[32], TensorDtypes=Float, ...), but Rank 1 is running collective: CollectiveFingerPrint(...)
    -> {0: ("allreduce", "[32] Float"), 1: ("allreduce", "[32] Double")}

It does so with TORCH_DISTRIBUTED_DEBUG=DETAIL. Source: torch/csrc/distributed/c10d/ProcessGroupWrapper.cpp.
"""

from itertools import chain

from forensics.data_files.named_parts import patterns_of
from forensics.model import Observation

PATTERNS = patterns_of("told calls")
FINGERPRINT = "CollectiveFingerPrint("


def tells_calls(event: Observation) -> bool:
    """Does its message tell the calls of two ranks?"""
    return FINGERPRINT in str(event.fields.get("exc_message", ""))


def told_calls(event: Observation) -> dict[int, tuple[str, str]]:
    """The operation of each rank that the message names, and the shape and type of its tensor, empty where it has none. Ranks
    that print to one log tell it in lines that are one event."""
    if not tells_calls(event):
        return {}
    texts = str(event.fields["exc_message"]), *(proof.text for proof in event.proofs)
    found = chain.from_iterable(map(PATTERNS.rank_call.finditer, texts))
    return {int(m["rank"]): (m["op"].lower(), f"[{m['shape']}] {m['type']}" if m["type"] else "") for m in found}
