"""Mask the secrets in a text; they are recognised by their form or by their name.

    WANDB_API_KEY=0123...cdef                      -> WANDB_API_KEY=[REDACTED:secret]
    https://bot:hunter2@git.example.com/x.git      -> https://bot:[REDACTED:password]@git.example.com/x.git

Forms are those that the issuers document, or that their own scanners look for. A rule runs only where one of its plain
anchors occurs, so a text without any costs a few substring searches.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from forensics.core import lazy
from forensics.report.redaction.forms import SECRET_FORMS

MIN_SECRET_CHARS = 8  # the least that a password has by NIST SP 800-63B
MIN_LONG_SECRET_CHARS = 20  # longer than words are: so many letters without a space are random, or a name in camel case
MASK = "[REDACTED:{}]"
# Values in the place of a secret that are no secrets.
EMPTY_VALUE_PATTERN = lazy.regex(
    r"\A(?:none|null|nil|true|false|undefined|default|unset|empty|redacted|hidden|required|optional|missing|invalid|expired|incorrect"
    r"|authentication|auth|failed|str|string|bytes|int|bool|yes|no|not|is|was|for|and|or|the|x{3,}|\.{2,}\S*|\*+|-+|[<$%{\[(].*"
    r"|os\.environ\S*|getenv\S*|your[-_ ].*|self\.\S*|args?\.\S*|cfg\.\S*|config\.\S*)\Z",
    re.IGNORECASE,
)
SECRET_VALUE_PATTERN = r"(?P<quote>\\?[\"'])?(?P<secret>(?(quote)(?:(?!(?P=quote)).){1,4096}|[^\s\"',;&)\]}<>]{3,4096}))"
WANDB_KEY = lazy.regex(  # behind the name, which is none in the mask of another key
    r"(?<!REDACTED:)wandb\b(?:(?!\[REDACTED).){0,80}?\b(?P<secret>[0-9a-f]{40})\b", re.IGNORECASE
)
NAME_END = r"(?P<close>\\?[\"'])?(?:\s{0,3}[=:]\s{0,3}|\s*=>\s*)"


class Rule(Struct, frozen=True):
    """`kind`: the word in the mask. `anchors`: lower-case texts of which one must occur. `pattern`: its group `secret`, or all
    of the match, is masked. `weak`: the value counts only if it looks random."""

    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    weak: bool = False


NAMED_SECRET_RULES = (
    # Passwords under their name: an environment, a configuration, a JSON document, an error message that repeats its input.
    Rule(
        "password",
        ("passw", "passphrase", "pwd", "requirepass", "_pass"),
        lazy.regex(
            r"(?<![A-Za-z0-9_.-])(?:[A-Za-z0-9_.-]{0,200}(?:password|passwd|passphrase|requirepass|_pass|_pwd|(?<![a-z])pwd(?=\W)))"
            rf"{NAME_END}{SECRET_VALUE_PATTERN}",
            re.IGNORECASE,
        ),
    ),
    Rule(
        "secret",
        ("secret", "credential"),
        lazy.regex(
            rf"(?<![A-Za-z0-9_.-])[A-Za-z0-9_.-]{{0,200}}(?:secret|credentials?)(?:[_.-]?(?:access)?[_.-]?(?:key|token|value))?{NAME_END}{SECRET_VALUE_PATTERN}",
            re.I,
        ),
        weak=True,
    ),
    Rule(
        "secret",
        ("key",),
        lazy.regex(
            r"(?<![A-Za-z0-9_.-])[A-Za-z0-9_.-]{0,200}(?:api|access|private|encryption|signing|account|storage|master|license|auth|service|client|ssh|app"
            rf"|client-key)[_-]?key(?:[_-]?(?:id|data|b64))?{NAME_END}{SECRET_VALUE_PATTERN}",
            re.IGNORECASE,
        ),
        weak=True,
    ),
    Rule(
        "secret",
        ("_key", '"key"', "'key'"),
        lazy.regex(rf"(?:(?<![A-Z0-9])[A-Z0-9_]{{1,60}}_KEY|(?<=[\"'])key(?=[\"'])){NAME_END}{SECRET_VALUE_PATTERN}"),
        weak=True,
    ),
    Rule(
        "token",
        ("token",),
        lazy.regex(
            r"(?:(?<![A-Z0-9])[A-Z0-9_]{0,60}_TOKEN|(?<![A-Za-z0-9_.-])[A-Za-z0-9_.-]{0,200}(?:auth|access|api|bearer|refresh|session|security|identity|id|csrf"
            rf"|bot|hub|hf|git|github|gitlab|user|login|personal|web|oauth)[_-]?token|(?<![A-Za-z_.-])token){NAME_END}{SECRET_VALUE_PATTERN}",
            re.IGNORECASE,
        ),
        weak=True,
    ),
    Rule("session", ("cookie",), lazy.regex(r"(?:set-)?cookie\s*:\s*(?P<secret>\S.*)", re.IGNORECASE)),
    # Headers, also as a dictionary or a curl command prints them.
    Rule(
        "header",
        ("authorization", "x-api-key", "x-auth-token", "private-token", "api-key"),
        lazy.regex(
            r"(?:authorization|x-[a-z-]{0,40}(?:key|token)|private-token|api-key)[\"']?\s*[:=]\s*[\"']?"
            r"(?:(?:bearer|basic|token|digest|negotiate|aws4-hmac-sha256|apikey)\s+)?(?P<secret>[^\s\"',}\]]{6,4096})",
            re.IGNORECASE,
        ),
    ),
    Rule("bearer", ("bearer ",), lazy.regex(r"\bbearer\s+(?P<secret>[\w.~+/=-]{12,4096})", re.IGNORECASE)),
    # URLs: the password of user:password@, a token in place of the user, keys among the parameters.
    Rule(
        "password",
        ("://",),
        lazy.regex(
            r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'?#\[]{0,200}:(?P<secret>[^\s/@\"'?#]{1,400}(?:/[^\s/@\"'?#]{1,100})?)@", re.I
        ),
    ),
    Rule("token", ("://",), lazy.regex(r"\bhttps?://(?P<secret>[A-Za-z0-9_~.-]{20,400})@", re.IGNORECASE)),
    Rule(
        "url-key",
        ("?", "&"),
        lazy.regex(
            r"[?&](?:[a-z_-]{0,20}(?:token|secret|passw(?:or)?d|signature|credential|api_?key|access_?key)|sig|key|code|auth)="
            r"(?P<secret>[^\s&\"'#<>]{6,4096})",
            re.IGNORECASE,
        ),
    ),
    # Command lines.
    Rule(
        "password",
        ("--", "sshpass", "curl ", "mysql"),
        lazy.regex(
            r"(?:--[a-z-]{0,30}(?:password|passwd|token|secret|api-?key|access-?key)(?:\s+|=)|sshpass\s+-p\s*|\bmysql\b[^|;]{0,100}?\s-p(?=\S)"
            r"|curl\b[^|;]{0,200}?\s(?:-u|--user)\s+[^\s:]{1,80}:)[\"']?(?P<secret>[^\s\"']{3,4096})",
            re.IGNORECASE,
        ),
    ),
    Rule("password", ("machine ", "login "), lazy.regex(r"\blogin\s+\S+\s+password\s+(?P<secret>\S+)", re.IGNORECASE)),
    Rule("wandb-key", ("wandb",), WANDB_KEY),
    Rule(
        "private-key",
        ("private key-----",),
        lazy.regex(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<secret>(?:(?!-----END).){1,8192})", re.S),
    ),
)
RULES = (*(Rule(kind, anchors, lazy.regex(pattern)) for kind, anchors, pattern in SECRET_FORMS), *NAMED_SECRET_RULES)
RULE_ANCHORS = tuple((anchor, number) for number, rule in enumerate(RULES) for anchor in rule.anchors)
LONE_KEY_LINE = lazy.regex(r"\A\s*+(?P<secret>[A-Za-z0-9+/]{40,}+={0,2}+)\s*\Z")


def mask_text(text: str, seen: dict[str, str] | None = None) -> str:
    """`text` with every secret replaced by a mask that names its kind; secrets and masks are added to `seen`."""
    low = text.lower()
    for number in sorted({number for anchor, number in RULE_ANCHORS if anchor in low}):
        text = _applied(RULES[number], text, seen)
    found = LONE_KEY_LINE.match(text)
    if found and _mixed(found["secret"]):
        return MASK.format("key-material")
    return text


def _applied(rule: Rule, text: str, seen: dict[str, str] | None) -> str:
    group = "secret" if "secret" in rule.pattern.groupindex else 0
    parts: list[str] = []
    past = 0
    for start, end in _spans(rule, text, group):
        if start < past:
            continue
        mask = MASK.format(rule.kind)
        if seen is not None:
            seen.setdefault(text[start:end], mask)
        parts += [text[past:start], mask]
        past = end
    return "".join(parts) + text[past:] if parts else text


def _spans(rule: Rule, text: str, group: str | int) -> Iterator[tuple[int, int]]:
    for match in rule.pattern.finditer(text):
        value = match[group]
        if EMPTY_VALUE_PATTERN.match(value) or "[REDACTED:" in value or (rule.weak and not looks_random(value)):
            continue
        yield match.span(group)


def looks_random(value: str) -> bool:
    """Is it long, without spaces, and no word, number or path?"""
    if (
        len(value) < MIN_SECRET_CHARS
        or " " in value
        or re.fullmatch(r"[\d.,:_-]+|[A-Za-z]+(?:[_ .-][A-Za-z]+)*|(?:\.{0,2}/)[\w./-]*|</?\w+>", value)
    ):
        return (
            len(value) >= MIN_LONG_SECRET_CHARS
            and re.fullmatch(r"[A-Za-z]+", value) is not None
            and not re.fullmatch(r"[A-Z]?[a-z]+|[A-Z]+", value)
        )
    return any(c.isdigit() for c in value) or len(value) >= MIN_LONG_SECRET_CHARS


def _mixed(value: str) -> bool:
    return any(c.islower() for c in value) and any(c.isupper() for c in value) and any(c.isdigit() for c in value)
