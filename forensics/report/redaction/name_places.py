"""Where names of people and places stand in a log: (kind, lower-case texts of which one must occur, the place of the name)."""

import base64
import binascii
import ipaddress
import re
from collections.abc import Iterator
from urllib.parse import unquote

from forensics.core import lazy
from forensics.report.redaction.randomness import BASE64_GROUP_CHARS
from forensics.report.redaction.rules import table

EMAIL = lazy.regex(r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.[A-Za-z]{2,24}\b")
IPV4 = lazy.regex(r"(?<![\d.v])(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?![\d]|\.\d)")
IPV6 = lazy.regex(r"(?<![\w:.])[0-9A-Fa-f:]{4,39}(?![\w:])")  # a candidate; `ipaddress` decides
NAME_TABLE = table("names.tsv")
IPV4_DOTS, IPV6_COLONS = 3, 7  # of an address that is written in full
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
    for form in NAME_TABLE.rules["form"]:
        if any(anchor in low for anchor in form.anchors):
            for match in form.pattern.finditer(text):
                name = (match["name"] if "name" in form.pattern.groupindex else match[0]).strip()
                if form.kind != "cert" or not CERTIFICATE_AUTHORITIES.match(name):
                    yield form.kind, name
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


COMMON_NAMES = frozenset(NAME_TABLE.words["COMMON_NAMES"])
# Sites that occur in everybody's logs; they do not identify the owner of a log.
PUBLIC = lazy.regex(
    r"\A(?:(?:.*\.)?(?:github|gitlab|githubusercontent|google|googleapis|nvidia|amazonaws|microsoft|docker|slack"
    r"|discord|wandb|anaconda)\.\w+\Z"
    r"|(?:.*\.)?(?:pytorch|tensorflow|python|kernel|gnu|apache|jupyter|readthedocs|numpy|freedesktop|man7"
    r"|kubernetes)\.(?:org|io)\Z"
    r"|(?:.*\.)?(?:huggingface\.co|hf\.co|wandb\.ai|lightning\.ai|example\.(?:com|org|net))\Z|\w+\.(?:py|log|txt"
    r"|json|yaml|so|sh|c|h|cpp|cu)\Z)",
    re.IGNORECASE,
)
PUBLIC_ORGANISATIONS = frozenset(NAME_TABLE.words["PUBLIC_ORGANISATIONS"])
