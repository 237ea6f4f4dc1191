"""The ends of ranks that logs tell, as far as they are their own: an exception, a signal, a kill; not that others went away.

[rank2]: KeyError: 'label' at train.py:96      -> rank 2: it raised KeyError at train.py:96
rank : 2 ... exitcode : -9 (pid: 4711)         -> rank 2: it was ended by SIGKILL
Killed process 4711, and rank 2 is pid 4711    -> rank 2: what the kernel's log shows
"""

from collections.abc import Collection, Iterable, Mapping
from signal import SIGTERM
from types import MappingProxyType

from msgspec import Struct

from forensics.database import HEALTHY, Cause, Database
from forensics.model import Observation
from forensics.model.dumps import Frame
from forensics.model.ranks import ProofPlace, RankProcess
from forensics.ranks.processes import rank_of
from forensics.readers.identity.entity_ids import entity_ids

WAITS_FOR_PEER, STOPPED_BY_ANOTHER = "waits_for_peer", "external_stop"  # traits of causes: ends that another one brings about
MAX_SAID_CHARS = 120  # chosen by hand: of a message that stands inside a sentence


class Ended(Struct, frozen=True):
    """How a rank ended. `frame`: the line of the program, where it is known. `cause`: of the event that tells the end; empty for
    an end that a wait for others can bring about, as an abort."""

    text: str
    frame: Frame | None
    proof: ProofPlace
    cause: str


class Ends(Struct, frozen=True):
    """How ranks ended by themselves, and how ranks gave up that had waited for others, by rank."""

    own: Mapping[int, Ended] = MappingProxyType({})
    gave_up: Mapping[int, Ended] = MappingProxyType({})


def ended_ranks(events: Iterable[Observation], processes: Mapping[int, RankProcess], knowledge: Database) -> Ends:
    """How each rank ended, the first event of each that is more than a hint."""
    waits = [c for c in knowledge.causes.values() if WAITS_FOR_PEER in c.traits]
    own: dict[int, Ended] = {}
    gave_up: dict[int, Ended] = {}
    for event in sorted(events, key=lambda e: (e.weight != "proof", e.line)):
        ids = entity_ids(event)
        rank = ids.rank if ids.rank >= 0 else rank_of(processes, ids.pid, ids.host or ids.prefix_host)
        cause = knowledge.causes.get(event.cause or "")
        if rank is None or cause is None or not _is_end(event, cause):
            continue
        found = gave_up if WAITS_FOR_PEER in cause.traits else own
        told = "" if any(cause.id in c.explains for c in waits) else cause.id
        found.setdefault(rank, Ended(_text(event), _frame(event), _place(event), told))
    return Ends(own, gave_up)


def is_wait(told: Collection[str], decided: Collection[str], knowledge: Database) -> bool:
    """Do logs tell that ranks wait for each other or stand still, or of no trouble at all? `told`: the causes that they tell of;
    `decided`: those of a standstill."""
    traits = {one: cause.traits for one in told if (cause := knowledge.causes.get(one)) and one != HEALTHY}
    return not traits or any(WAITS_FOR_PEER in of or one in decided for one, of in traits.items())


def _is_end(event: Observation, cause: Cause) -> bool:
    """Does an event tell of an end that is not a launcher's doing?"""
    if event.weight == "hint" or not event.proofs or event.kind.startswith("series/"):
        return False
    if event.fields.get("signal") == SIGTERM or event.fields.get("signal_name") == "SIGTERM":  # launchers end the other ranks so
        return False
    return cause.id != HEALTHY and STOPPED_BY_ANOTHER not in cause.traits


def _place(event: Observation) -> ProofPlace:
    first = event.proofs[0]
    return ProofPlace(first.source, first.line, first.text)


def _text(event: Observation) -> str:
    fields = event.fields
    if kind := fields.get("exc_type"):
        message = str(fields.get("exc_message", ""))[:MAX_SAID_CHARS]
        return f"it raised {str(kind).rpartition('.')[2]}{': ' + message if message else ''}"
    if signal := fields.get("signal_name", fields.get("signal")):
        return f"it was ended by signal {signal}" if isinstance(signal, int) else f"it was ended by {signal}"
    if "exit_code" in fields:
        return f"it ended with exit status {fields['exit_code']}"
    return f"it ended: {event.proofs[0].text.strip()[:MAX_SAID_CHARS]}"


def _frame(event: Observation) -> Frame | None:
    file, line = event.fields.get("file"), event.fields.get("line_no")
    if file is None or not str(line).isdigit():
        return None
    return Frame(str(file), int(str(line)), str(event.fields.get("function", "")))
