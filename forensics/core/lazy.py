"""Regular expressions that are compiled at their first use.

The package has hundreds, and one analysis needs a few of them. Compiling all of them at import would take a quarter of the time
of a short run. What a pattern was compiled to may be known from an earlier run: `known` is filled by who keeps it on disk.
"""

import functools
import importlib
import os
import re
import sys
from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, AnyStr, Protocol, cast

if TYPE_CHECKING:
    from regex import Pattern as RegexPattern

PATTERN_ATTRIBUTES = (
    *("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split", "pattern", "flags"),
    *("groups", "groupindex"),
)

Pattern = tuple[str | bytes, int | str]  # a pattern and its flags; or the state of the library `regex`, if it is one of its
Program = tuple[Any, ...]  # what the engine makes a compiled pattern of; its code as bytes


class Known(Protocol):
    """Programs of earlier runs."""

    def get(self, pattern: Pattern, /) -> Program | None:
        """The program of `pattern`, if an earlier run made it."""


known: Known = {}  # what was read from disk
unknown: list[Pattern] = []  # that were compiled in this run


def compiled(pattern: str | bytes, flags: int) -> Any:
    """re.compile(pattern, flags), from the known program if there is one."""
    return _compiled((pattern, int(flags)), _of_sre, lambda: re.compile(pattern, flags))


def compiled_with_timeout(pattern: str) -> "RegexPattern[str]":
    """regex.compile(pattern), whose searches take a timeout, from the known program if there is one."""
    engine, state = _regex_engine()

    def compile_it() -> Any:
        import regex

        return regex.compile(pattern)

    found: RegexPattern[str] = _compiled((pattern, state), engine.compile, compile_it)
    return found


def _of_sre(pattern: str | bytes, flags: int, code: bytes, *groups: Any) -> Any:
    return importlib.import_module("_sre").compile(pattern, flags, array("I", code).tolist(), *groups)  # it takes no bytes


@functools.cache
def _regex_engine() -> tuple[Any, str]:
    """The part of the library `regex` that is written in C and runs programs, and what tells one state of it from another.

    The whole library takes 20 ms to load, and all else in it only makes programs.
    """
    from importlib.machinery import PathFinder

    name = "regex._regex"
    try:
        package = PathFinder.find_spec("regex")
        found: Any = PathFinder.find_spec(name, package.submodule_search_locations)  # type: ignore[union-attr]
        stat = os.stat(found.origin)  # noqa: PTH116 - before any path is made
        if name not in sys.modules:
            made = found.loader.create_module(found)
            found.loader.exec_module(made)
            sys.modules[name] = made  # the library takes it from there if it is loaded later
        return sys.modules[name], f"{stat.st_size} {stat.st_mtime_ns}"
    except (ImportError, AttributeError, OSError, TypeError):  # in a program that was packed
        import regex

        return importlib.import_module(name), regex.__version__


def _compiled(key: Pattern, engine: Callable[..., Any], compile_it: Callable[[], Any]) -> Any:
    """The pattern that `engine` makes of the known program; the one that `compile_it` makes if there is none."""
    global known
    try:
        if program := known.get(key):
            return engine(key[0], *program)
    except Exception:
        known = {}  # of another interpreter, or damaged: all are compiled again
    made = compile_it()
    unknown.append(key)
    return made


def program_of(pattern: str | bytes, flags: int | str) -> Program:
    """The program of a pattern, as its library makes it. Raises ImportError or AttributeError where the library has no such
    parts."""
    if isinstance(flags, str):
        import regex

        made: Any = regex.compile(pattern)
        return tuple(made._pickled_data[1:])
    parser, compiler = importlib.import_module("re._parser"), importlib.import_module("re._compiler")
    parsed = parser.parse(pattern, flags)
    names: list[str | None] = [None] * parsed.state.groups
    for name, number in parsed.state.groupdict.items():
        names[number] = name
    code = array("I", [*map(int, compiler._code(parsed, flags))]).tobytes()  # numbers would be read one by one at each start
    return flags | int(parsed.state.flags), code, parsed.state.groups - 1, dict(parsed.state.groupdict), tuple(names)


class _Regex:
    """A proxy for a compiled pattern. After its first use a method of the pattern is its own attribute, at no extra cost."""

    __slots__ = ("_given", "_made", *PATTERN_ATTRIBUTES)

    def __init__(self, given: tuple[str | bytes, int]) -> None:
        self._given = given
        self._made: re.Pattern[Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name not in PATTERN_ATTRIBUTES:
            raise AttributeError(name)
        if self._made is None:
            self._made = compiled(*self._given)
        used = getattr(self._made, name)
        setattr(self, name, used)
        return used


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """`re.compile(pattern, flags)`, delayed until the first use, which raises re.error for an invalid pattern."""
    return cast("re.Pattern[AnyStr]", _Regex((pattern, flags)))
