"""Templates of messages: group lines that differ only in variable parts, and compare two runs by their templates.

[rank3]: step 120 took 0.8 s at /data/a7/train.py  ->  step <n> took <n> s at <path>/train.py

The template of a line: without prefixes, and with variable parts replaced by their kind.

    2026-11-21 10:00:07 INFO saved /data/run7/model-0120.pt in 3.2 s  ->  saved <path>/model-<n>.pt in <n> s

Words are not replaced: two messages that differ in a word are different messages.

Count the templates in the blocks of a log: how often and where each occurs.

Lines that differ only in digits are recognised by comparing bytes, so a template is made for few of the many lines.

Compare two runs: the messages of the bad run that the good run does not have, in order, grouped by template.

good: step 1 loss 0.9 ...                 bad: step 1 loss 0.8 ... | CUDA error: an illegal memory access ... (rank 3) | ...
                                          ->   CUDA error: an illegal memory access ..., 1 time, train.log:120

Both are read once, in blocks. Of the good run only a hash of each template is kept.
"""

import functools
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from forensics.core import lazy
from forensics.core.text import DIGITS_TO_ZEROS, last_frame
from forensics.line_formats import parse_prefix
from forensics.model import Difference, MessageGroup, Scan, Source, Warn, Warning

MAX_MESSAGE_CHARS = 400  # of a message; what stands behind tells the same message apart from nothing

BAR = lazy.regex(r"(?<=\|)[^\w|()\[\]{}<>]{2,}(?=\|)")  # of a progress bar, the part that grows
VARIABLE_PATTERN = lazy.regex(
    r"(?P<uuid>(?<![0-9A-Za-z])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9A-Za-z]))"
    r"|(?P<url>(?<![a-z])[a-z][a-z0-9+.]{1,15}://[^'\"<>)\]]+)"
    r"|(?P<path>(?<![\w.:/])(?:~|[A-Za-z]:)?(?:[/\\][\w.+@%=,-]+){2,}[/\\]?)"
    r"|(?P<time>(?<!\d)\d{4}[-/]\d\d[-/]\d\d(?:T\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|(?<![\w:])\d{1,3}:\d\d(?::\d\d)?(?:[.,]\d+)?(?![\w:]))"
    r"|(?P<address>(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.])"
    r"|(?<![\w:])(?:[0-9a-fA-F]{1,4}:){2,8}[0-9a-fA-F:]{0,40}[0-9a-fA-F](?:\.\d)?(?![\w:]))"
    r"|(?P<hex>\b0[xX][0-9a-fA-F]+|(?<![0-9A-Za-z])(?=[a-fA-F]*\d)(?=\d*[a-fA-F])[0-9a-fA-F]{6,}(?![0-9A-Za-z]))"
    r"|(?P<n>(?:(?<![\w.])[+-])?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?)"
)
VARYING = lazy.regex(r"[\d/\\]")  # one of these is in every word that varies
VARYING_WORD_PATTERN = lazy.regex(r"(?<!\S)[^\s\d/\\]*+[\d/\\]\S*")
MAX_CACHED_WORDS = 1 << 13  # a log has a few hundred forms of words that vary; a megabyte when full
FILE_NAME_PATTERN = lazy.regex(r"(?<![^/\\])[^/\\]{1,255}\.[A-Za-z]\w{0,4}\Z")
DIGITS_PATTERN = lazy.regex(r"\d+")


def template(text: str) -> str:
    """The template of a line; empty for a line without a word or a number, such as `-----` or `^^^^`."""
    message = parse_prefix(text).message[:MAX_MESSAGE_CHARS]
    if "|" in message:
        message = BAR.sub("<bar>", message)
    made = " ".join(message.split())
    if VARYING.search(made):
        made = VARYING_WORD_PATTERN.sub(lambda word: _word_template(word[0]), made)
    return made if any(map(str.isalnum, made)) else ""


@functools.lru_cache(maxsize=MAX_CACHED_WORDS)
def _word_template(word: str) -> str:
    return "<n>" if word.isdecimal() else VARIABLE_PATTERN.sub(_kind, word)


def _kind(found: re.Match[str]) -> str:
    kind = str(found.lastgroup)
    if kind == "path" and (name := FILE_NAME_PATTERN.search(found[0])):  # the file name is kept: it may be the module that logs
        return f"<path>/{DIGITS_PATTERN.sub('<n>', name[0])}"
    return f"<{kind}>"


COMPARED_LINE_BYTES = 2000  # lines that agree so far are the same
MOST_SHAPES = 50_000  # remembered; further ones are made again
MAX_SHAPE_BYTES = 300  # longer lines seldom repeat: remembering them takes more memory than making them again saves time
HEX_PATTERN = lazy.regex(
    rb"(?<![0-9A-Za-z])(?:0x[0-9a-fA-F]+|(?=[a-fA-F]*0)(?=0*[a-fA-F])[0a-fA-F]{4,})(?![0-9A-Za-z])"
)  # in a shape


class TemplateGroup(Struct):
    """The lines of one template in one block. `first`, `last`: their places in it, from 0."""

    template: str
    text: bytes
    count: int
    first: int
    last: int


