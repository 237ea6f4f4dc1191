"""The processes of ranks, and their ends that logs tell, as far as they are their own: an exception, a signal, a kill.

gpu-04:4711:4790 [3] NCCL INFO comm 0x5d0 rank 37 nranks 64 cudaDev 3 ...    -> rank 37: pid 4711 on gpu-04, GPU 3
[rank2]: KeyError: 'label' at train.py:96      -> rank 2: it raised KeyError at train.py:96
rank : 2 ... exitcode : -9 (pid: 4711)         -> rank 2: it was ended by SIGKILL
Killed process 4711, and rank 2 is pid 4711    -> rank 2: what the kernel's log shows
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from signal import SIGABRT, SIGTERM, Signals
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from forensics.core.text import numbers_in
from forensics.database import HEALTHY, Cause, Database, signal_outcome
from forensics.model import Observation
from forensics.model.dumps import Frame
from forensics.model.ranks import Kind, ProofPlace, RankProcess
from forensics.model.stacks import ProcessStacks
from forensics.ranks.launchers import ranks_of_stopped
from forensics.ranks.observation import GONE, RANKS_RECORD
from forensics.ranks.threads import is_ranks_own
from forensics.readers.capture.first_end import FIRST_END, is_well_end
from forensics.readers.identity.entity_ids import EntityIds, entity_ids, same_host
from forensics.readers.python.library_files import is_others_code
from forensics.readers.python.teardown import IN_THREAD
from forensics.readers.python.traceback import EXITED_CHILD, REPORTERS
from forensics.readers.torch.rank_places import tagged_frames, tagged_ranks
from forensics.readers.torch.told_calls import told_calls


def rank_processes(
    mappings: Iterable[EntityIds], events: Iterable[Observation], stacks: Iterable[ProcessStacks] = ()
) -> dict[int, RankProcess]:
    """The process of each rank, the last one of each: as events tell it that name rank and pid, which may be those of a helper of
    the rank, and before that its stacks, and before those tables of ranks."""
    own: dict[int, ProcessStacks] = {}
    for one in stacks:
        if one.rank is not None and one.pid is not None and (not one.threads or is_ranks_own(one, own.get(one.rank))):
            own[one.rank] = one
    by_events, by_tables = (
        [(i.rank, i.pid, i.host or i.prefix_host, i.gpu) for i in ids] for ids in (map(entity_ids, events), mappings)
    )
    found: dict[int, RankProcess] = {}
    for rank, pid, host, gpu in (*by_events, *((rank, one.pid, one.host, -1) for rank, one in own.items()), *by_tables):
        if rank >= 0 and pid:
            known = found.get(rank, RankProcess())
            same = known if known.pid == pid else RankProcess(pid)
            found[rank] = RankProcess(pid, host or same.host, gpu if gpu >= 0 else same.gpu)
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


WAITS_FOR_PEER, STOPPED_BY_ANOTHER = "waits_for_peer", "external_stop"  # traits of causes: ends that another one brings about
TELLS_WHY = {"exc_type", "cpu_limit_s", "signal", "signal_name", "exit_code"}  # fields of an event that says how a rank ended
LAUNCHER_ROW = "torchelastic"  # the kind of event of a row in torchrun's table of failures
RECEIVED, EXPECTED = "received_bytes", "expected_bytes"  # fields of an event: of a collective call whose sizes differ
WITH_LAUNCHER = "it was ended with its launcher, which somebody stopped"
ENDED_SILENT = "it ended without a word: the others lost their connection to it"
UNTOLD_END = "it ended: "  # before a line that tells no more than that
MAX_SAID_CHARS = 120  # chosen by hand: of a message that stands inside a sentence


class Ended(Struct, frozen=True):
    """How a rank ended. `frame`: the line of the program, where it is known. `cause`: of the event that tells the end; empty for
    an end that a wait for others can bring about, as an abort. `received`, `expected`: bytes of a collective call, where they
    differ; `call`: the function of PyTorch that made it; `group`: how the program calls its group. `kind`: how it keeps others
    waiting. `in_thread`: an exception ended a thread other than the main one."""

    text: str
    frame: Frame | None
    proof: ProofPlace
    cause: str
    received: int = 0
    expected: int = 0
    call: str = ""
    kind: Kind = "left"
    group: str = ""
    in_thread: bool = False


class Ends(Struct, frozen=True):
    """How ranks ended by themselves, how ranks gave up that had waited for others, and which call a rank made that did not fit
    those of others, its operation and its tensor: each by rank. `raised`: exceptions of which nothing tells the rank. `listed`:
    the ranks of which the launcher tells that they failed, where it tells of all. `handled`: exceptions of ranks that went on.
    `stopped`: ranks of which a log tells that somebody stopped them. `said`: the last line of logs that names each rank.
    `held`: ranks whose process is stopped, as ps or the log of somebody else tells. `sent`: by pid, what tells of other signals.
    `others`: by pid, what tells the end of a process that is no rank. `is_lost`: ranks lost their connection to others.
    `last_step`: when a log last told of a step of the run, s since 1970; 0 where none does.
    """

    own: Mapping[int, Ended] = MappingProxyType({})
    gave_up: Mapping[int, Ended] = MappingProxyType({})
    calls: Mapping[int, tuple[str, str]] = MappingProxyType({})
    raised: tuple[Ended, ...] = ()
    listed: Mapping[int, ProofPlace] = MappingProxyType({})
    handled: Mapping[int, Ended] = MappingProxyType({})
    stopped: frozenset[int] = frozenset()
    said: Mapping[int, ProofPlace] = MappingProxyType({})
    held: Mapping[int, tuple[ProofPlace, ...]] = MappingProxyType({})
    sent: Mapping[int, tuple[ProofPlace, ...]] = MappingProxyType({})
    others: Mapping[int, Observation] = MappingProxyType({})
    is_lost: bool = False
    last_step: float = 0.0


def ended_ranks(
    events: Iterable[Observation],
    processes: Mapping[int, RankProcess],
    knowledge: Database,
    names: Mapping[str, int] = MappingProxyType({}),
) -> Ends:
    """How each rank ended, the first event of each that is more than a hint. `names`: the numbers by which names of sources
    differ; they are ranks where logs tell none."""
    waits = [c for c in knowledge.causes.values() if WAITS_FOR_PEER in c.traits]
    still = set(knowledge.records[RANKS_RECORD][GONE].decides)  # that a rank stands still is no end
    events = list(events)
    numbered = _by_children(events, processes, names)
    own: dict[int, Ended] = {}
    gave_up: dict[int, Ended] = {}
    causes, nameless = dict[int, str](), list[Observation]()  # of ranks, and of which nothing tells the rank
    aborted, reported = set[int](), set[int]()  # the end of another brings that about; only another process says that it ended
    for event in sorted(events, key=lambda e: (e.weight != "proof", e.line)):
        ids = entity_ids(event)
        rank = ids.rank if ids.rank >= 0 else rank_of(processes, ids.pid, ids.host or ids.prefix_host)
        rank = numbered.get(id(event)) if rank is None else rank
        cause = knowledge.causes.get(event.cause or "")
        nameless += [event] if rank is None else []
        if rank is None or cause is None or cause.id in still or not _is_end(event, cause):
            continue
        found = gave_up if WAITS_FOR_PEER in cause.traits else own
        if found is own and rank not in own and not TELLS_WHY & event.fields.keys():
            reported.add(rank)
        if cause.id == knowledge.records["faulthandler"][signal_outcome(SIGABRT)].cause:
            aborted.add(rank)
        known = found.setdefault(rank, _ended(event, "" if any(cause.id in c.explains for c in waits) else cause.id))
        found[rank], causes[rank] = _with_more(known, event), cause.id
        gave_up = (_of_others(event, known) if found is gave_up else {}) | gave_up
    own = {rank: _with_sizes(end, gave_up.get(rank)) for rank, end in own.items() if rank not in reported & gave_up.keys()}
    own = own or _by_launcher(events, gave_up) or _with_launcher(events, gave_up)
    if own.keys() <= aborted:
        own = {rank: own.get(rank, end) for rank, end in _first_ends(events, knowledge).items()} or own
        gave_up = {rank: end for rank, end in gave_up.items() if rank not in own}
    if len(own) == 1:  # it is the one of which that is told, too
        own = {rank: _with_nameless(end, causes.get(rank, ""), nameless) for rank, end in own.items()}
    told = _listed(events), _handled(events, knowledge), _stopped(events, knowledge)
    return Ends(own, gave_up, _calls(events), _raised(nameless, knowledge), *told, is_lost=_is_lost(events, knowledge))


def _of_others(event: Observation, known: Ended) -> dict[int, Ended]:
    """The same end of all ranks whose tags an event shows: equal lines of several ranks are one event."""
    frames = tagged_frames(event.proofs)
    return {rank: replace(known, frame=frames.get(rank)) for rank in tagged_ranks(event.proofs)}


def _calls(events: Iterable[Observation]) -> dict[int, tuple[str, str]]:
    return dict(chain.from_iterable(told_calls(event).items() for event in events))


def _handled(events: Iterable[Observation], knowledge: Database) -> dict[int, Ended]:
    """The first exception of each rank that is no wait, and while which was handled another one came."""
    found: dict[int, Ended] = {}
    for event in events:
        cause, kind = knowledge.causes.get(event.cause or ""), str(event.fields.get("exc_type", "")).rpartition(".")[2]
        is_hint = event.kind == "traceback" and event.weight == "hint" and kind not in ("", *REPORTERS)
        if is_hint and cause and WAITS_FOR_PEER not in cause.traits and (rank := entity_ids(event).rank) >= 0:
            found.setdefault(rank, _ended(event, cause.id))
    return found


def _stopped(events: Iterable[Observation], knowledge: Database) -> frozenset[int]:
    own = (e for e in events if e.weight != "hint" and knowledge.has_trait(e.cause or "", STOPPED_BY_ANOTHER))
    return frozenset(rank for e in own if (rank := entity_ids(e).rank) >= 0)


def _by_launcher(events: Iterable[Observation], gave_up: Collection[int]) -> dict[int, Ended]:
    """The one rank of which a launcher tells an exit status, and no line that it waited for others."""
    told = {int(str(e.fields["rank"])): e for e in events if e.kind == LAUNCHER_ROW and {"rank", "exit_code"} <= e.fields.keys()}
    left = {rank: e for rank, e in told.items() if rank not in gave_up and int(str(e.fields["exit_code"])) > 0}
    return {rank: Ended(_text(e), None, _place(e), "") for rank, e in left.items()} if len(left) == 1 and gave_up else {}


def _with_launcher(events: Sequence[Observation], gave_up: Mapping[int, Ended]) -> dict[int, Ended]:
    ranks, place = ranks_of_stopped(events, {rank: end.proof.source for rank, end in gave_up.items()})
    return {rank: Ended(WITH_LAUNCHER, None, place, "") for rank in ranks if place}


def _is_lost(events: Iterable[Observation], knowledge: Database) -> bool:
    """Did ranks lose their connection to others?"""
    return any(e.weight != "hint" and knowledge.records[RANKS_RECORD][GONE].is_beside(e.cause or "") for e in events)


def _listed(events: Iterable[Observation]) -> dict[int, ProofPlace]:
    return {rank: _place(e) for e in events for rank in numbers_in(str(e.fields.get("listed_ranks", "")))}


def _raised(events: Iterable[Observation], knowledge: Database) -> tuple[Ended, ...]:
    """The exceptions in `events` that end a thread of work and are no wait for others."""
    found = ((e, cause) for e in events if "exc_type" in e.fields and (cause := knowledge.causes.get(e.cause or "")))
    ends = (_ended(e, cause.id) for e, cause in found if _is_end(e, cause) and WAITS_FOR_PEER not in cause.traits)
    return tuple(end for end in ends if end.frame and not is_others_code(end.frame.file))


def _ended(event: Observation, cause: str) -> Ended:
    kind: Kind = "raised" if "exc_type" in event.fields and not _is_of_child(event) else "left"
    return Ended(_text(event), _frame(event), _place(event), cause, kind=kind, in_thread=IN_THREAD in event.fields)


def _with_sizes(end: Ended, told: Ended | None) -> Ended:
    """The end of a rank, with the bytes of its last call that another line tells."""
    return replace(end, received=told.received, expected=told.expected, proof=told.proof) if told and told.received else end


def _with_more(known: Ended, event: Observation) -> Ended:
    """The end of a rank with what a further event tells of it."""
    call = known.call or str(event.fields.get("python_call", ""))
    group = known.group or str(event.fields.get("call_group", ""))
    text = _text(event) if known.text.startswith(UNTOLD_END) and TELLS_WHY & event.fields.keys() else known.text
    more = replace(known, text=text, frame=known.frame or _frame(event), call=call, group=group)
    if RECEIVED not in event.fields:
        return more
    received, expected = (int(str(event.fields[name])) for name in (RECEIVED, EXPECTED))
    return replace(more, received=received, expected=expected, proof=_place(event))


def _with_nameless(end: Ended, cause: str, events: Sequence[Observation]) -> Ended:
    """The end of the only rank that ended by itself, with what events tell that name no rank: its line, and bytes that differ."""
    frames = (_frame(e) for e in events if e.cause == cause)
    frame = end.frame or next((f for f in frames if f and not is_others_code(f.file)), None)  # a launcher tells its own line
    sizes = next((e for e in events if RECEIVED in e.fields and not end.received), None)
    return replace(_with_more(end, sizes) if sizes else end, frame=frame)


def _first_ends(events: Iterable[Observation], knowledge: Database) -> dict[int, Ended]:
    """The rank that ended before others lost their connection to it. Where others only ran out of time, it may have done so
    first, unless a signal ended it, or it ended well."""
    waits = {e.cause for e in events if (cause := knowledge.causes.get(e.cause or "")) and WAITS_FOR_PEER in cause.traits}
    lost = {cause for cause in waits if cause and knowledge.records[RANKS_RECORD][GONE].is_beside(cause)}
    ends = [e for e in events if e.kind == FIRST_END and (is_well_end(e) or ("signal" in e.fields if waits - lost else waits))]
    ranks = (int(str(e.fields.get("rank", e.fields.get("child_no")))) for e in ends)
    return {
        r: Ended(_text(e), None, _place(e), "", kind="ended_well" if is_well_end(e) else "left")
        for r, e in zip(ranks, ends, strict=True)
    }


def _by_children(events: Sequence[Observation], processes: Mapping[int, RankProcess], names: Mapping[str, int]) -> dict[int, int]:
    """By id: the ranks of events that tell only which of the processes on one host it was: as a launcher counts them there, or as
    the program started or named them. Names count from 0 if one of them does. Empty where logs tell ranks, or several hosts."""
    ids = [entity_ids(event) for event in events]
    if any(one.rank >= 0 for one in ids) or len({p.host for p in processes.values() if p.host}) > 1:
        return {}
    found = {id(event): names[event.source] for event in events if event.source in names}
    found |= {id(event): one.local_rank for event, one in zip(events, ids, strict=True) if one.local_rank >= 0}
    for name in ("child_no", "process_no"):
        told = {id(event): number for event in events if isinstance(number := event.fields.get(name), int)}
        found |= told if name == "child_no" or 0 in told.values() else {}
    return found


def is_wait(told: Collection[str], decided: Collection[str], knowledge: Database) -> bool:
    """Do logs tell that ranks wait for each other or stand still, or of no trouble at all? `told`: the causes that they tell of;
    `decided`: those of a standstill."""
    traits = {one: cause.traits for one in told if (cause := knowledge.causes.get(one)) and one != HEALTHY}
    return not traits or any(WAITS_FOR_PEER in of or one in decided for one, of in traits.items())


def _is_end(event: Observation, cause: Cause) -> bool:
    """Does an event tell of an end that is not a launcher's doing?"""
    if (event.weight == "hint" and not _is_of_child(event)) or not event.proofs or event.kind.startswith("series/"):
        return False
    if event.fields.get("signal") == SIGTERM or event.fields.get("signal_name") == "SIGTERM":  # launchers end the other ranks so
        return False
    return cause.id != HEALTHY and STOPPED_BY_ANOTHER not in cause.traits


