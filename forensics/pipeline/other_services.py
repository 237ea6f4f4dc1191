"""What became of the other services of docker compose, beside the one whose failure is told.

    store-1      | ValueError: index page 17 is corrupt        the first cause, of the service store-1
    trainer-1    | ConnectionResetError: store closed the connection
    trainer-1 exited with code 1                               -> "trainer-1 ended with exit status 1, after store-1 failed"
    dashboard-1  | dashboard: giving up
    dashboard-1 exited with code 1                             -> "dashboard-1 ended with exit status 1, after store-1 failed"

A service that goes on, or was started again, did not end. The lines of all services have the numbers of the one file, in the
order in which docker compose received them.
"""

from collections.abc import Iterator, Mapping, Sequence

from forensics.model import Notice, Proof
from forensics.model.verdicts import Lane
from forensics.outcome.recorded_status import ended_with
from forensics.readers.platforms.service_status import service_status


def ends_of_other_services(
    decided_by: Sequence[Proof], lanes: Mapping[str, Sequence[Lane]], services: Mapping[str, str]
) -> tuple[Notice, ...]:
    """What each other service of the same log said last before it ended with a failure, in order. `decided_by`: the evidence of
    the first cause, the strongest first. `services`: the name of the service by that of its log."""
    own = next((p for p in decided_by if p.source in services), None)
    if own is None:
        return ()
    file = own.source.rpartition("!")[0]
    others = [name for name in services if name.rpartition("!")[0] == file and name != own.source]
    ends = (end for name in others for lane in lanes.get(name, ()) for end in _bad_end(lane, services[name], own, services))
    return tuple(sorted(ends, key=lambda n: n.line))


def _bad_end(lane: Lane, service: str, own: Proof, services: Mapping[str, str]) -> Iterator[Notice]:
    *before, last = lane.last_lines or (None,)
    status = service_status(last.text) if last else 0
    if last and status:
        order = "after" if last.number > own.line else "before"
        said = before[-1] if before and before[-1] else last
        why = f"{service} {ended_with(status)}, {order} {services[own.source]} failed"
        yield Notice(lane.source, said.number, said.text, None, "others", why)
