"""Rules for secrets (`secrets.tsv`) and for names (`names.tsv`): tables whose fields are separated by tabs.

words   NAME   word,word ...                   %{NAME} in a pattern is one of them, the longest first; among anchors all of them
piece   NAME   pattern                         %{NAME} puts it into a pattern
rule    kind   test   anchor,anchor   pattern   searched for where one of the anchors, lower-case texts, occurs

Lines of one NAME add up; a line that begins with # says why. Names have form, place and pair in place of rule.
"""

import base64
import binascii
import functools
import re
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, field

from forensics.core import lazy
from forensics.report.redaction.randomness import is_token, looks_random

MIN_KEY_CHARS = 14  # of a value behind the name of a service; shorter ones are versions and names of models
HEX_DIGEST = lazy.regex(r"(?:.*[^0-9A-Za-z])?[0-9a-f]{32}(?:[0-9a-f]{8}|[0-9a-f]{32})?")  # a hash, a commit, an image
MAX_NAME_END_CHARS = 120  # a word of a secret's name, what follows it in the name, and the sign for a value
# Values in the place of a secret that are no secrets.
EMPTY_VALUE_PATTERN = lazy.regex(
    r"\A(?:none|null|nil|true|false|undefined|default|unset|empty|redacted|hidden|required|optional|missing|invalid|expired|incorrect"
    r"|authentication|auth|failed|failure|str|string|bytes|int|bool|yes|no|not|is|was|for|and|or|the|wrong|rejected|denied|changed"
    r"|on|off|error|mismatch|must|should|cannot|does|field|falsch|incorrecta|incorrect[eo]?|x{3,}|\.{2,}\S*|\*+|-+|•+|[<$%{\[(].*"
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
