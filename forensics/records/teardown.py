"""Processes that their launcher ended, because another had failed before: their death is no root.

    torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 10274 closing signal SIGTERM
      exitcode  : -9 (pid: 10274)  (SIGKILL)          -> a hint, as the launcher's own signal explains it

The line stands in front of the death or, where ranks write to one file at once, anywhere in it.
"""

from collections.abc import Sequence, Set

from msgspec.structs import replace

from forensics.model import Event

CLOSING = "distributed.peer_lost/launcher_closing"
DIED = "process.worker_died"
BY_SIGNAL = {-9, -15, 137, 143}


def torn_down(events: Sequence[Event]) -> list[Event]:
    """`events` of one source, those deaths as hints."""
    closed = {e.fields.get("pid") for e in events if e.kind == CLOSING} - {None}
    return [replace(e, weight="hint") if closed and _is_its(e, closed) else e for e in events]


def _is_its(event: Event, closed: Set[object]) -> bool:
    """Is `event` the death of one of `closed` by a signal, as far as it tells?"""
    return event.cause == DIED and event.fields.get("pid") in closed and event.fields.get("exit_code", -9) in BY_SIGNAL