class Templates:
    """Groups the lines of one block after the other, and caches the template of each shape."""

    def __init__(self, make: Callable[[str], str] = template) -> None:
        self.make = make
        self.known: dict[bytes, str] = {}

    def groups(self, rows: list[bytes]) -> Iterator[TemplateGroup]:
        """The groups of `rows`, in order of their first lines; lines without a message are in no group."""
        shapes = shape(b"\n".join(rows)).split(b"\n")
        numbers = range(len(shapes))
        firsts = dict(zip(reversed(shapes), reversed(numbers), strict=True))
        lasts = dict(zip(shapes, numbers, strict=True))
        for row_shape, count in Counter(shapes).items():
            first = firsts[row_shape]
            if made := self._template(row_shape, rows[first]):
                yield TemplateGroup(made, rows[first], count, first, lasts[row_shape])

    def _template(self, row_shape: bytes, row: bytes) -> str:
        known = self.known.get(row_shape)
        if known is None:
            without_hex = HEX_PATTERN.sub(b"0x", row_shape)
            known = self.known.get(without_hex)
            if known is None:
                known = self.make(last_frame(row))
                self._remember(without_hex, known)
            if without_hex == row_shape or len(self.known) < MOST_SHAPES:
                self._remember(row_shape, known)
        return known

    def _remember(self, row_shape: bytes, made: str) -> None:
        if len(self.known) >= 2 * MOST_SHAPES:
            self.known.clear()
        if len(row_shape) <= MAX_SHAPE_BYTES:
            self.known[row_shape] = made


def split_rows(block: bytes) -> list[bytes]:
    """The lines of `block`, which ends with a whole line: of each its last frame, at most COMPARED_LINE_BYTES."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    found = block.removesuffix(b"\n").split(b"\n")
    if b"\r" in block:
        found = [r[r.rfind(b"\r", 0, -1) + 1 :] for r in found]
    return [r[:COMPARED_LINE_BYTES] for r in found] if max(map(len, found)) > COMPARED_LINE_BYTES else found


def shape(text: bytes) -> bytes:
    """`text` with each run of up to ten digits replaced by one zero. Lines with the same shape have the same template."""
    text = text.translate(DIGITS_TO_ZEROS)
    for run in (b"0000", b"00", b"00"):
        text = text.replace(run, b"0")
    return text


def whole_lines(blocks: Iterable[bytes], max_line_bytes: int = 16 << 20) -> Iterator[bytes]:
    """`blocks`, cut at line ends instead; a line of more than `max_line_bytes` is cut within."""
    carry = b""
    for block in blocks:
        carry += block
        cut = carry.rfind(b"\n") + 1 or (len(carry) if len(carry) > max_line_bytes else 0)
        if cut:
            yield carry[:cut]
            carry = carry[cut:]
    if carry:
        yield carry


KEPT_BLOCKS = 8  # of the sample, and half as many more while it is thinned
LAST_BLOCKS = 2  # the end of a log is in them, whatever the even sample left out
BLOCK_BYTES = 1 << 20  # read at once; fits into the processor's cache


def sample_blocks(scan: Scan) -> Iterator[tuple[int, bytes]]:
    """An even sample of the blocks of a source, and its last blocks, each with the number of its first line.

    A member of an archive would have to be unpacked again, so only the first and last lines that the scan kept are given. The
    same for a source that can be read only once.
    """
    if "!" in scan.source.name:
        yield from _ends(scan, 1)
        return
    kept: list[tuple[int, bytes]] = []
    last: deque[tuple[int, bytes]] = deque(maxlen=LAST_BLOCKS)
    number, stride = 1, 1
    for i, block in enumerate(_blocks(scan.source)):
        if i % stride == 0:
            kept.append((number, block))
            if len(kept) > KEPT_BLOCKS:
                del kept[1::2]
                stride *= 2
        last.append((number, block))
        number += block.count(b"\n") + (not block.endswith(b"\n"))
    read = {start for start, _ in kept}
    yield from kept
    yield from ((start, block) for start, block in last if start not in read)
    yield from _ends(scan, number)


def ignore_warning(_: Warning) -> None:
    """Ignore it: the same warning was reported when the source was first read."""


def _ends(scan: Scan, number: int) -> Iterator[tuple[int, bytes]]:
    """The first and last lines that the scan kept, from line `number` on."""
    for lines in (scan.head, scan.tail) if number <= scan.lines else ():
        fresh = [line for line in lines if line.number >= number]
        if fresh:
            number = fresh[-1].number + 1
            yield fresh[0].number, "\n".join(line.text for line in fresh).encode("utf-8", "replace")


def _blocks(source: Source) -> Iterator[bytes]:
    """Blocks of whole lines, each of BLOCK_BYTES or a little more."""
    parts: list[bytes] = []
    size = 0
    for block in whole_lines(source.blocks(ignore_warning)):
        parts.append(block)
        size += len(block)
        if size >= BLOCK_BYTES:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)


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
    `is_trouble`: does a text have a word of failure?"""
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
    return MessageGroup(
        new.source.name,
        new.source.number_of(new.line),
        new.last_source.name,
        new.last_source.number_of(new.last_line),
        new.count,
        new.text,
        is_trouble(new.text),
    )
