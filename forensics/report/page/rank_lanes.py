"""The ranks as a drawing: ranks from left to right, a lane for what each of them does, and one for each kind of group.

In a group's lane the colour tells whether a rank is behind the one that called most. Ranks beside each other with one look are
one rectangle, so 1,024 ranks are a few of them, and an odd rank has a mark above that is wide enough to be seen. A few ranks
stand apart, each with its number.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

from forensics.model.ranks import GroupRow, LastCalls, OddRank, RankPicture, RankRow
from forensics.report.escape import escape_html

WIDTH = 1000.0  # units of the drawing, which fills any screen
LANE_UNITS = 34  # a line of text, the rectangles below it, and a gap
LABEL_UNITS = 16  # the line of text, down to the tails of its letters
HEAD_UNITS = 26  # for the marks of odd ranks and their numbers
FOOT_UNITS = 16  # for the first and the last number
MAX_GROUP_LANES = 8  # kinds of groups: default, data, tensor, pipeline, expert parallel, and a few more
MAX_MARKS = 64  # as many as odd ranks are told (ranks/picture.py)
MIN_LABEL_UNITS = 30  # between two numbers of ranks, so that they can be read
MAX_APART = 16  # ranks with a rectangle and a number each: two digits on a phone take a 20th of its width
GAP_UNITS = 4  # between two of them: one and a half pixels on a phone, four on a screen
STATE_COLOURS = {
    "waits": "--symptom",
    "elsewhere": "--root",
    "outside": "--good",
    "done": "--good",
    "silent": "--noise",
    "behind": "--other",
}
STATE_TEXTS = {
    "waits": "waits in a call",
    "elsewhere": "is in no call, and waited for",
    "outside": "is in no call",
    "done": "finished all calls",
    "silent": "left no dump, or no stack",
    "behind": "its device is behind",
}
GROUP_COLOURS = {"--good": "in step with its group", "--symptom": "has an unfinished call", "--root": "behind its group"}
LEGEND_MARK = '<svg width="12" height="12"><rect width="12" height="12" fill="var({})"/></svg>'
Cell = tuple[str, str]  # colour and text


def rank_lanes(seen: RankPicture) -> str:
    """The drawing, its legend and the last calls of the odd ranks beside those of another one, as HTML."""
    lanes = [("what it does", [_state(row) for row in seen.rows]), *_group_lanes(seen)]
    height = HEAD_UNITS + LANE_UNITS * len(lanes) + FOOT_UNITS
    parts = [
        f'<figure class="ranks"><figcaption>{_legend(seen, lanes[1:])}</figcaption>'
        f'<svg width="100%" height="{height}" role="img" aria-label="{escape_html(_spoken(seen))}">',
        *_marks(seen.odd, seen.world),
    ]
    for number, (name, cells) in enumerate(lanes):
        parts += _lane(HEAD_UNITS + LANE_UNITS * number, name, cells)
    parts += [*_scale(seen.world, height), "</svg>", *(_side_by_side(last) for last in seen.last), "</figure>"]
    return "".join(parts)


def _legend(seen: RankPicture, groups: Sequence[tuple[str, Sequence[Cell]]]) -> str:
    """Each colour that is drawn once, with all that it stands for."""
    drawn = {colour for _, cells in groups for colour, _ in cells}
    said: dict[str, list[str]] = {}
    for state, colour in STATE_COLOURS.items():
        if any(row.state == state for row in seen.rows):
            said.setdefault(colour, []).append(STATE_TEXTS[state])
    for colour, text in GROUP_COLOURS.items():
        if colour in drawn:
            said.setdefault(colour, []).append(text)
    return " ".join(f'<span class="key">{LEGEND_MARK.format(colour)} {"; ".join(texts)}</span>' for colour, texts in said.items())


def _state(row: RankRow) -> Cell:
    call = f", {row.call.op} no. {row.call.seq} of {row.group}" if row.call else ""
    return STATE_COLOURS[row.state], f"{row.shown or STATE_TEXTS[row.state]}{call}{' at ' + row.place.place if row.place else ''}"


def _group_lanes(seen: RankPicture) -> Iterator[tuple[str, list[Cell]]]:
    """A lane for each kind of group: those of one description, as the many groups of tensor parallel ranks."""
    kinds: dict[str, list[GroupRow]] = {}
    for row in seen.matrix:
        kinds.setdefault(row.title.removesuffix(f" ({row.name})"), []).append(row)
    for kind, rows in list(kinds.items())[:MAX_GROUP_LANES]:
        cells: list[Cell] = [("--panel", "not a member, or no dump")] * seen.world
        for row in rows:
            most = max(row.called.values(), default=-1)
            for rank, called in row.called.items():
                cells[rank] = _lag(most - called, rank in row.unfinished, f"{row.title}: last call no. {called} of {most}")
        yield f"{kind} ({len(rows)} groups)" if len(rows) > 1 else kind, cells


def _lag(behind: int, waits: bool, text: str) -> Cell:
    if behind > 0:
        return "--root", f"{text}, {behind} behind"
    return ("--symptom", f"{text}, unfinished") if waits else ("--good", text)


def _lane(top: float, name: str, cells: Sequence[Cell]) -> Iterator[str]:
    """The rectangles of a lane. One of a single rank among a thousand is a unit wide: it gets no gap."""
    at, unit = 0, WIDTH / max(1, len(cells))
    yield f'<text x="0" y="{top + LABEL_UNITS - 4}" font-size="12" fill="var(--soft)">{escape_html(name[:60])}</text>'
    place = f'x="0" y="{top + LABEL_UNITS}" width="100%" height="{LANE_UNITS - LABEL_UNITS - 4}"'
    yield f'<svg {place} viewBox="0 0 {WIDTH:g} 10" preserveAspectRatio="none">'
    apart = len(cells) <= MAX_APART
    gap = GAP_UNITS if apart else 0
    for (_, colour, text), same in groupby((number if apart else 0, *cell) for number, cell in enumerate(cells)):
        count = len(list(same))
        whose = f"rank {at}" if count == 1 else f"ranks {at} to {at + count - 1}"
        yield f'<rect x="{at * unit:.2f}" width="{count * unit - gap:.2f}" height="10" fill="var({colour})">'
        yield f"<title>{escape_html(f'{whose}: {text}')}</title></rect>"
        at += count
    yield "</svg>"


def _marks(odd: Sequence[OddRank], world: int) -> Iterator[str]:
    """A triangle above each odd rank, with its number where there is room."""
    labelled = -WIDTH
    for one in sorted(odd[:MAX_MARKS], key=lambda o: o.rank):
        at = (one.rank + 0.5) / max(1, world)
        yield f'<svg x="{at:.3%}" y="{HEAD_UNITS - 4}" overflow="visible"><path d="M-6-9H6L0 0Z" fill="var(--root)">'
        yield f"<title>{escape_html(f'rank {one.rank}: {one.doing}')}</title></path></svg>"
        if at * WIDTH - labelled >= MIN_LABEL_UNITS:
            labelled = at * WIDTH
            yield f'<text x="{at:.3%}" y="11" font-size="12" text-anchor="middle" fill="var(--root)">{one.rank}</text>'


def _scale(world: int, height: float) -> Iterator[str]:
    ends = [(0.0, "start", "rank 0"), (1.0, "end", f"rank {world - 1}")]
    apart = [((rank + 0.5) / world, "middle", str(rank) if rank else "rank 0") for rank in range(world)]
    for at, anchor, text in apart if world <= MAX_APART else ends:
        yield f'<text x="{at:.3%}" y="{height - 3}" font-size="12" text-anchor="{anchor}" fill="var(--soft)">{text}</text>'


def _spoken(seen: RankPicture) -> str:
    odd = ", ".join(str(o.rank) for o in seen.odd[:MAX_MARKS])
    return f"{seen.world} ranks; " + (f"odd: {odd}" if odd else "none keeps the others waiting")


def _side_by_side(last: LastCalls) -> str:
    pairs = [*zip_longest(last.own_calls[::-1], last.other_calls[::-1], fillvalue="")][::-1]  # both columns end together
    cells = "".join(f"<tr><td>{_marked(a, a != b)}</td><td><code>{escape_html(b)}</code></td></tr>" for a, b in pairs)
    head = f"<tr><th>last calls of rank {last.rank}</th><th>of rank {last.other}</th></tr>"
    title = f"Last calls of rank {last.rank}"
    return f'<details><summary>{title}</summary><div class="wide"><table>{head}{cells}</table></div></details>'


def _marked(call: str, differs: bool) -> str:
    code = f"<code>{escape_html(call)}</code>"
    return f"<mark>{code}</mark>" if differs and call else code
