"""The ranks of a launcher that somebody stopped, as where one node of several was taken away: nothing names them in its log.

node0.log  [rank0], [rank1]: Connection reset by peer
node1.log  Received 15 death signal, shutting down workers; Sending process 26306 closing signal SIGTERM, and 26308
    -> the two that are missing beside 0 and 1: ranks 2 and 3 ended as their launcher was stopped
"""

from collections.abc import Collection, Iterable, Mapping

from forensics.core.text import numbers_in
from forensics.model import Observation
from forensics.model.ranks import ProofPlace

STOPPED_SIGNAL, CLOSES_WORKER = "elastic_death_signal", "launcher_closing"  # signatures of torchrun's lines


def ranks_of_stopped(events: Iterable[Observation], waited: Mapping[int, str]) -> tuple[list[int], ProofPlace | None]:
    """The ranks, and the line that shows the signal; none if several launchers were stopped, or where ranks that waited for
    others are its own. `waited`: those, with the source of the log that tells it."""
    given = list(events)
    stopped = {e.source: e for e in sorted(given, key=lambda e: -e.line) if e.kind.endswith(f"/{STOPPED_SIGNAL}")}
    if len(stopped) != 1 or not waited or not stopped.keys().isdisjoint(waited.values()):
        return [], None
    (source, signal), *_ = stopped.items()
    closed = [e for e in given if e.source == source and e.kind.endswith(f"/{CLOSES_WORKER}")]
    listed = (rank for e in given if e.source != source for rank in numbers_in(str(e.fields.get("listed_ranks", ""))))
    first = signal.proofs[0]
    return _left_over({*waited, *listed}, sum(e.count for e in closed)), ProofPlace(first.source, first.line, first.text)


def _left_over(known: Collection[int], count: int) -> list[int]:
    """The `count` ranks that are missing in the numbers of the others, or follow them; none where other ones may be."""
    gaps = sorted(set(range(max(known) + 1)) - set(known))
    if gaps:
        return gaps if len(gaps) == count else []
    return list(range(max(known) + 1, max(known) + 1 + count))
