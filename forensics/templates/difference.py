"""Compare two runs: the messages of the bad run that the good run does not have, in order, grouped by template.

good: step 1 loss 0.9 ...                 bad: step 1 loss 0.8 ... | CUDA error: an illegal memory access ... (rank 3) | ...
                                          ->   CUDA error: an illegal memory access ..., 1 time, train.log:120

Both are read once, in blocks. Of the good run only a hash of each template is kept.
"""

from collections.abc import Callable, Iterable

from msgspec import Struct

from forensics.core.text import last_frame
from forensics.model import Difference, MessageGroup, Source, Warn, Warning
from forensics.templates.tally import TemplateGroup, Templates, split_rows, whole_lines

MOST_KNOWN = 2_000_000  # templates of the good run
MOST_NEW = 20_000  # of the bad run; further ones are counted
MIN_COMMON_SHARE = 0.2  # of the templates of the run that has fewer; with less in common they are hardly runs of one program


class _New(Struct):
    text: str
    source: Source
    line: int
    last_source: Source
    last_line: int
    count: int = 0


def difference(
    good: Iterable[Source], bad: Iterable[Source], is_trouble: Callable[[str], bool], warnings: Iterable[Warning] = ()
) -> Difference:
    """The messages of the sources `bad` that those of `good` do not have. `warnings`: those from opening the sources.

    `is_trouble`: does a text have a word of failure?
    """
    noted = list(warnings)
    templates = Templates()
    known, names = known_templates(good, templates, noted.append)
    found = _Found(known, templates)
    read = [source.name for source in bad if found.read(source, noted.append)]
    messages = tuple(_message(n, is_trouble) for n in found.new.values())
    if not known or not read:
        noted.append(Warning("empty", f"the {'bad' if known else 'good'} run has no line with a message"))
    elif len(found.shared) < MIN_COMMON_SHARE * min(len(known), len(found.shared) + len(messages)):
        noted.append(Warning("unlike", "the two runs share few of their messages; are they runs of one program?"))
    all_warnings = tuple(dict.fromkeys(noted))
    return Difference(names, tuple(read), found.lines, len(found.shared), messages, found.left_out, all_warnings)


def known_templates(given: Iterable[Source], templates: Templates, warn: Warn) -> tuple[set[int], tuple[str, ...]]:
    """A hash of each template in `given`, and the names of the sources."""
    known: set[int] = set()
    names: list[str] = []
    for source in given:
        names.append(source.name)
        for block in whole_lines(source.blocks(warn)):
            known.update(hash(group.template) for group in templates.groups(split_rows(block)))
        if len(known) > MOST_KNOWN:
            warn(Warning("limit", "the good run has too many different messages; the rest of it was not read", source.name))
            break
    return known, tuple(names)


class _Found:
    """The templates of the bad run: those `shared` with the good one, and the `new` ones."""

    def __init__(self, known: set[int], templates: Templates) -> None:
        self.known, self.templates = known, templates
        self.shared: set[int] = set()
        self.new: dict[str, _New] = {}
        self.left_out = self.lines = 0

    def read(self, source: Source, warn: Warn) -> bool:
        """Read one source. Did it have a line?"""
        before, start = self.lines, 1
        for block in whole_lines(source.blocks(warn)):
            lines = split_rows(block)
            for group in self.templates.groups(lines):
                if hash(group.template) in self.known:
                    self.shared.add(hash(group.template))
                else:
                    self._add(group, source, start)
            start += len(lines)
            self.lines += len(lines)
        return self.lines > before

    def _add(self, group: TemplateGroup, source: Source, start: int) -> None:
        new = self.new.get(group.template)
        if new is None:
            if len(self.new) >= MOST_NEW:
                self.left_out += 1
                return
            first = start + group.first
            new = self.new[group.template] = _New(last_frame(group.text), source, first, source, first)
        new.count += group.count
        new.last_source, new.last_line = source, max(start + group.last, new.last_line if new.last_source is source else 0)


def _message(new: _New, is_trouble: Callable[[str], bool]) -> MessageGroup:
    first, last = new.source.origin or int, new.last_source.origin or int
    return MessageGroup(
        new.source.name,
        first(new.line),
        new.last_source.name,
        last(new.last_line),
        new.count,
        new.text,
        is_trouble(new.text),
    )
