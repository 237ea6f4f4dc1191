"""Rules for secrets (`secrets.tsv`) and for names (`names.tsv`): tables whose fields are separated by tabs.

words   NAME   word,word ...                   %{NAME} in a pattern is one of them, the longest first; among anchors all of them
piece   NAME   pattern                         %{NAME} puts it into a pattern
rule    kind   test   anchor,anchor   pattern   searched for where one of the anchors, lower-case texts, occurs

Lines of one NAME add up; a line that begins with # says why. Names have form, place and pair in place of rule.

How random is a text? Random keys change between capitals, small letters and digits far more often than words and names do.
"""

import base64
import binascii
import functools
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from math import log2
from pathlib import Path
from urllib.parse import unquote

from msgspec import Struct, field

from forensics.core import lazy

MAX_DECODED_CHARS = 8192  # a longer run is tested by its beginning
BASE64_GROUP_CHARS = 4  # RFC 4648: as many hold three bytes
BASE64_RUN = lazy.regex(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,2}")
HEX_RUN = lazy.regex(r"(?<![A-Za-z0-9])(?:0x)?(?:[0-9a-fA-F]{2}){12,}(?![A-Za-z0-9])")
URL_RUN = lazy.regex(r"[\w.~+-]{0,2000}%[0-9A-Fa-f]{2}[\w.~%+*()!-]*")
PRINTABLE = lazy.regex(r"[\t\n\r -~]{8,}")
MASK_OF = {"base64": "[REDACTED:encoded-secret]", "hex": "[REDACTED:encoded-secret]", "url": "[REDACTED:encoded-secret]"}


def masked_encodings(text: str, mask: Callable[[str], str]) -> str:
    """`text` with a mask for each run that decodes to a text in which `mask` finds a secret."""
    if "%" in text:
        text = URL_RUN.sub(lambda m: _masked(m[0], unquote(m[0], errors="replace"), "url", mask), text)
    text = HEX_RUN.sub(lambda m: _masked(m[0], _from_hex(m[0]), "hex", mask), text)
    return BASE64_RUN.sub(lambda m: _masked(m[0], _from_base64(m[0]), "base64", mask), text)


def _masked(run: str, plain: str, kind: str, mask: Callable[[str], str]) -> str:
    return MASK_OF[kind] if plain and plain != run and mask(plain) != plain else run


def _from_hex(run: str) -> str:
    return _printable(bytes.fromhex(run.removeprefix("0x")[:MAX_DECODED_CHARS]))


def _from_base64(run: str) -> str:
    """The text in base64, in its common or its URL-safe alphabet; empty where the run holds no text."""
    run = run.rstrip("=")[:MAX_DECODED_CHARS].replace("-", "+").replace("_", "/")
    run = run[: len(run) - len(run) % BASE64_GROUP_CHARS]
    try:
        return _printable(binascii.a2b_base64(run))  # `base64` does nothing more, and takes 1 ms to load
    except (binascii.Error, ValueError):
        return ""


def _printable(data: bytes) -> str:
    text = data.decode("ascii", "replace")
    return text if PRINTABLE.fullmatch(text) else ""


