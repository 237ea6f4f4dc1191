"""How often a text occurs in logs, in occurrences per megabyte, from common.json (made by `scripts/common_text.py`).

'error: '  ->  172      'flurble quota'  ->  0

The table holds common texts of GRAM bytes; a longer text is no more common than the rarest part of it.
"""

import functools
import json
import sys
from bisect import bisect_left
from pathlib import Path

from forensics.core.errors import DatabaseError

COMMON_FILE = Path(__file__).with_name("common.json")
GRAM = 6  # bytes of a text that is counted
SHORT_COST = 20.0  # of each byte that a text is shorter than GRAM, on top of what is known of it


@functools.cache
def text_frequency(text: str) -> float:
    """The occurrences of `text` (lower case) per megabyte of logs, at most; 0 for a text that is not common."""
    common = _common()
    if len(text) < GRAM:
        return SHORT_COST * (GRAM - len(text)) + _short_frequency(text)
    return min(common.get(text[i : i + GRAM], 0.0) for i in range(len(text) - GRAM + 1))


@functools.cache
def _common() -> dict[str, float]:
    try:
        rates: dict[str, float] = json.loads(COMMON_FILE.read_bytes())
    except OSError as error:
        raise DatabaseError(f"cannot be read: {error.strerror}", str(COMMON_FILE), "reinstall the package") from error
    return rates


@functools.cache
def _short_frequency(text: str) -> float:
    """The occurrences per megabyte of a text shorter than GRAM, of those that common texts begin with."""
    texts, rates = _sorted_common()
    return sum(rates[bisect_left(texts, text) : bisect_left(texts, text + chr(sys.maxunicode))])


@functools.cache
def _sorted_common() -> tuple[list[str], list[float]]:
    """The common texts in order, and the rate of each."""
    found = sorted(_common().items())
    return [text for text, _ in found], [rate for _, rate in found]
