"""Secrets that are recognised by the name before them, or by their place in a command, a header, a URL or a file's line."""

import base64
import binascii
import re
from collections.abc import Callable

from msgspec import Struct

from forensics.core import lazy
from forensics.report.redaction.randomness import is_token, looks_random
from forensics.report.redaction.words import (
    KEY_OWNERS,
    PASSWORD_WORDS,
    SECRET_WORDS,
    SHORT_PASSWORD_WORDS,
    VENDOR_WORDS,
    one_of,
)

OPENING_QUOTE_PATTERN = r"(?P<quote>\\{0,3}[\"'`])"
SECRET_VALUE_PATTERN = rf"{OPENING_QUOTE_PATTERN}?(?P<secret>(?(quote)(?:(?!(?P=quote)).){{1,4096}}|[^\s\"'`,;&<]{{3,4096}}))"
QUOTED_VALUE_PATTERN = rf"{OPENING_QUOTE_PATTERN}(?P<secret>(?:(?!(?P=quote)).){{1,4096}})"
BLANK = r"[ \t]{0,24}"
SUFFIX = r"[\w.\[\]-]{0,40}?(?:[ \t]*:?[ \t]+(?:string|str|String)(?=[ \t]*=))?"  # the rest of a name, and its type
ASSIGNED = rf"(?:\\{{0,3}}[\"'`])?\)?{BLANK}(?:[:?.+!|]{{0,3}}={{1,3}}>?|:{{1,3}}|->|\|\||：|＝){BLANK}@?"
BEFORE_QUOTED = (
    rf"(?:\\?[\"'`])?\)?(?:{BLANK},{BLANK}|\({BLANK}|[ \t]+(?:is|ist|es|est|è|é|är|lautet|string|=)[ \t]+|[ \t]+)(?=[\"'`])"
)
ELEMENT = r"[\w.:-]{0,40}>\s{0,24}(?P<secret>[^\s<>]{3,4096})\s{0,24}</"
EQUALS = rf"(?:\\{{0,3}}[\"'`])?\)?{BLANK}[:?.+!|]{{0,3}}={{1,3}}>?{BLANK}@?"
SAID_BY_A_WORD = r"[ \t]*(?:是|为|為|は|is|ist|es|est|lautet|was)[ \t]*:?[ \t]*"
MIN_KEY_CHARS = 14  # of a value behind the name of a service; shorter ones are versions and names of models
HEX_DIGEST = lazy.regex(r"(?:.*[^0-9A-Za-z])?[0-9a-f]{32}(?:[0-9a-f]{8}|[0-9a-f]{32})?")  # a hash, a commit, an image


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
WANDB_KEY = lazy.regex(  # behind the name, which is none in the mask of another key
    r"(?<!REDACTED:)wandb\b(?:(?!\[REDACTED).){0,80}?\b(?P<secret>[0-9a-f]{40})\b", re.IGNORECASE
)
_PASSWORD = rf"(?:{one_of(PASSWORD_WORDS)})s?\d?"
_SHORT = rf"(?:(?<![a-z])(?:{one_of(SHORT_PASSWORD_WORDS)})\d?(?![a-z]))"
_KEY_OWNER = rf"(?:{one_of(KEY_OWNERS)})[ _.-]?key"
_SECRET = rf"(?:{one_of(SECRET_WORDS)}|token(?!iz)|{_KEY_OWNER})"
# `password: Bad message` and `(gdm-password:session)` are prose; `password: azerty user: bob` is not.
_PROSE = r"(?<=[: \t：])(?![A-Za-z/]+(?:[ \t]+(?:=|[A-Za-z]+(?![\w ]*[:=]))|\)))"
SECRET_ANCHORS = (*SECRET_WORDS, "token")
SHORT_ANCHORS = tuple(f"{word}{end}" for word in SHORT_PASSWORD_WORDS for end in "=:\"' ]`1234")
SECRET_NAME = lazy.regex(rf"(?P<password>{_PASSWORD}|{_SHORT})|{_SECRET}|(?<![a-z])(?:key|auth)(?![a-z])", re.I)
NAME_AT_END = lazy.regex(
    rf"(?P<name>(?:{_PASSWORD}|{_SHORT}|{_SECRET}|(?<![a-z])(?:key|auth))[\w\]\"'-]{{0,24}}?)"
    rf"(?P<colon>[ \t]*[:=>：]{{1,2}}[ \t]*[|>]?[+-]?)?[ \t]*\Z",
    re.I,
)
NAME_ANCHORS = (*PASSWORD_WORDS, *SHORT_PASSWORD_WORDS, *SECRET_WORDS, "token", "key", "auth")
MAX_NAME_END_CHARS = 120  # a word of these, what follows it in a name, and the sign for a value


