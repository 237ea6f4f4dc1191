"""Numbers of any name that the last lines of a log show as NaN: what a program measures under a name of its own.

[INFO] ep=14 L=0.8312 mfm=0.7718 ... [INFO] ep=51 L=nan mfm=nan  -> the series `L` and `mfm`
"""

import re

from forensics.core.text import decode_line
from forensics.data_files.named_parts import patterns_of
from forensics.model import Scan
from forensics.readers.base import sampled_blocks
from forensics.readers.numbers.base import Reading, Series
from forensics.readers.numbers.labels import label_meaning, words
from forensics.readers.words import words as word_list

QUANTITY = "metric"
MAX_LOST_NAMES = 3  # bounds time; what is lost with them says no more
MAX_LOST_READINGS = 2000  # of each, the last ones; as many as of other series
PATTERNS = patterns_of("lost values")
NUMBER_OR_NAN = rb"['\"]?\s{0,2}[=:]\s{0,2}([-+]?(?:nan|inf|\d{1,20}(?:\.\d{1,20})?(?:e[-+]?\d{1,3})?))(?![\w.])"


def series(scan: Scan) -> list[Series]:
    """A series of each such name that has no meaning of its own and is of no held-out set, with all its values."""
    names = dict.fromkeys(n for line in scan.tail if "nan" in line.text.lower() for n in PATTERNS.nan.findall(line.text))
    unknown = [n for n in names if label_meaning(f"{n}=", "", False) is None and not word_list("held_out_words") & {*words(n)}]
    made = (Series(name, QUANTITY, "", "", _readings(scan, name)) for name in unknown[:MAX_LOST_NAMES])
    return [one for one in made if one.readings]


def _readings(scan: Scan, name: str) -> list[Reading]:
    said = name.encode()
    pattern = re.compile(rb"(?i)(?<![\w/.-])" + re.escape(said) + NUMBER_OR_NAN)
    rows = ((block.first + i, row) for block in sampled_blocks(scan) for i, row in enumerate(block.rows) if said in row)
    found = ((n, row, m) for n, row in rows if (m := pattern.search(row)))
    return [Reading(n, decode_line(row), float(m[1])) for n, row, m in found][-MAX_LOST_READINGS:]
