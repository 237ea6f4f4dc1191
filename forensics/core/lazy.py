"""Regular expressions that are compiled when they are first used.

The package has hundreds, and one analysis needs a few tens of them: compiling all at import is a quarter of a short run.
"""

import re
from typing import Any, AnyStr, cast

PATTERN_ATTRIBUTES = (
    "search",
    "match",
    "fullmatch",
    "finditer",
    "findall",
    "sub",
    "subn",
    "split",
    "pattern",
    "flags",
    "groups",
    "groupindex",
)


class _Regex:
    """Stands for a compiled pattern; after the first use its methods are attributes, and cost no more than they would."""

    __slots__ = ("_given", *PATTERN_ATTRIBUTES)

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name not in PATTERN_ATTRIBUTES:
            raise AttributeError(name)
        compiled: Any = re.compile(*self._given)
        for used in PATTERN_ATTRIBUTES:
            setattr(self, used, getattr(compiled, used))
        return getattr(compiled, name)


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """`re.compile(pattern, flags)`, later; a pattern that is wrong raises re.error where it is first used."""
    return cast("re.Pattern[AnyStr]", _Regex(pattern, flags))
