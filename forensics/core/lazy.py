"""Regular expressions that are compiled at their first use.

The package has hundreds, and one analysis needs a few of them. Compiling all of them at import would take a quarter of the time
of a short run. What a pattern was compiled to may be known from an earlier run: `known` is filled by who keeps it on disk.
"""

import importlib
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

Pattern = tuple[str | bytes, int]  # a pattern and its flags
Program = tuple[int, list[int], int, dict[str, int], tuple[str | None, ...]]  # what the engine makes a compiled pattern of

known: dict[Pattern, Program] = {}  # of earlier runs
unknown: list[Pattern] = []  # that were compiled in this run


def compiled(pattern: str | bytes, flags: int) -> Any:
    """re.compile(pattern, flags), from the known program if there is one."""
    flags = int(flags)
    program = known.get((pattern, flags))
    if program:
        try:
            return importlib.import_module("_sre").compile(pattern, *program)
        except Exception:
            known.clear()  # of another interpreter, or damaged: all are compiled again
    made = re.compile(pattern, flags)
    unknown.append((pattern, flags))
    return made


def program_of(pattern: str | bytes, flags: int) -> Program:
    """The program of a pattern, as re.compile() makes it. Raises ImportError or AttributeError where the interpreter has no such
    parts."""
    parser, compiler = importlib.import_module("re._parser"), importlib.import_module("re._compiler")
    parsed = parser.parse(pattern, flags)
    names: list[str | None] = [None] * parsed.state.groups
    for name, number in parsed.state.groupdict.items():
        names[number] = name
    code = [*map(int, compiler._code(parsed, flags))]
    return flags | int(parsed.state.flags), code, parsed.state.groups - 1, dict(parsed.state.groupdict), tuple(names)


class _Regex:
    """A proxy for a compiled pattern. After the first use the pattern's methods are its own attributes, at no extra cost."""

    __slots__ = ("_given", *PATTERN_ATTRIBUTES)

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name not in PATTERN_ATTRIBUTES:
            raise AttributeError(name)
        made = compiled(*self._given)
        for used in PATTERN_ATTRIBUTES:
            setattr(self, used, getattr(made, used))
        return getattr(made, name)


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """`re.compile(pattern, flags)`, delayed until the first use, which raises re.error for an invalid pattern."""
    return cast("re.Pattern[AnyStr]", _Regex(pattern, flags))
