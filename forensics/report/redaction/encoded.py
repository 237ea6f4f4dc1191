"""Secrets one layer deep in an encoding: base64, hexadecimal digits, URL encoding."""

import base64
import binascii
from collections.abc import Callable
from urllib.parse import unquote

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
        return _printable(base64.b64decode(run))
    except (binascii.Error, ValueError):
        return ""


def _printable(data: bytes) -> str:
    text = data.decode("ascii", "replace")
    return text if PRINTABLE.fullmatch(text) else ""
