"""Personal data that is recognised by its own form: addresses, numbers of phones and cards, public keys, serial numbers."""

import base64
import binascii
import ipaddress
import re
from collections.abc import Iterator
from urllib.parse import unquote

from forensics.core import lazy
from forensics.report.redaction.encoded import BASE64_GROUP_CHARS

EMAIL = lazy.regex(r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.[A-Za-z]{2,24}\b")
IPV4 = lazy.regex(r"(?<![\d.v])(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?![\d]|\.\d)")
IPV6 = lazy.regex(r"(?<![\w:.])[0-9A-Fa-f:]{4,39}(?![\w:])")  # a candidate; `ipaddress` decides
IPV4_DOTS, IPV6_COLONS = 3, 7  # of an address that is written in full
# Kind, lower-case texts of which one must occur, and the form; its group `name`, or all of it, is replaced.
FORMS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    (
        "mac",
        (":", "-"),
        lazy.regex(
            r"(?<![\w:.-])(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![\w:.-])|(?<![\w-])(?:[0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}(?![\w-])"
        ),
    ),
    (
        "key",
        ("ssh-", "ecdsa-"),
        lazy.regex(
            r"\b(?:ssh-(?:rsa|dss|ed25519)|(?:sk-)?ecdsa-[\w@.-]+|sk-ssh-[\w@.-]+) (?P<name>AAAA[A-Za-z0-9+/]{20,2000}={0,3})"
        ),
    ),
    ("key", ("sha256:", "md5:"), lazy.regex(r"(?P<name>\bSHA256:[A-Za-z0-9+/]{43}=?|\bMD5:(?:[0-9a-f]{2}:){15}[0-9a-f]{2})")),
    (
        "phone",
        ("+",),
        lazy.regex(r"(?<![\w.+])\+[1-9]\d{0,2}(?:[ .()/-]{1,2}\d{1,8}){2,6}(?![\w])|(?<![\w.+])\+[1-9]\d{8,14}(?![\w.])"),
    ),
    ("phone", ("(", "-"), lazy.regex(r"(?<![\w.-])(?:\([2-9]\d{2}\) ?|[2-9]\d{2}-)[2-9]\d{2}-\d{4}(?![\w-])")),
    (
        "phone",
        ("phone", "tel", "mobile", "handy", "fax", "whatsapp"),
        lazy.regex(
            r"\b(?:tele)?(?:phone|tel|mobile|handy|fax|whatsapp)\b\.?(?: number"
            r"| no\.?)?[\"']?[ \t]*[:=]?[ \t]*[\"']?(?P<name>[+(]?\d[\d ()/.-]{5,18}\d)",
            re.I,
        ),
    ),
    ("gpu-id", ("gpu-", "mig-"), lazy.regex(r"\b(?:GPU|MIG)-(?:GPU-)?[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")),
    (
        "serial",
        ("serial",),
        lazy.regex(
            r"\bserial(?:[ _-]?(?:number|no\.?|num))?[\"']?[ \t]*[:=#]?[ \t]*[\"']?(?P<name>(?=[A-Z0-9-]*\d)[A-Z0-9-]{7,24})\b",
            re.I,
        ),
    ),
    ("cert", ("cn=", "cn ="), lazy.regex(r"\bCN ?= ?\"?(?P<name>[^,/\"\n]{3,80})")),
    (
        "email",
        ("%40", "&#64;", "\\u0040", "[at]", "(at)", " at "),
        lazy.regex(
            r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}(?:%40|&#64;|\\u0040| ?[\[(]at[\])] ?)[A-Za-z0-9-]{1,63}(?:"
            r"(?:\.|%2E| ?[\[(]dot[\])] ?)[A-Za-z0-9-]{1,63}){0,4}"
            r"(?:\.|%2E| ?[\[(]dot[\])] ?)[A-Za-z]{2,24}\b",
            re.I,
        ),
    ),
    ("iban", ("iban",), lazy.regex(r"\bIBAN[ :=]{1,3}(?P<name>[A-Z]{2}\d{2}[A-Z0-9 ]{11,40})")),
)
CARD = lazy.regex(r"(?<![\w.:/-])[3-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,7}(?![\w.:/-])")
ENCODED_RUN = lazy.regex(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{10,400}={0,2}")
CERTIFICATE_AUTHORITIES = lazy.regex(
    r"(?:DigiCert|Let's Encrypt|GlobalSign|ISRG|Amazon|GTS|Google|Microsoft|Sectigo|R\d+$|E\d+$|kubernetes|etcd|localhost|\*)",
    re.I,
)
LEAST_CARD_DIGITS, MOST_CARD_DIGITS = 13, 19  # ISO/IEC 7812


def numbers_in(text: str) -> Iterator[tuple[str, str]]:
    """Kind and text of everything in `text` whose form tells what it is."""
    if "@" in text:
        yield from (("email", m[0]) for m in EMAIL.finditer(text) if not m[0].startswith("git@"))
    if text.count(".") >= IPV4_DOTS:
        yield from (("ip", m[0]) for m in IPV4.finditer(text))
    if text.count(":") >= 2:
        yield from (("ip", m[0]) for m in IPV6.finditer(text) if "::" in m[0] or m[0].count(":") == IPV6_COLONS if _is_ipv6(m[0]))
    low = text.lower()
    for kind, anchors, pattern in FORMS:
        if any(anchor in low for anchor in anchors):
            for match in pattern.finditer(text):
                name = (match["name"] if "name" in pattern.groupindex else match[0]).strip()
                if kind != "cert" or not CERTIFICATE_AUTHORITIES.match(name):
                    yield kind, name
    yield from (("card", m[0]) for m in CARD.finditer(text) if _is_card(m[0]))
    yield from (
        ("email", m[0])
        for m in ENCODED_RUN.finditer(text)
        if not len(m[0]) % BASE64_GROUP_CHARS and EMAIL.fullmatch(_decoded(m[0]))
    )


def _decoded(run: str) -> str:
    """The text in a run of base64 or of hexadecimal digits; empty for one that holds none."""
    try:
        data = (
            bytes.fromhex(run)
            if re.fullmatch(r"[0-9a-fA-F]+", run)
            else base64.b64decode(run.replace("-", "+").replace("_", "/"))
        )
        return unquote(data.decode("ascii"))
    except (binascii.Error, ValueError):
        return ""


def _is_card(text: str) -> bool:
    """Luhn's check of the digits (ISO/IEC 7812)."""
    digits = [int(c) for c in reversed(text) if c.isdigit()]
    if not LEAST_CARD_DIGITS <= len(digits) <= MOST_CARD_DIGITS or len(set(digits)) == 1:
        return False
    doubled = [sum(divmod(2 * d, 10)) for d in digits[1::2]]
    return not (sum(digits[::2]) + sum(doubled)) % 10


def _is_ipv6(text: str) -> bool:
    try:
        return ipaddress.IPv6Address(text) not in (ipaddress.IPv6Address("::"), ipaddress.IPv6Address("::1"))
    except ValueError:
        return False
