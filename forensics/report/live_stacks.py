"""Where the processes of a running job stand, as text and JSON."""

from collections.abc import Iterator, Sequence

import msgspec

from forensics.core.text import with_noun
from forensics.model.stacks import LiveHost, Standing

MAX_HOSTS = 8  # hosts of one place that are named
STACK_FRAMES = 6  # of each place, the program's own first


def stacks_json(hosts: Sequence[LiveHost], places: Sequence[Standing]) -> str:
    """All places, and all processes with what was read of each."""
    return msgspec.json.format(msgspec.json.encode({"places": places, "hosts": hosts}), indent=2).decode() + "\n"


def stacks_text(hosts: Sequence[LiveHost], places: Sequence[Standing]) -> str:
    """One paragraph for each place."""
    return "\n".join(_lines(hosts, places)) + "\n"


def _lines(hosts: Sequence[LiveHost], places: Sequence[Standing]) -> Iterator[str]:
    count = sum(len(host.processes) for host in hosts)
    where = f"{with_noun(len(hosts), 'host')}, {with_noun(len(places), 'place')}"
    yield f"{with_noun(count, 'process', 'processes')} on {where}"
    for one in places:
        at = f" at {one.place.function} ({one.place.place})" if one.place else ""
        yield ""
        yield f"{one.who}: {one.called + at if one.called else at.removeprefix(' at ') or 'no stack'}"
        kernel = f"; in the kernel: {one.kernel}" if one.kernel else ""
        yield f"  {one.doing}{kernel}"
        yield f"  {_whereabouts(one)}"
        yield from (f"    {frame}" for frame in one.frames[:STACK_FRAMES])
        if len(one.frames) > STACK_FRAMES:
            yield f"    and {len(one.frames) - STACK_FRAMES} more frames"


def _whereabouts(one: Standing) -> str:
    """`on gpu-04, gpu-05: pid 4711 and 62 more`."""
    hosts = ", ".join(one.hosts[:MAX_HOSTS]) + (f" and {len(one.hosts) - MAX_HOSTS} more" if len(one.hosts) > MAX_HOSTS else "")
    return f"on {hosts}: pid {one.pids[0]}" + (f" and {len(one.pids) - 1} more" if len(one.pids) > 1 else "")
