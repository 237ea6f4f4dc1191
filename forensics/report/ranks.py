"""The picture of the ranks of a job as text, Markdown, HTML and JSON: odd ranks, their lines, a folded table, last calls."""

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

import msgspec

from forensics.core.text import with_noun
from forensics.model.ranks import LastCalls, OddRank, RankPicture, RankRow
from forensics.model.stacks import LiveHost, Standing
from forensics.report.escape import code_cell, escape, escape_html, table_lines

MAX_HOSTS = 8  # hosts of one place that are named
MAX_SHOWN_THREADS = 8  # of a process, beside the one that is at work
STACK_FRAMES = 6  # of each place, the program's own first


def stacks_json(hosts: Sequence[LiveHost], places: Sequence[Standing]) -> str:
    """All places, and all processes with what was read of each."""
    return msgspec.json.format(msgspec.json.encode({"places": places, "hosts": hosts}), indent=2).decode() + "\n"


def stacks_text(hosts: Sequence[LiveHost], places: Sequence[Standing]) -> str:
    """One paragraph for each place."""
    return "\n".join(_standing_lines(hosts, places)) + "\n"


def _standing_lines(hosts: Sequence[LiveHost], places: Sequence[Standing]) -> Iterator[str]:
    count = sum(len(host.processes) for host in hosts)
    where = f"{with_noun(len(hosts), 'host')}, {with_noun(len(places), 'place')}"
    yield f"{with_noun(count, 'process', 'processes')} on {where}"
    for one in places:
        at = f" at {one.place.function} ({one.place.place})" if one.place else ""
        yield ""
        yield f"{one.who}: {one.called + at if one.called else at.removeprefix(' at ') or 'no stack'}"
        kernel = f"; in the kernel: {one.kernel}" if one.kernel else ""
        yield f"  {one.doing}{kernel}"
        yield f"  {_whereabouts(one)}{f', thread {one.thread}' if one.threads else ''}"
        yield from _frame_lines(one.frames)
        for name, frames in one.threads[:MAX_SHOWN_THREADS]:
            yield f"  thread {name}"
            yield from _frame_lines(frames)
        if len(one.threads) > MAX_SHOWN_THREADS:
            yield f"  and {len(one.threads) - MAX_SHOWN_THREADS} more threads"


def _frame_lines(frames: Sequence[str]) -> Iterator[str]:
    yield from (f"    {frame}" for frame in frames[:STACK_FRAMES])
    if len(frames) > STACK_FRAMES:
        yield f"    and {len(frames) - STACK_FRAMES} more frames"


def _whereabouts(one: Standing) -> str:
    """`on gpu-04, gpu-05: pid 4711 and 62 more`."""
    hosts = ", ".join(one.hosts[:MAX_HOSTS]) + (f" and {len(one.hosts) - MAX_HOSTS} more" if len(one.hosts) > MAX_HOSTS else "")
    return f"on {hosts}: pid {one.pids[0]}" + (f" and {len(one.pids) - 1} more" if len(one.pids) > 1 else "")


AS_FAR_AS_SHOWN = "as far as this shows. If nothing moves, look again: forensics stacks PID --save stacks."
AT_THIS_MOMENT = "Nothing shows whether this run hangs. If nothing moves, look again: forensics stacks PID --save stacks."
MAX_TOLD = 8  # chosen by hand: odd ranks that are told one by one
STATE_WORDS = {
    "waits": "waits in",
    "behind": "its device is behind in",
    "elsewhere": "in no call; last",
    "done": "all calls finished; last",
    "silent": "left no dump",
}
Say = Callable[[OddRank], str]
Span = Callable[[tuple[int, ...]], str]


def ranks_json(seen: RankPicture) -> str:
    """The whole picture, with the matrix of groups and ranks."""
    return msgspec.json.format(msgspec.json.encode(seen), indent=2).decode() + "\n"


def ranks_text(seen: RankPicture, shown: int, say: Say, span: Span) -> str:
    """The picture for people. `shown`: calls of each rank to show side by side. `say`: why a rank is odd. `span`: `0-3, 7`."""
    return "\n".join(_lines(seen, shown, say, span)) + "\n"


