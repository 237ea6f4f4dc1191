"""Mask the secrets in a text; they are recognised by their form, by their name or place, or by how random they are.

    WANDB_API_KEY=0123...cdef                      -> WANDB_API_KEY=[REDACTED:secret]
    https://bot:hunter2@git.example.com/x.git      -> https://bot:[REDACTED:password]@git.example.com/x.git

A rule runs only where one of its plain anchors occurs, so a text without any costs a few substring searches. Invisible
characters inside a secret do not hide it: a text with a secret loses them.
"""

import functools
import re
from collections.abc import Iterator
from itertools import islice

from forensics.core import lazy
from forensics.report.redaction.forms import Form, forms_in
from forensics.report.redaction.randomness import is_mixed, is_random_key, masked_encodings, may_be_token
from forensics.report.redaction.rules import CODE_VALUE_PATTERN, EMPTY_VALUE_PATTERN, SECRETS, Rule

MASK = "[REDACTED:{}]"
RULES = SECRETS.rules["rule"]
SWEPT = 8  # characters of a secret that is also searched for where nothing names it; shorter ones may be ordinary words
MOST_SWEPT = 1000  # secrets that are searched for in each line: a substring search of a tenth of a microsecond each
ANCHOR_KEY_CHARS = 3  # characters: an anchor is searched for where its first ones occur
Anchored = tuple[str, tuple[int, ...]]


@functools.cache
def _anchors() -> tuple[dict[tuple[str, ...], tuple[Anchored, ...]], tuple[Anchored, ...]]:
    """The anchors with the numbers of their rules: by their first characters, and those that are shorter."""
    numbers: dict[str, tuple[int, ...]] = {}
    for number, rule in enumerate(RULES):
        for anchor in rule.anchors:
            numbers[anchor] = (*numbers.get(anchor, ()), number)
    grams: dict[tuple[str, ...], tuple[Anchored, ...]] = {}
    for anchored in numbers.items():
        if len(anchored[0]) >= ANCHOR_KEY_CHARS:
            key = tuple(anchored[0][:ANCHOR_KEY_CHARS])
            grams[key] = (*grams.get(key, ()), anchored)
    return grams, tuple(a for a in numbers.items() if len(a[0]) < ANCHOR_KEY_CHARS)


def _rules_for(low: str) -> list[Rule]:
    """The rules of which an anchor occurs in the lower-case text `low`."""
    grams, short = _anchors()
    likely = (anchored for key in grams.keys() & set(zip(low, low[1:], low[2:], strict=False)) for anchored in grams[key])
    found = {n for anchored in (likely, short) for anchor, numbers in anchored if anchor in low for n in numbers}
    return [RULES[n] for n in sorted(found)]


LONE_KEY_LINE = lazy.regex(r"\A\s*+(?P<secret>[A-Za-z0-9+/]{40,}+={0,2}+)\s*\Z")
# Between the characters of a word a reader does not see these; a log may also show them as escapes, or colour a part of a word.
INVISIBLE = lazy.regex(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0000-\U000e0fff]|\\\\u200[b-f]|\\\\u2060|\\\\ufeff|\\\\xad|\x1b\\[[0-9;]*m"
)
ESCAPED_BLANK = lazy.regex(r"\\[nrt]")
MASK_KIND = lazy.regex(r"(?<=\[REDACTED:)[a-z0-9-]+(?=\])")  # `token` in a mask announces no further secret
# Characters that could be a key without a name. A hash, a commit and an identifier are told by their alphabet or their name.
BARE_RUN = lazy.regex(r"(?<![\w+/=.@-])(?P<secret>[A-Za-z0-9+/]{32,128}={0,2})(?![\w+/=@-])")
PATH_OR_OFFSET = lazy.regex(r"/|\w+\+0x")
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
    once = _mask_plain(text, seen)
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
    if isinstance(rule, Form):
        shown = ESCAPED_BLANK.sub("  ", text) if "\\" in text else text  # as long as `text`
    else:
        shown = MASK_KIND.sub(lambda kind: "-" * len(kind[0]), text) if "[REDACTED:" in text else text
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


def _bare(text: str) -> Iterator[tuple[int, int]]:
    """The places of keys that nothing names."""
    for match in BARE_RUN.finditer(text):
        start, end = match.span("secret")
        if (
            is_random_key(match["secret"])
            and not PATH_OR_OFFSET.match(match["secret"])
            and not NAMED_HASH.search(text[max(0, start - 24) : start])
        ):
            yield start, end
