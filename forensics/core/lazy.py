"""Regular expressions that are compiled at their first use.

The package has hundreds, and one analysis needs a few tens of them. Compiling all of them at import would take a quarter of the
time of a short run.
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
    """A proxy for a compiled pattern. After the first use the pattern's methods are its own attributes, at no extra cost."""

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
    """`re.compile(pattern, flags)`, delayed until the first use, which raises re.error for an invalid pattern."""
    return cast("re.Pattern[AnyStr]", _Regex(pattern, flags))
