"""Mask the secrets in a text; they are recognised by their form, by their name or place, or by how random they are.

    WANDB_API_KEY=0123...cdef                      -> WANDB_API_KEY=[REDACTED:secret]
    https://bot:hunter2@git.example.com/x.git      -> https://bot:[REDACTED:password]@git.example.com/x.git

A rule runs only where one of its plain anchors occurs, so a text without any costs a few substring searches. Invisible
characters inside a secret do not hide it: a text with a secret loses them.

Secrets that are recognised by their own form, in any place: `forms.csv` holds a kind and a shape in each row.

    github-token,gh(p|o|u|s|r)_<alnum 30-255>        a choice of plain texts, then 30 to 255 letters and digits

The facts (prefixes, alphabets, lengths) are those that issuers document, and that public scanners of secrets look for. No row
holds an example, because scanners of repositories would report it: a test makes them.
"""

import csv
import functools
import itertools
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from forensics.core import lazy
from forensics.core.shapes import by_shape
from forensics.core.text import CUT
from forensics.report.redaction.rules import (
    CODE_VALUE_PATTERN,
    EMPTY_VALUE_PATTERN,
    SECRETS,
    TESTS,
    Rule,
    is_mixed,
    is_random_key,
    masked_encodings,
    may_be_token,
)

ALPHABETS = {
    "digit": "0-9",
    "hex": "0-9a-f",
    "xdigit": "0-9a-fA-F",
    "upper": "A-Z0-9",
    "lower": "a-z0-9",
    "alnum": "A-Za-z0-9",
    "alnum%": "A-Za-z0-9%",
    "word": "A-Za-z0-9_-",
    "word=": "A-Za-z0-9_=-",
    "dotted": "A-Za-z0-9_.-",
    "dotted=": "A-Za-z0-9_.=-",
    "dotted~": "A-Za-z0-9_.~-",
    "b64": "A-Za-z0-9+/=",
    "b64_": "A-Za-z0-9+/=_-",
}
PART = lazy.regex(r"<(?P<alphabet>[\w%=~]+) (?P<least>\d+)(?:-(?P<most>\d+))?>|\((?P<choice>[^()]*)\)|(?P<plain>[^<(]+)")
KEY_CHARS = 3  # of a prefix: as many are looked up at each start of a word
STARTS = lazy.regex(rf"(?<![a-z0-9])(?=([a-z0-9].{{{KEY_CHARS - 1}}}))")
LONG_RUN = lazy.regex(r"[a-z0-9_.~-]{20}")  # each form without a prefix has one
DISTINCTIVE_CHARS = 4  # a longer prefix may stand behind a letter: `x_ghp_...`
FREE = r"(?<![A-Za-z0-9])"
FREE_WORD = r"(?<![A-Za-z0-9_-])"


class Part(NamedTuple):
    """A part of a shape: one of several plain texts, or `least` to `most` characters of an alphabet."""

    choices: tuple[str, ...]
    alphabet: str = ""
    least: int = 0
    most: int = 0


class Form(Struct, frozen=True):
    """`kind`: the word in the mask. `anchors`: lower-case texts of which one must occur. `pattern`: all of it is masked.
    `starts`: does each secret of this form begin with an anchor?"""

    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    starts: bool


def parts_of(shape: str) -> tuple[Part, ...]:
    """The parts of a shape; raises ValueError for a text that is none."""
    found, at = [], 0
    for match in PART.finditer(shape):
        if match.start() != at:
            break
        at = match.end()
        if match["alphabet"]:
            least = int(match["least"])
            found.append(Part((), ALPHABETS[match["alphabet"]], least, int(match["most"] or least)))
        else:
            found.append(
                Part(tuple((match["choice"] or match["plain"] or "").split("|")) if match["choice"] else (match["plain"],))
            )
    if at != len(shape) or any("<" in text for part in found for text in part.choices):
        raise ValueError(f"no shape of a secret: {shape!r}")
    return tuple(found)


