"""Links between events to the things they speak of: which lines tell of one process, container, pod or job step.

dmesg.log:82 -pid 15372- train.log:28 -pid 15372- train.log:58     -> all three are of one thing
"""

from collections.abc import Iterable, Mapping

from forensics.model import Link

Place = tuple[str, int]
KINDS = {"pid", "step", "container", "pod_uid", "pod"}  # time, a GPU or a whole job do not make two deaths one


def things(links: Iterable[Link]) -> Mapping[Place, Place]:
    """Each linked place with the one that stands for its thing."""
    above: dict[Place, Place] = {}

    def top(place: Place) -> Place:
        while above.setdefault(place, place) != place:
            above[place] = place = above[above[place]]
        return place

    for link in links:
        if link.kind in KINDS:
            above[top(link.second)] = top(link.first)
    return {place: top(place) for place in list(above)}