def _is_of_child(event: Observation) -> bool:
    """Is it the exception by which a program tells how one of its processes ended?"""
    return "local_rank" in event.fields and str(event.fields.get("exc_type", "")).endswith(EXITED_CHILD)


def _place(event: Observation) -> ProofPlace:
    first = event.proofs[0]
    return ProofPlace(first.source, first.line, first.text)


def _text(event: Observation) -> str:
    fields = event.fields
    if (kind := fields.get("exc_type")) and not _is_of_child(event):
        message = str(fields.get("exc_message", ""))[:MAX_SAID_CHARS]
        return f"it raised {str(kind).rpartition('.')[2]}{': ' + message if message else ''}"
    if "cpu_limit_s" in fields:
        return "it was ended at its limit of processor time"
    if signal := fields.get("signal_name", fields.get("signal")):
        return f"it was ended by {_signal_name(signal) if isinstance(signal, int) else signal}"
    if is_well_end(event):
        return "it ended well (exit status 0) while others went on"
    if isinstance(code := fields.get("exit_code"), int):
        return f"it was ended by {_signal_name(-code)}" if code < 0 else f"it ended with exit status {code}"
    return f"{UNTOLD_END}{event.proofs[0].text.strip()[:MAX_SAID_CHARS]}"


def _signal_name(number: int) -> str:
    return Signals(number).name if number in set(Signals) else f"signal {number}"


def _frame(event: Observation) -> Frame | None:
    names = ("file", "line_no", "function") if "file" in event.fields else ("python_file", "python_line", "python_function")
    file, line, function = map(event.fields.get, names)
    if file is None or not str(line).isdigit() or _is_of_child(event):  # that is the line of the program which tells it
        return None
    return Frame(str(file), int(str(line)), str(function or ""))
