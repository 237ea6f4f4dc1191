"""Numbers of any name that the last lines of a log show as NaN: what a program measures under a name of its own.

[INFO] ep=14 L=0.8312 mfm=0.7718 ... [INFO] ep=51 L=nan mfm=nan  -> the series `L` and `mfm`
round 0 gain: nan, risk: nan, calmar: nan ... round 149 gain: nan, risk: nan, calmar: nan -> the series `gain, risk, calmar`
"""

import math
import re

from forensics.core.text import decode_line
from forensics.data_files.named_parts import patterns_of
from forensics.model import Scan
from forensics.readers.base import sampled_blocks
from forensics.readers.numbers.base import Reading, Series
from forensics.readers.numbers.labels import label_meaning, words
from forensics.readers.words import words as word_list

QUANTITY = "metric"
NEVER_KNOWN = "never a number"
MIN_NEVER_NAMES = 3  # of one record: one or two are the mean of an empty set, or a class that no sample has
MIN_NEVER_RECORDS = 3  # the first records of a run may stand before anything is measured
MAX_NEVER_NAMES = 8  # bounds time
MAX_LOST_NAMES = 3  # bounds time; what is lost with them says no more
MAX_LOST_READINGS = 2000  # of each, the last ones; as many as of other series
PATTERNS = patterns_of("lost values")
NUMBER_OR_NAN = rb"['\"]?\s{0,2}[=:]\s{0,2}([-+]?(?:nan|inf|\d{1,20}(?:\.\d{1,20})?(?:e[-+]?\d{1,3})?))(?![\w.])"


def series(scan: Scan) -> list[Series]:
    """A series of each such name that has no meaning of its own and is of no held-out set, with all its values."""
    if "nan" not in "\n".join([line.text for line in scan.tail]).lower():  # of most logs
        return []
    names = dict.fromkeys(n for line in scan.tail if "nan" in line.text.lower() for n in PATTERNS.nan.findall(line.text))
    unknown = [n for n in names if label_meaning(f"{n}=", "", False) is None and not word_list("held_out_words") & {*words(n)}]
    made = (Series(name, QUANTITY, "", "", _readings(scan, name)) for name in unknown[:MAX_LOST_NAMES])
    return [*(one for one in made if one.readings), *(_never_known(scan) if len(names) >= MIN_NEVER_NAMES else ())]


def _never_known(scan: Scan) -> list[Series]:
    """The series of what is NaN in each record of a run, from the first one on, if it is most of what the record tells."""
    for line in reversed(scan.tail):
        said = [n for n in PATTERNS.nan.findall(line.text) if not word_list("held_out_words") & {*words(n)}]
        told = line.text.encode("utf-8", "replace") if len(said) >= MIN_NEVER_NAMES else b""
        if told and 2 * len(said) >= len(re.findall(NUMBER_OR_NAN, told, re.IGNORECASE)):
            known = {name: _readings(scan, name) for name in said[:MAX_NEVER_NAMES]}
            lost = {n: r for n, r in known.items() if len(r) >= MIN_NEVER_RECORDS and all(math.isnan(x.value) for x in r)}
            readings = next(iter(lost.values()), [])
            return [Series(", ".join(lost), NEVER_KNOWN, "", "", readings)] if len(lost) >= MIN_NEVER_NAMES else []
    return []


def _readings(scan: Scan, name: str) -> list[Reading]:
    said = name.encode()
    pattern = re.compile(rb"(?i)(?<![\w/.-])" + re.escape(said) + NUMBER_OR_NAN)
    rows = ((block.first + i, row) for block in sampled_blocks(scan) for i, row in enumerate(block.rows) if said in row)
    found = ((n, row, m) for n, row in rows if (m := pattern.search(row)))
    return [Reading(n, decode_line(row), float(m[1])) for n, row, m in found][-MAX_LOST_READINGS:]