def form_of(kind: str, shape: str) -> Form:
    """The form that `shape` describes."""
    parts = parts_of(shape)
    head = _plain(itertools.takewhile(lambda p: not p.alphabet, parts))
    starts = all(len(text) >= KEY_CHARS and text[:1].isalnum() for text in head)
    anchors = head if starts else max(_runs(parts), key=lambda texts: min(map(len, texts)))
    before = FREE if min(map(len, head)) >= DISTINCTIVE_CHARS else FREE_WORD
    after = (
        f"(?![{ALPHABETS['alnum']}])" if parts[-1].alphabet and before == FREE_WORD and parts[-1].least == parts[-1].most else ""
    )
    pattern = before + "".join(map(_pattern, parts)) + after
    return Form(kind, tuple(sorted({a.lower() for a in anchors})), lazy.regex(pattern), starts)


def _plain(parts: Iterable[Part]) -> list[str]:
    """The texts that these parts without an alphabet can form together."""
    return ["".join(texts) for texts in itertools.product(*(p.choices for p in parts))]


def _runs(parts: tuple[Part, ...]) -> Iterator[list[str]]:
    """For each stretch of plain parts, the texts that it can be."""
    for plain, run in itertools.groupby(parts, key=lambda p: not p.alphabet):
        if plain:
            yield _plain(run)


def _pattern(part: Part) -> str:
    if part.alphabet:
        return f"[{part.alphabet}]{{{part.least},{part.most}}}"
    return f"(?:{'|'.join(map(re.escape, part.choices))})" if len(part.choices) > 1 else re.escape(part.choices[0])


@functools.cache
def rows() -> tuple[tuple[str, str], ...]:
    """Kind and shape of every form, in order of the file."""
    lines = Path(__file__).with_name("forms.csv").read_text(encoding="utf-8").splitlines()
    return tuple((row[0], row[1]) for row in csv.reader(lines[1:]) if row and not row[0].startswith("#"))


@functools.cache
def secret_forms() -> tuple[Form, ...]:
    """All forms, in order of the file."""
    return tuple(form_of(kind, shape) for kind, shape in rows())


@functools.cache
def _by_anchor() -> tuple[dict[str, tuple[Form, ...]], tuple[Form, ...]]:
    """The forms by the first characters of their prefixes, and those without a prefix."""
    by_start: dict[str, tuple[Form, ...]] = {}
    for form in secret_forms():
        for key in {anchor[:KEY_CHARS] for anchor in form.anchors if form.starts}:
            by_start[key] = (*by_start.get(key, ()), form)
    return by_start, tuple(f for f in secret_forms() if not f.starts)


def forms_in(low: str) -> list[Form]:
    """The forms of which an anchor occurs in the lower-case text `low`."""
    by_start, others = _by_anchor()
    likely = {id(f): f for key in by_start.keys() & set(STARTS.findall(low)) for f in by_start[key]}
    free = others if LONG_RUN.search(low) else ()
    return [f for f in (*likely.values(), *free) if any(a in low for a in f.anchors)]


MASK = "[REDACTED:{}]"
RULES = SECRETS.rules["rule"]
SWEPT = 8  # characters of a secret that is also searched for where nothing names it; shorter ones may be ordinary words
MOST_SWEPT = 1000  # secrets that are searched for in each line: a substring search of a tenth of a microsecond each
ANCHOR_KEY_CHARS = 3  # characters: an anchor is searched for where its first ones occur
Anchored = tuple[str, tuple[int, ...]]


@functools.cache
def _anchors() -> tuple[dict[tuple[str, ...], tuple[Anchored, ...]], tuple[Anchored, ...], tuple[Anchored, ...]]:
    """The anchors with the numbers of their rules: by their first characters, those that are shorter, and those with digits."""
    numbers: dict[str, tuple[int, ...]] = {}
    for number, rule in enumerate(RULES):
        for anchor in rule.anchors:
            numbers[anchor] = (*numbers.get(anchor, ()), number)
    grams: dict[tuple[str, ...], tuple[Anchored, ...]] = {}
    with_digits = tuple(a for a in numbers.items() if any(map(str.isdigit, a[0])))
    without = [a for a in numbers.items() if a not in with_digits]
    for anchored in without:
        if len(anchored[0]) >= ANCHOR_KEY_CHARS:
            key = tuple(anchored[0][:ANCHOR_KEY_CHARS])
            grams[key] = (*grams.get(key, ()), anchored)
    return grams, tuple(a for a in without if len(a[0]) < ANCHOR_KEY_CHARS), with_digits


