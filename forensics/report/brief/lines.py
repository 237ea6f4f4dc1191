"""The quoted lines of a report as items of the brief: `train.log:80: RuntimeError: ...`, whole if the budget allows it."""

from collections.abc import Iterable, Iterator, Sequence

from forensics.core import lazy
from forensics.model import Finding, MessageGroup, Proof
from forensics.report.brief.choose import Item
from forensics.report.paths import Paths
from forensics.report.phrases import line_excerpt, neighbours_shown, repetition_text

SHOWN_WIDTHS = (2000, 600, 240, 120)  # characters of a line in its forms: as the report has it, then a third of that and less


ANY_NUMBER = lazy.regex(r"\d+")
RANKS_PER_WORTH = 4  # chosen by hand: the lines of evidence that are taken before something else gets its turn
FIRST_LINE_SHARE, LINE_SHARE = 0.4, 0.15  # of the budget: the best line may be long, and others must have their place
CONTEXT_WORTH = 5  # of a line beside one that matters
FEW_LINES = 5  # chosen by hand: of the end of a log, taken before something else gets its turn


def cut(text: str, room: int) -> str:
    """The first `room` characters."""
    return text if len(text) <= room else text[: room - 1] + "…"


def forms_of(lead: str, proof: Proof, end: str = "") -> tuple[tuple[str, ...], ...]:
    """A line of evidence behind `lead`, whole and shortened around what was matched."""
    rows = (f"{lead}{cut(line_excerpt(proof, width), width)}{end}".rstrip() for width in SHOWN_WIDTHS)
    return tuple((row,) for row in dict.fromkeys(rows))


def evidence_items(finding: Finding, paths: Paths, worth: int, more: int, mark: bool) -> Iterator[Item]:
    """The lines of `finding` by source and line, each once; of lines that differ only in numbers the best and the last one.

    `worth`: of the best line. `more`: of the others, which grows with their rank. `mark`: the best line is marked.
    """
    best: dict[tuple[str, int], Proof] = {}
    for proof in finding.evidence:
        best.setdefault((proof.source, proof.line), proof)
    sources = list(dict.fromkeys(p.source for p in best.values()))
    made: dict[tuple[str, int], Item] = {}
    for rank, (proof, alike) in enumerate(_folded(list(best.values()))):
        least = worth if not rank else more + rank // RANKS_PER_WORTH
        place = f"{'> ' if mark and not rank else ''}{paths.place(proof.source, proof.line)}: "
        forms = forms_of(place, proof, f"  ({alike:,} more like it)" if alike else "")
        made[proof.source, proof.line] = Item(
            least, forms, share=LINE_SHARE if rank else FIRST_LINE_SHARE, place=(proof.source, proof.line)
        )
        before, after = neighbours_shown(finding, proof)
        continued = proof.after[: proof.continued]
        for line in (*before, *after):
            near = least + (1 if line in continued else 2)
            made.setdefault((proof.source, line.number), quoted_item(proof.source, line.number, line.text, paths, near))
    yield from (made[key] for key in sorted(made, key=lambda k: (sources.index(k[0]), k[1])))


def _folded(proofs: Sequence[Proof]) -> list[tuple[Proof, int]]:
    """The proofs that are shown, in order, each with the number of those like it that are not."""
    groups: dict[tuple[bool, str], list[Proof]] = {}
    for proof in proofs:
        groups.setdefault((proof.earlier, ANY_NUMBER.sub("0", proof.text)), []).append(proof)
    last = {id(g[0]): max(g[1:], key=lambda p: (p.source, p.line)) for g in groups.values() if len(g) > 1}
    shown = [(g[0], max(0, len(g) - 2)) for g in groups.values()]
    kept = {id(p): alike for p, alike in shown} | {id(p): 0 for p in last.values()}
    return [(p, kept[id(p)]) for p in proofs if id(p) in kept]


def quoted_item(source: str, number: int, text: str, paths: Paths, worth: int, end: str = "", lead: str = "") -> Item:
    """Any line of a log. `lead`, `end`: words around it."""
    rows = (f"{lead}{paths.place(source, number)}: {cut(text, width)}{end}".rstrip() for width in SHOWN_WIDTHS)
    return Item(worth, tuple((row,) for row in dict.fromkeys(rows)), place=(source, number))


def message_items(messages: Iterable[MessageGroup], paths: Paths, worth: int) -> Iterator[Item]:
    """Lines that were chosen by their words, each with how often it occurs; their neighbours are worth less."""
    for message in messages:
        rank = worth + CONTEXT_WORTH * message.context
        yield quoted_item(message.source, message.line, message.text, paths, rank, repetition_text(message))


def last_items(messages: Sequence[MessageGroup], paths: Paths, worth: int) -> Iterator[Item]:
    """The last lines of each source, the later and the alarming ones worth more."""
    behind = {source: sum(m.source == source for m in messages) for source in {m.source for m in messages}}
    for message in messages:
        behind[message.source] -= 1
        end = f"  ({message.count:,} like it)" if message.count > 1 else ""
        rank = worth + behind[message.source] // FEW_LINES - message.alarming
        yield quoted_item(message.source, message.line, message.text, paths, rank, end)


def titled_item(lead: str, proofs: Sequence[Proof], paths: Paths, worth: int) -> Item:
    """A title with its best line in one row; where the line stands elsewhere, with its place alone."""
    if not proofs:
        return Item(worth, ((lead,),))
    proof, place = proofs[0], paths.place(proofs[0].source, proofs[0].line)
    forms = (*forms_of(f"{lead}; {place}: ", proof), (f"{lead}; {place}",))
    return Item(worth, forms, place=(proof.source, proof.line), again=f"{lead}; {place}, quoted elsewhere")