def ranks_markdown(seen: RankPicture, shown: int, say: Say, span: Span) -> str:
    """The picture for an issue: a sentence and the two lines of code of each odd rank, the table, the last calls side by side."""
    lines = [f"**{escape(_named(odd))}**: {escape(say(odd))}." for odd in seen.odd[:MAX_TOLD]]
    lines = lines or [*map(escape, awaited_lines(seen, say))] or [f"None of the {seen.world} ranks stands out."]
    lines += ["", f"This is shown {seen.basis}."] if seen.basis else []
    placed = [(odd, odd.place, odd.others) for odd in seen.odd[:MAX_TOLD] if odd.place and odd.others]
    if placed:
        rows = [[f"rank {o.rank}", code_cell(f"{p.file}:{p.line}"), code_cell(f"{q.file}:{q.line}")] for o, p, q in placed]
        lines += ["", *table_lines(["", "its line", "that of the others"], rows)]
    folded = [[span(tuple(ranks)), escape(state)] for state, ranks in folded_states(seen.rows).items()]
    lines += ["", *table_lines(["ranks", "state"], folded)]
    for last in seen.last:
        pairs = zip_longest(last.own_calls[-shown:], last.other_calls[-shown:], fillvalue="")
        cells = [[code_cell(a) if a else "", code_cell(b) if b else ""] for a, b in pairs]
        lines += ["", *table_lines([f"last calls of rank {last.rank}", f"of rank {last.other}"], cells)]
    return "\n".join(lines) + "\n"


def ranks_html(seen: RankPicture, say: Say, span: Span) -> str:
    """The picture as a page of its own."""
    from forensics.report.page.parts import policy, text_of
    from forensics.report.page.rank_lanes import rank_lanes

    style = text_of("page.css")
    odd = "".join(f"<p>{escape_html(f'{_named(o)}: {say(o)}')}.</p>" for o in seen.odd[:MAX_TOLD])
    odd = odd or "".join(f"<p>{escape_html(line)}</p>" for line in awaited_lines(seen, say))
    odd = odd or f"<p>No rank keeps the others waiting, {AS_FAR_AS_SHOWN}</p>"
    odd += f"<p>This is shown {escape_html(seen.basis)}.</p>" if seen.basis else ""
    rows = "".join(f"<tr><td>{span(tuple(r))}</td><td>{escape_html(s)}</td></tr>" for s, r in folded_states(seen.rows).items())
    table = f'<div class="wide"><table><tr><th>ranks</th><th>state</th></tr>{rows}</table></div>'
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy(style, "")}">'
    body = f"<h1>{seen.world} ranks</h1>{odd}{rank_lanes(seen)}{table}"
    title = f'<meta name="viewport" content="width=device-width"><title>Ranks</title><style>{style}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}{title}</head><body>{body}</body></html>\n'


def _lines(seen: RankPicture, shown: int, say: Say, span: Span) -> Iterator[str]:
    yield from awaited_lines(seen, say)
    if not seen.odd and not seen.awaited:
        yield f"None of the {seen.world} ranks keeps the others waiting, {AS_FAR_AS_SHOWN}"
    for odd in seen.odd[:MAX_TOLD]:
        yield f"{_named(odd)}: {say(odd)}."
        if odd.place and odd.others:
            yield f"  rank {odd.rank:<6} {odd.place.file}:{odd.place.line} in {odd.place.function}"
            yield f"  the others  {odd.others.file}:{odd.others.line} in {odd.others.function}"
        yield from (f"  > {p.source}:{p.line}  {p.text.strip()}" for p in odd.proofs)
    if len(seen.odd) > MAX_TOLD:
        yield f"and {len(seen.odd) - MAX_TOLD} more ranks"
    if seen.basis:
        yield f"This is shown {seen.basis}." + (f" No stack of {span(seen.missing)}." if seen.missing else "")
    elif seen.missing:
        yield f"No dump of {span(seen.missing)}: that a rank could not write one is evidence, too."
    yield ""
    yield "ranks"
    for state, ranks in folded_states(seen.rows).items():
        yield f"  {span(tuple(ranks)):<12} {state}"
    for last in seen.last:
        yield from _side_by_side(last, shown)


def awaited_lines(seen: RankPicture, say: Say) -> Iterator[str]:
    """The ranks for which others wait at this moment, where nothing shows a hang."""
    if seen.awaited:
        yield AT_THIS_MOMENT
    yield from (f"At this moment, {odd.named} is waited for: {say(odd)}." for odd in seen.awaited[:MAX_TOLD])


def _named(odd: OddRank) -> str:
    return f"R{odd.named[1:]}"  # of the rest, a host's name may have capitals


def folded_states(rows: tuple[RankRow, ...]) -> dict[str, list[int]]:
    """The ranks of each state, those of the most first."""
    found: dict[str, list[int]] = {}
    for row in rows:
        call = f" {row.call.op} no. {row.call.seq} of group {row.group}" if row.call else ""
        place = f" at {row.place.place}" if row.place else ""
        found.setdefault(f"{row.shown or STATE_WORDS[row.state]}{call}{place}", []).append(row.rank)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _side_by_side(last: LastCalls, shown: int) -> Iterator[str]:
    own, others = last.own_calls[-shown:], last.other_calls[-shown:]
    width = max((len(text) for text in (*own, "rank 0000")), default=0)
    yield ""
    yield f"  {f'last calls of rank {last.rank}':<{width}}    of rank {last.other}"
    yield from (f"  {left:<{width}}    {right}" for left, right in zip_longest(own, others, fillvalue=""))