def _rules_for(low: str) -> list[Rule]:
    """The rules of which an anchor occurs in the lower-case text `low`."""
    found = {*_rules_of_shape(low), *(n for anchor, numbers in _anchors()[2] if anchor in low for n in numbers)}
    return [RULES[n] for n in sorted(found)]


@by_shape  # names of thousands of files differ in digits only
def _rules_of_shape(low: str) -> frozenset[int]:
    """The numbers of the rules of which an anchor without a digit occurs in the lower-case text `low`."""
    grams, short, _ = _anchors()
    likely = (anchored for key in grams.keys() & set(zip(low, low[1:], low[2:], strict=False)) for anchored in grams[key])
    return frozenset(n for anchored in (likely, short) for anchor, numbers in anchored if anchor in low for n in numbers)


# Of a line whose beginning is left out: its first word may be the end of a secret, or all of one whose name is left out.
HALF_WORD = lazy.regex(
    re.escape(CUT)
    + r"""[\s"']{0,8}+(?:[^\s"'&]{0,400}+(?:(?<=[:=>])|(?<=bearer)|(?<=basic)|(?<=token))[\s"']{1,8}+)?+[^\s"'&]{0,400}+["']?""",
    re.IGNORECASE,
)
LONE_KEY_LINE = lazy.regex(r"\A\s*+(?P<secret>[A-Za-z0-9+/]{40,}+={0,2}+)\s*\Z")
# Between the characters of a word a reader does not see these; a log may also show them as escapes, or colour a part of a word.
INVISIBLE = lazy.regex(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0000-\U000e0fff]|\\\\u200[b-f]|\\\\u2060|\\\\ufeff|\\\\xad|\x1b\\[[0-9;]*m"
)
ESCAPED_BLANK = lazy.regex(r"\\[nrt]")
MASKED = lazy.regex(r"\[REDACTED:[a-z0-9-]+\]")  # its words name no further secret
# Characters that could be a key without a name. A hash, a commit and an identifier are told by their alphabet or their name.
BARE_RUN = lazy.regex(r"(?<![\w+/=.@-])(?P<secret>[A-Za-z0-9+/]{32,128}={0,2})(?![\w+/=@-])")
# One key in 64 begins with a slash: AWS's have 40 characters, the lines of a private key and of an e-mail 64 and 76.
PATH_OR_OFFSET = lazy.regex(r"/(?!.{39}\Z|.{63}\Z|.{75}\Z)|\w+\+0x")
KEY_ID = lazy.regex(r"\[REDACTED:[a-z]+-key-id\]")
KEY_OF_ID = lazy.regex(r"(?<![A-Za-z0-9+/])(?P<secret>[A-Za-z0-9+/]{30,2000}={0,2})(?![\w+/=-])")  # in the line of its id
PUBLIC_KEY = lazy.regex(r"(?:x\.?509 cert|public[ _-]?key|fingerprint)[^\n]{0,100}\Z", re.IGNORECASE)
HEX_ONLY = lazy.regex(r"[0-9a-f:]+", re.IGNORECASE)
NAMED_HASH = lazy.regex(
    r"(?:hash|digest|sha\d*|md5|etag|checksum|fingerprint|request|trace|span|commit|integrity|nonce|uuid|guid|(?<![a-z])id)\w{0,8}\W{0,4}\Z",
    re.IGNORECASE,
)


def mask_text(text: str, seen: dict[str, str] | None = None) -> str:
    """`text` with every secret replaced by a mask that names its kind; secrets and masks are added to `seen`."""
    if (not text.isascii() or "\\" in text or "\x1b" in text) and (plain := INVISIBLE.sub("", text)) != text:
        masked = _masked(plain, seen)
        return text if masked == plain else masked
    return _masked(text, seen)