MIN_SECRET_CHARS = 8  # the least that a password has by NIST SP 800-63B
MIN_LONG_SECRET_CHARS = 20  # longer than words are: so many letters without a space are random, or a name in camel case
LEAST_CHANGES = 0.36  # of pairs of neighbours; random letters and digits have 0.62, names in camel case 0.2 to 0.3
LEAST_TOKEN_CHANGES = 0.25  # behind a word that may name a secret; random hexadecimal digits have 0.47
LEAST_ENTROPY = 3.0  # bits for each character; random hexadecimal digits come close to 4
MAX_WORD_CHARS = 28  # the longest words of dictionaries have as many
LEAST_DISTINCT_CHARS = 7  # a rule of a document, `AKIAXXXXXXXXXXXXXXXX`, has fewer
WORDS_OR_PATH = lazy.regex(
    r"[\d.,:_-]+|[A-Za-z]+(?:[_ .-][A-Za-z]+)*|(?:\.{0,2}/)[\w./-]*|</?\w+>|.*[\u2500-\u25ff].*"  # the last: a bar of progress
)
HEX_KEY = lazy.regex(r"(?=.*[a-f])[0-9a-f]{16,}|(?=.*[A-F])[0-9A-F]{16,}")
ONE_CASE_KEY = lazy.regex(r"(?=.*\d)(?=.*[A-Z])[A-Z0-9]{32,}")  # capitals and digits: hardly ever a name
UUID_OF_ANY_CASE = lazy.regex(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
LETTERS = lazy.regex(r"[A-Za-z]+")
ONE_WORD = lazy.regex(r"[A-Z]?[a-z]+|[A-Z]+")


def looks_random(value: str) -> bool:
    """Behind a name that says secret: is it long, without spaces, and no word, number or path?"""
    if len(value) < MIN_SECRET_CHARS or " " in value or (WORDS_OR_PATH.fullmatch(value) and not is_random_key(value)):
        return len(value) >= MIN_LONG_SECRET_CHARS and bool(LETTERS.fullmatch(value)) and not ONE_WORD.fullmatch(value)
    return any(c.isdigit() for c in value) or len(value) >= MIN_LONG_SECRET_CHARS


def may_be_token(value: str) -> bool:
    """Could it be a token of a known form? It has digits or capitals, or is too long for a word, and has several characters."""
    return len(set(value)) >= LEAST_DISTINCT_CHARS and (
        any(c.isdigit() or c.isupper() for c in value) or len(max(re.split(r"[^a-z]", value), key=len)) > MAX_WORD_CHARS
    )


def is_mixed(value: str) -> bool:
    """Has it capitals, small letters and digits?"""
    return any(c.islower() for c in value) and any(c.isupper() for c in value) and any(c.isdigit() for c in value)


def is_token(value: str) -> bool:
    """Is it as random as a token behind a word that may name one?"""
    known = HEX_KEY.fullmatch(value) or ONE_CASE_KEY.fullmatch(value) or UUID_OF_ANY_CASE.fullmatch(value)
    return looks_random(value) and may_be_token(value) and (bool(known) or class_changes(value) >= LEAST_TOKEN_CHANGES)


def is_random_key(value: str) -> bool:
    """Without any name: is it mixed, with much entropy, and does it change as often as random characters do?"""
    return is_mixed(value) and class_changes(value) >= LEAST_CHANGES and entropy(value) >= LEAST_ENTROPY


def class_changes(value: str) -> float:
    """The share of neighbours of two classes (capital, small letter, digit) among all neighbours that are letters or digits.

    A sign between two words of a path or a name is no change.
    """
    classes = list(map(_class, value))
    pairs = [(a, b) for a, b in pairwise(classes) if a and b]
    return sum(a != b for a, b in pairs) / max(1, len(classes) - 1)


def entropy(value: str) -> float:
    """Shannon's entropy of the characters, in bits for each."""
    total = len(value)
    return -sum(n / total * log2(n / total) for n in Counter(value).values()) if total else 0.0


def _class(char: str) -> int:
    return 1 if char.islower() else 2 if char.isupper() else 3 if char.isdigit() else 0


MIN_KEY_CHARS = 14  # of a value behind the name of a service; shorter ones are versions and names of models
HEX_DIGEST = lazy.regex(r"(?:.*[^0-9A-Za-z])?[0-9a-f]{32}(?:[0-9a-f]{8}|[0-9a-f]{32})?")  # a hash, a commit, an image
MAX_NAME_END_CHARS = 120  # a word of a secret's name, what follows it in the name, and the sign for a value
# Values in the place of a secret that are no secrets.
EMPTY_VALUE_PATTERN = lazy.regex(
    r"\A(?:none|null|nil|true|false|undefined|default|unset|empty|redacted|hidden|required|optional|missing|invalid|expired|incorrect"
    r"|authentication|auth|failed|failure|str|string|bytes|int|bool|yes|no|not|is|was|for|and|or|the|wrong|rejected|denied|changed"
    r"|on|off|error|mismatch|must|should|cannot|does|field|falsch|incorrecta|incorrect[eo]?|x{3,}|\.{2,}\S*|\*+|-+|•+|[<%{(].*"
    r"|\$(?:\(.*|\{.*|[A-Z_][A-Z0-9_]*|[a-z_]+)|\[(?-i:[a-z_ -]*|[A-Z_ -]*)\]?"
    r"|os\.environ\S*|getenv\S*|your[-_ ].*|self\.\S*|args?\.\S*|cfg\.\S*|config\.\S*|n/?a|tensor\(.*|torch\.\S*)\Z",
    re.IGNORECASE,
)
# A call, a template, an address, or the name of a file.
CODE_VALUE_PATTERN = lazy.regex(
    r"[A-Za-z_][\w.]*\(.*|.*(?:\$\{[\w.:?/-]*\}|\{\{[\w .|()'\"-]*\}\}|%\(\w+\)).*|https?://.*|[\w./\\:-]*\.(?:py|so|pt|pth|pem|crt|json|ya?ml|txt|log|safetensors|bin|cc?|cpp|h|cuh?|sh|go|js|rs)"
    r"(?::\d+)?|.*\.\.\.|[a-z_]+(?:\.[a-z_]+)+\d?|[A-Za-z_][\w.]*\[.*|.*[)\]]\..*"
    r"|[\w.$]+@[0-9a-f]{6,8}|[A-Za-z_]\w{0,24}(?:\.\w{1,24}){2,}|(?-i:[A-Z]+_[A-Z_]+=).*|(?:PCI|GPU|CPU|cuda|node|rank|sha256|md5|sha1)[:-]?[\w:.-]*",
    re.IGNORECASE,
)


class Rule(Struct, frozen=True):
    """`kind`: the word in the mask. `anchors`: lower-case texts of which one must occur. `pattern`: its group `secret`, or all
    of the match, is masked. `test`: what the value must be."""

    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    test: str = ""

    def holds(self, value: str) -> bool:
        """Does `value` pass the test of the rule?"""
        return bool(TESTS[self.test](value))


class Table(Struct):
    """What a file holds. `rules`: by the first field of their lines."""

    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    pieces: dict[str, str] = field(default_factory=dict)
    rules: dict[str, list[Rule]] = field(default_factory=dict)

    def pattern(self, text: str) -> str:
        """`text` with its pieces and words."""
        made, *rest = text.split("%{")
        for part in rest:
            name, _, after = part.partition("}")
            made += (self.pieces[name] if name in self.pieces else _one_of(self.words[name])) + after
        return made

    def listed(self, text: str) -> tuple[str, ...]:
        """The words or anchors of a line."""
        listed = (self.words[w[2:-1]] if w.startswith("%{") else (w,) for w in text.split(","))
        return tuple(word for words in listed for word in words)


@functools.cache
def table(name: str) -> Table:
    """The table in the file `name` beside this module."""
    made = Table()
    for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines():
        what, *fields = line.split("\t")
        if what == "words":
            made.words[fields[0]] = made.words.get(fields[0], ()) + made.listed(fields[1])
        elif what == "piece":
            made.pieces[fields[0]] = made.pattern(fields[1])
        elif not line.startswith("#"):
            kind, test, anchors, pattern = fields
            rule = Rule(kind, made.listed(anchors), lazy.regex(made.pattern(pattern)), test)
            made.rules.setdefault(what, []).append(rule)
    return made


@functools.cache
def _one_of(words: tuple[str, ...]) -> str:
    """A pattern for one of `words`, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _is_credentials(value: str) -> bool:
    """Base64 of `user:password`?"""
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return False
    return ":" in plain and plain.isprintable()


def _is_long_random(value: str) -> bool:
    """A key behind a word that often means something else; a plain hash is none."""
    return len(value) >= MIN_KEY_CHARS and is_token(value) and not HEX_DIGEST.fullmatch(value)


TESTS: dict[str, Callable[[str], object]] = {
    "": lambda _value: True,
    "random": looks_random,
    "token": is_token,
    "vendor": lambda value: len(value) >= MIN_KEY_CHARS and is_token(value) and not re.search(r"[^\w.=+/:%@-]", value),
    "key": _is_long_random,
    "of an id": lambda value: value.upper() != value != value.lower() and class_changes(value) >= LEAST_TOKEN_CHANGES,
    "credentials": _is_credentials,
    "no path": lambda value: not re.match(r"[~.]{0,2}/[\w./-]*\Z|[A-Z]:\\", value),
}

SECRETS = table("secrets.tsv")
SECRET_NAME = lazy.regex(SECRETS.pattern(r"(?i)(?P<password>%{PASSWORD}|%{SHORT})|%{SECRET}|(?<![a-z])(?:key|auth)(?![a-z])"))
NAME_AT_END = lazy.regex(
    SECRETS.pattern(r"(?i)(?P<name>(?:%{PASSWORD}|%{SHORT}|%{SECRET}|(?<![a-z])(?:key|auth))[\w\]\"'-]{0,24}?)")
    + r"(?P<colon>[ \t]*[:=>：]{1,2}[ \t]*[|>]?[+-]?)?[ \t]*\Z"
)
NAME_ANCHORS = SECRETS.listed("%{PASSWORD_WORDS},%{SHORT_PASSWORD_WORDS},%{SECRET_WORDS},token,key,auth")


def name_at_end(text: str) -> re.Match[str] | None:
    """The name of a secret with which `text` ends, its value being in the next line."""
    told = text.rstrip(" \t")
    tail = told[-MAX_NAME_END_CHARS:].lower()
    if not any(anchor in tail for anchor in NAME_ANCHORS):
        return None
    return NAME_AT_END.search(text, max(0, len(told) - MAX_NAME_END_CHARS))
