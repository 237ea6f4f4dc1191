"""A picture of which room may import which, as SVG: rooms in layers, and each arrow leads down.

Arrows that others imply are left out. An arrow over several layers bends where one lets it through. The places within a layer are
found as Sugiyama's method does: each goes to the mean place of what it is connected with, up and down, a few times.
"""

import graphlib
from collections.abc import Mapping, Set
from html import escape
from itertools import pairwise
from typing import NamedTuple

WIDTH_PX, HEIGHT_PX = 118, 24  # of a room's box
COLUMN_PX, LAYER_PX = 132, 58  # from the middle of one to the next
BEND_PX = 26  # what an arrow that only passes through a layer takes of it
SWEEPS = 12  # after that the places hardly move
STYLE = (
    "rect{fill:#f6f8fa;stroke:#57606a}text{font:12px sans-serif;text-anchor:middle;fill:#1f2328}"
    "path{fill:none;stroke:#57606a;stroke-opacity:.65}"
    "@media(prefers-color-scheme:dark){rect{fill:#21262d;stroke:#8b949e}text{fill:#e6edf3}path{stroke:#8b949e}}"
)


class Place(NamedTuple):
    """A room, or where the arrow from it `to` another passes through a layer."""

    room: str
    to: str = ""
    layer: int = 0

    @property
    def width_px(self) -> int:
        """What it takes of its layer."""
        return BEND_PX if self.to else COLUMN_PX


def direct(below: Mapping[str, Set[str]]) -> dict[str, list[str]]:
    """For each room those that it may import, without those that another of them implies."""
    reached: dict[str, set[str]] = {}
    for room in graphlib.TopologicalSorter(below).static_order():
        reached[room] = set(below[room]).union(*(reached[other] for other in below[room]))
    return {
        room: [other for other in sorted(under) if not any(other in reached[between] for between in under - {other})]
        for room, under in sorted(below.items())
    }


def drawn(below: Mapping[str, Set[str]]) -> str:
    """The picture; `below` holds each room with all that it may import."""
    arrows = direct(below)
    depth: dict[str, int] = {}
    for room in graphlib.TopologicalSorter(arrows).static_order():
        depth[room] = 1 + max((depth[other] for other in arrows[room]), default=-1)
    links: list[tuple[Place, Place]] = []
    layers: list[list[Place]] = [[] for _ in range(max(depth.values()) + 1)]
    for room in sorted(arrows):
        layers[depth[room]].append(Place(room))
    for room, other in ((room, other) for room, under in arrows.items() for other in under):
        bends = [Place(room, other, layer) for layer in range(depth[room] - 1, depth[other], -1)]
        for bend in bends:
            layers[bend.layer].append(bend)
        links += pairwise([Place(room), *bends, Place(other)])
    x = _places(layers, links)
    y = {place: (len(layers) - 1 - i) * LAYER_PX + HEIGHT_PX for i, layer in enumerate(layers) for place in layer}
    wide, high = max(x.values()) + WIDTH_PX / 2 + 4, len(layers) * LAYER_PX
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high}">', f"<style>{STYLE}</style>"]
    for a, b in links:
        top, end = y[a] + (0 if a.to else HEIGHT_PX / 2), y[b] - (0 if b.to else HEIGHT_PX / 2)
        middle = (top + end) / 2
        out.append(f'<path d="M{x[a]:.0f} {top:.0f}C{x[a]:.0f} {middle:.0f} {x[b]:.0f} {middle:.0f} {x[b]:.0f} {end:.0f}"/>')
    for room in sorted(arrows):
        left, top = x[Place(room)] - WIDTH_PX / 2, y[Place(room)] - HEIGHT_PX / 2
        out.append(f'<rect x="{left:.0f}" y="{top:.0f}" width="{WIDTH_PX}" height="{HEIGHT_PX}" rx="4"/>')
        out.append(f'<text x="{x[Place(room)]:.0f}" y="{top + 16:.0f}">{escape(room)}</text>')
    return "\n".join([*out, "</svg>", ""])


def _places(layers: list[list[Place]], links: list[tuple[Place, Place]]) -> dict[Place, float]:
    """The middle of each place from left to right, in px."""
    near: dict[Place, list[Place]] = {place: [] for layer in layers for place in layer}
    for a, b in links:
        near[a].append(b)
        near[b].append(a)
    x: dict[Place, float] = {}
    for layer in layers:
        _lay(layer, {place: float(i) for i, place in enumerate(layer)}, x)
    for _ in range(SWEEPS):
        for layer in [*layers, *reversed(layers)]:
            _lay(layer, {place: sum(x[n] for n in near[place]) / max(1, len(near[place])) for place in layer}, x)
    left = min(x[place] - place.width_px / 2 for place in x) - 4
    return {place: at - left for place, at in x.items()}


def _lay(layer: list[Place], wished: Mapping[Place, float], x: dict[Place, float]) -> None:
    """Puts a layer's places in the order of what they wish for, as near to it as their widths allow."""
    layer.sort(key=lambda place: (wished[place], place))
    at = [0.0]
    for a, b in pairwise(layer):
        at.append(at[-1] + (a.width_px + b.width_px) / 2)
    shift = sum(wished[place] - here for place, here in zip(layer, at, strict=True)) / len(layer)
    x.update({place: here + shift for place, here in zip(layer, at, strict=True)})