def swept(text: str, seen: dict[str, str]) -> str:
    """`text` with masks for the secrets of `seen` that it repeats without their name."""
    found = [s for s in islice(seen, MOST_SWEPT) if len(s) >= SWEPT and s in text]
    if not found:
        return text
    longest_first = sorted(found, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), lambda m: seen[m[0]], text)


def _masked(text: str, seen: dict[str, str] | None) -> str:
    once = _mask_plain(HALF_WORD.sub(CUT, text, 1) if text.startswith(CUT) else text, seen)
    return masked_encodings(once, lambda plain: _mask_plain(plain, None))


def _mask_plain(text: str, seen: dict[str, str] | None) -> str:
    """`text` without the secrets that it shows as they are."""
    low = text.lower()
    for form in forms_in(ESCAPED_BLANK.sub("  ", low) if "\\" in low else low):
        text = _applied(form, text, seen)
    for rule in _rules_for(low):
        text = _applied(rule, text, seen)
    found = LONE_KEY_LINE.match(text)
    if found and is_mixed(found["secret"]):
        return MASK.format("key-material")
    return _spliced(text, _bare(text), "key", seen)


def _applied(rule: Form | Rule, text: str, seen: dict[str, str] | None) -> str:
    return _spliced(text, _spans(rule, text), rule.kind, seen)


def _spliced(text: str, spans: Iterator[tuple[int, int]], kind: str, seen: dict[str, str] | None) -> str:
    parts: list[str] = []
    past = 0
    mask = MASK.format(kind)
    for start, end in spans:
        if start < past:
            continue
        if seen is not None:
            seen.setdefault(text[start:end], mask)
        parts += [text[past:start], mask]
        past = end
    return "".join(parts) + text[past:] if parts else text


def _spans(rule: Form | Rule, text: str) -> Iterator[tuple[int, int]]:
    blanked = ESCAPED_BLANK.sub("  ", text) if "\\" in text else text  # as long as `text`
    shown = blanked if isinstance(rule, Form) else _without_masks(text)
    for match in rule.pattern.finditer(shown):
        start, end = _span(match)
        value = text[start:end]
        if not value or "[REDACTED:" in value:
            continue
        if isinstance(rule, Form):
            if may_be_token(value):
                yield start, end
        elif EMPTY_VALUE_PATTERN.match(value):
            continue
        elif rule.holds(value) and not (rule.test and (CODE_VALUE_PATTERN.fullmatch(value) or _is_public(text, start, value))):
            yield start, end


def _is_public(text: str, start: int, value: str) -> bool:
    """Is it the number of a public key?"""
    return bool(HEX_ONLY.fullmatch(value) and PUBLIC_KEY.search(text[max(0, start - 160) : start]))


def _span(match: re.Match[str]) -> tuple[int, int]:
    """The place of the secret in a match, without brackets that close around a value without quotes."""
    groups = match.re.groupindex
    name = next((n for n in ("secret", "secret2", "secret3", "secret4") if n in groups and match[n] is not None), None)
    if name is None:
        return match.span()
    start, end = match.span(name)
    if "quote" in groups and not match["quote"]:
        end = start + len(match[name].rstrip(")]}>."))
    return start, end


def _without_masks(text: str) -> str:
    """As long as `text`, without the masks, whose words name no further secret."""
    return MASKED.sub(lambda mask: "\0" * len(mask[0]), text) if "[REDACTED:" in text else text


def _bare(text: str) -> Iterator[tuple[int, int]]:
    """The places of keys that nothing names, or only an id of a key in the same line."""
    shown = _without_masks(text)
    if KEY_ID.search(text):
        yield from (m.span("secret") for m in KEY_OF_ID.finditer(shown) if TESTS["of an id"](m["secret"]))
        return
    for match in BARE_RUN.finditer(shown):
        start, end = match.span("secret")
        if (
            is_random_key(match["secret"])
            and not PATH_OR_OFFSET.match(match["secret"])
            and not NAMED_HASH.search(shown[max(0, start - 24) : start])
        ):
            yield start, end
