"""How often a text occurs in logs, in occurrences per megabyte, from common.json (made by `scripts/common_text.py`).

'error: '  ->  172      'flurble quota'  ->  0

The table holds common texts of GRAM bytes; a longer text is no more common than the rarest part of it.
"""

import functools
import json
from collections import Counter
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
        return SHORT_COST * (GRAM - len(text)) + _short().get(text, 0.0)
    return min(common.get(text[i : i + GRAM], 0.0) for i in range(len(text) - GRAM + 1))


@functools.cache
def _common() -> dict[str, float]:
    try:
        rates: dict[str, float] = json.loads(COMMON_FILE.read_bytes())
    except OSError as error:
        raise DatabaseError(f"cannot be read: {error.strerror}", str(COMMON_FILE), "reinstall the package") from error
    return rates


@functools.cache
def _short() -> dict[str, float]:
    """The occurrences per megabyte of texts shorter than GRAM, of those that common texts begin with."""
    rates: Counter[str] = Counter()
    for gram, rate in _common().items():
        for size in range(1, GRAM):
            rates[gram[:size]] += rate  # type: ignore[assignment]
    return dict(rates)
