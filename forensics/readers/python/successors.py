"""Look up what took the place of a name that a library or Python itself no longer has, in tables/successors.csv.

AttributeError: module 'numpy' has no attribute 'float'.                      -> old_name numpy.float, successor float
ImportError: cannot import name 'Mapping' from 'collections' (/opt/x.py)      -> old_name collections.Mapping, ...
AttributeError: 'DataFrame' object has no attribute 'append'                  -> old_name DataFrame.append, ...
TypeError: read_csv() got an unexpected keyword argument 'error_bad_lines'    -> old_name error_bad_lines, ...
"""

import functools

from forensics.core import lazy
from forensics.data_files.named_parts import patterns_of
from forensics.database import read_table
from forensics.model import Value

HIDDEN_MODULE_PATTERN = lazy.regex(r"\._api\.v2|\.api\._v\d|\A_+")  # TensorFlow and Keras print the modules behind their names
MISSING_NAME_PATTERNS = (
    lazy.regex(r"module '(?P<owner>[\w.]{1,80})' has no attribute '(?P<old>\w{1,60})'"),
    lazy.regex(r"'(?P<owner>\w{1,60})'(?: object)? has no attribute '(?P<old>\w{1,60})'"),
    lazy.regex(r"cannot import name '(?P<old>\w{1,60})' from '(?P<owner>[\w.]{1,80})'"),
    lazy.regex(r"No module named '(?:(?P<owner>[\w.]{1,80})\.)?(?P<old>\w{1,60})'"),
)
PATTERNS = patterns_of("successors")


@functools.cache
def _table() -> dict[str, dict[str, str]]:
    return read_table("successors")


def successor_facts(text: str) -> dict[str, Value]:
    """The first name in messages of `text` that has a successor, with that one, and the release that took it out if known."""
    for pattern in MISSING_NAME_PATTERNS:
        for found in pattern.finditer(text):
            owner = HIDDEN_MODULE_PATTERN.sub("", found["owner"] or "")
            if row := _table().get(f"{owner}.{found['old']}".lstrip(".")):
                return _facts(row["name"], row)
    for found in PATTERNS.refused_argument.finditer(text):
        if row := _table().get(f"{found['callee']}({found['old']})") or _table().get(f"({found['old']})"):
            return _facts(f"the argument {found['old']}", row)
    return {}


def _facts(name: str, row: dict[str, str]) -> dict[str, Value]:
    return {"old_name": name, "successor": row["successor"], **({"gone_in": row["gone"]} if row["gone"] else {})}
