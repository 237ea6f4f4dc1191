"""The process of each rank: its pid, host and GPU, as tables of ranks, events and stacks tell them.

gpu-04:4711:4790 [3] NCCL INFO comm 0x5d0 rank 37 nranks 64 cudaDev 3 ...    -> rank 37: pid 4711 on gpu-04, GPU 3
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from forensics.model import Observation
from forensics.model.ranks import RankProcess
from forensics.model.stacks import ProcessStacks
from forensics.ranks.threads import started_ranks
from forensics.readers.identity.entity_ids import EntityIds, entity_ids
from forensics.readers.identity.normalise import same_host


def rank_processes(
    mappings: Iterable[EntityIds], events: Iterable[Observation], stacks: Iterable[ProcessStacks] = ()
) -> dict[int, RankProcess]:
    """The process of each rank, as tables of ranks and events that name rank and pid tell it; the last process of each. Those
    that a program started itself are known by their stacks."""
    given = list(stacks)
    hosts = {one.pid: one.host for one in given}
    found = {rank: RankProcess(pid, hosts[pid]) for pid, rank in started_ranks(given).items()}
    for ids in (*mappings, *map(entity_ids, events)):
        if ids.rank >= 0 and ids.pid:
            known = found.get(ids.rank, RankProcess())
            same = known if known.pid == ids.pid else RankProcess(ids.pid)
            host = ids.host or ids.prefix_host or same.host
            found[ids.rank] = RankProcess(ids.pid, host, ids.gpu if ids.gpu >= 0 else same.gpu)
    return found


def rank_of(processes: Mapping[int, RankProcess], pid: int | None, host: str) -> int | None:
    """The rank of a process; None where several hosts have such a rank, or none. `host`: empty where it is unknown."""
    same = [r for r, p in processes.items() if pid and p.pid == pid and (not (p.host and host) or same_host(p.host, host))]
    return same[0] if len(same) == 1 else None


def with_stacks(known: RankProcess, stacks: ProcessStacks) -> RankProcess:
    """`known`, with what the stacks of the same process tell."""
    if known.pid is None or stacks.pid is None or known.pid == stacks.pid:
        return replace(known, pid=known.pid or stacks.pid, host=known.host or stacks.host)
    return known