def name_at_end(text: str) -> re.Match[str] | None:
    """The name of a secret with which `text` ends, its value being in the next line."""
    told = text.rstrip(" \t")
    tail = told[-MAX_NAME_END_CHARS:].lower()
    if not any(anchor in tail for anchor in NAME_ANCHORS):
        return None
    return NAME_AT_END.search(text, max(0, len(told) - MAX_NAME_END_CHARS))


NAMED_SECRET_RULES = (
    # Passwords under their name: an environment, a configuration, a JSON document, an error message that repeats its input.
    Rule("password", PASSWORD_WORDS, lazy.regex(rf"{_PASSWORD}{EQUALS}{SECRET_VALUE_PATTERN}", re.I), "no path"),
    Rule("password", PASSWORD_WORDS, lazy.regex(rf"{_PASSWORD}{ASSIGNED}{_PROSE}{SECRET_VALUE_PATTERN}", re.I), "no path"),
    Rule("password", PASSWORD_WORDS, lazy.regex(rf"{_PASSWORD}{ASSIGNED}{QUOTED_VALUE_PATTERN}", re.I), "no path"),
    Rule("password", SHORT_ANCHORS, lazy.regex(rf"{_SHORT}{EQUALS}{SECRET_VALUE_PATTERN}", re.I), "no path"),
    Rule("password", SHORT_ANCHORS, lazy.regex(rf"{_SHORT}{ASSIGNED}{QUOTED_VALUE_PATTERN}", re.I), "no path"),
    Rule("password", SHORT_ANCHORS, lazy.regex(rf"{_SHORT}{ASSIGNED}{SECRET_VALUE_PATTERN}", re.I), "random"),
    Rule("password", PASSWORD_WORDS, lazy.regex(rf"{_PASSWORD}{SUFFIX}{ASSIGNED}{SECRET_VALUE_PATTERN}", re.I), "random"),
    Rule("password", PASSWORD_WORDS, lazy.regex(rf"{_PASSWORD}{SUFFIX}{BEFORE_QUOTED}{QUOTED_VALUE_PATTERN}", re.I), "random"),
    Rule("password", PASSWORD_WORDS, lazy.regex(rf"{_PASSWORD}{SAID_BY_A_WORD}(?P<secret>[^\s\"'`,;]{{6,200}})", re.I), "random"),
    Rule("password", PASSWORD_WORDS, lazy.regex(rf"{_PASSWORD}[ \t]+(?P<secret>[^\s\"'`,;()]{{8,200}})", re.I), "token"),
    Rule("secret", SECRET_ANCHORS, lazy.regex(rf"{_SECRET}{SUFFIX}{ASSIGNED}{SECRET_VALUE_PATTERN}", re.I), "random"),
    Rule("secret", SECRET_ANCHORS, lazy.regex(rf"{_SECRET}{SUFFIX}{BEFORE_QUOTED}{QUOTED_VALUE_PATTERN}", re.I), "random"),
    Rule(  # if ("..." == password)
        "secret",
        (*PASSWORD_WORDS, *SECRET_ANCHORS, "key"),
        lazy.regex(rf"{QUOTED_VALUE_PATTERN}(?P=quote){BLANK}[=!]==?{BLANK}[\w.]{{0,40}}?(?:{_PASSWORD}|{_SECRET})", re.I),
        "random",
    ),
    Rule("secret", ("</",), lazy.regex(rf"<[\w.:-]{{0,60}}(?:{_PASSWORD}|{_SECRET}){ELEMENT}", re.I), "random"),
    Rule("secret", ("key",), lazy.regex(rf"{_KEY_OWNER}{SUFFIX}{ASSIGNED}{SECRET_VALUE_PATTERN}", re.I), "random"),
    Rule("secret", ("key",), lazy.regex(rf"{_KEY_OWNER}{SUFFIX}{BEFORE_QUOTED}{QUOTED_VALUE_PATTERN}", re.I), "random"),
    Rule(
        "secret",
        ("_key", '"key"', "'key'"),
        lazy.regex(rf"(?:(?<![A-Z0-9])[A-Z0-9_]{{1,60}}_KEY|(?<=[\"'])key(?=[\"'])){ASSIGNED}{SECRET_VALUE_PATTERN}"),
        "token",
    ),
    Rule("secret", ("key",), lazy.regex(rf"(?<![a-z])key(?:_id)?{ASSIGNED}{SECRET_VALUE_PATTERN}", re.I), "key"),
    Rule("secret", ("auth",), lazy.regex(rf"(?<![a-z])auth(?![a-z]){SUFFIX}{ASSIGNED}{SECRET_VALUE_PATTERN}", re.I), "key"),
    # SoftLayer's keys look like a hash, Cloudant's are letters alone.
    Rule(
        "vendor-key",
        ("softlayer", "sl_", "sl-"),
        lazy.regex(
            rf"(?<![a-z])(?:softlayer|sl)[ _-](?:api[ _-]?)?(?:key|token){ASSIGNED}[\"'`]?(?P<secret>[a-z0-9]{{64}})\b", re.I
        ),
    ),
    Rule("vendor-key", ("cloudant",), lazy.regex(rf"cloudant{SUFFIX}{ASSIGNED}[\"'`]?(?P<secret>[a-z]{{24}})\b", re.I)),
    Rule(
        "vendor-key",
        VENDOR_WORDS,
        lazy.regex(rf"(?<![a-z])(?:{one_of(VENDOR_WORDS)}){SUFFIX}{ASSIGNED}{SECRET_VALUE_PATTERN}", re.I),
        "vendor",
    ),
    Rule(
        "secret",  # a sentence that names a key before it shows it
        ("api key", "api-key", "apikey", "access key", "token", "secret", "credential", "password"),
        lazy.regex(
            r"\b(?:api[ -]?keys?|access keys?|secret keys?|tokens?|secrets?|credentials?"
            r"|passwords?)\b[^\n=:\"']{0,40}?[ \t:\"'`(<]"
            r"(?P<secret>(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{20,200})(?![\w./:=-])",
            re.I,
        ),
        "key",
    ),
    Rule(
        "pin",
        ("pin",),
        lazy.regex(r"(?<![A-Za-z_.-])pin(?:[ -]?code)?(?:[ \t]*[:=][ \t]*|[ \t]+is[ \t]+)[\"']?(?P<secret>\d{4,12})\b", re.I),
    ),
    Rule(
        "one-time-code",
        ("otp", "one-time", "verification code", "2fa", "security code"),
        lazy.regex(
            r"(?<![a-z])(?:otp|one-time (?:code|password)|(?:verification|security|2fa) code)(?: is"
            r"|[:=])[ \t]*[\"']?(?P<secret>\d{4,10})\b",
            re.I,
        ),
    ),
    Rule("input", ("input_value=",), lazy.regex(rf"\binput_value={QUOTED_VALUE_PATTERN}"), "random"),
    Rule(
        "session",
        ("cookie",),
        lazy.regex(r"(?:set-)?cookie[\"']?[ \t]*:[ \t]*[\"']?(?P<secret>[^\s\"'][^\"'\n]*)", re.IGNORECASE),
    ),
    Rule(
        "session",
        ("sessionid", "session_id=", "phpsessid", "jsessionid"),
        lazy.regex(r"(?:php|j)?sessionid=(?P<secret>[\w.-]{16,200})", re.I),
    ),
    # Headers, also as a dictionary or a curl command prints them.
    Rule(
        "header",
        ("authorization", "x-", "private-token", "api-key", "api-token", "apikey:", "token:"),
        lazy.regex(
            r"(?:authorization|x-[a-z-]{0,40}(?:key|token|api)|private-token|api-key|api-token|apikey|"
            r"(?<=[\"' ])token)[\"']?[ \t]*[:=][ \t]*[\"']?"
            r"(?:(?:bearer|basic|token|api-token|api-?key|digest|negotiate|aws4-hmac-sha256|ssws)[ \t]+)?"
            r"(?P<secret>[^\s\"',}\]]{6,4096})",
            re.IGNORECASE,
        ),
        "random",
    ),
    Rule(
        "header",
        ("authorization",),
        lazy.regex(
            r"authorization[\"']?[ \t]*[:=][ \t]*[\"']?(?:bearer|basic|token|digest|negotiate|apikey)[ \t]+"
            r"(?P<secret>[^\s\"',}\]]{6,4096})",
            re.I,
        ),
    ),
    Rule("bearer", ("bearer ",), lazy.regex(r"\bbearer[ \t]+(?P<secret>[\w.~+/=-]{12,4096})", re.IGNORECASE)),
    Rule("basic", ("basic ",), lazy.regex(r"\bbasic[ \t]+(?P<secret>[A-Za-z0-9+/]{8,4096}={0,2})", re.IGNORECASE), "credentials"),
    Rule(
        "docker-auth", ("auth",), lazy.regex(r"[\"']auth[\"']\s*:\s*[\"'](?P<secret>[A-Za-z0-9+/]{8,4096}={0,2})"), "credentials"
    ),
)
