"""Find the cases in the given sources: each has a name and the paths of its logs.

./incidents                        each sub-folder is a case, as for `forensics batch`
./logs/*.out   --group file        each file is a case
s3://bucket/logs --group 'job-(\\d+)'    all files whose paths have the same text in the group are a case
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from forensics.core.errors import SourceError, UsageError

LAYOUTS = ("folder", "file")
INSTALL_FLEET = "pip install distributed fsspec pyarrow sqlalchemy"


class Case(Struct, frozen=True):
    """One incident. `paths`: of its logs, relative to `base`, which is a folder or a URL."""

    name: str
    paths: tuple[str, ...]
    base: str


def cases_in(sources: Sequence[str], group: str = "folder") -> list[Case]:
    """All cases in order of name. Raises UsageError for a missing source and SourceError if there is no case at all."""
    pattern = None if group in LAYOUTS else _pattern(group)
    found: list[Case] = []
    for source in sources:
        found += _remote(source, group, pattern) if "://" in source else _local(source, group, pattern)
    found = _distinct(found)
    if not found:
        raise SourceError("no cases", ", ".join(sources), "each sub-folder is a case; with --group file each file is one")
    return sorted(found, key=lambda c: c.name)


def _pattern(group: str) -> "re.Pattern[str]":
    try:
        made = re.compile(group)
    except re.error as error:
        raise UsageError(f"not a regular expression ({error})", "--group", f"give one, or {' or '.join(LAYOUTS)}") from error
    if not made.groups:
        raise UsageError("the expression has no group", "--group", "put the part that names a case in parentheses")
    return made


def _local(source: str, group: str, pattern: "re.Pattern[str] | None") -> list[Case]:
    import glob

    base = str(Path.cwd())
    is_glob = any(c in source for c in "*?[") and not Path(source).exists()
    given = [Path(p) for p in sorted(glob.glob(source, recursive=True))] if is_glob else [Path(source)]  # noqa: PTH207
    if not given or not given[0].exists():
        raise UsageError("no such file or folder", source)
    if pattern:
        files = (p for g in given for p in (sorted(g.rglob("*")) if g.is_dir() else [g]) if p.is_file())
        return _grouped((str(p) for p in files), pattern, base)
    if group == "file":
        return [
            Case(str(p), (str(p),), base) for g in given for p in (sorted(g.rglob("*")) if g.is_dir() else [g]) if p.is_file()
        ]
    if is_glob:
        return [Case(p.name, (str(p),), base) for p in given]
    return [Case(p.name, (str(p),), base) for g in given if g.is_dir() for p in sorted(g.iterdir()) if p.is_dir()]


def _remote(source: str, group: str, pattern: "re.Pattern[str] | None") -> list[Case]:
    fs, root = open_url(source)
    try:
        files = sorted(fs.find(root))
    except Exception as error:  # each file system has its own exceptions
        raise UsageError(f"cannot be listed ({type(error).__name__}: {str(error)[:200]})", source) from error
    if not files:
        raise UsageError("no files", source)
    if pattern:
        return _grouped(files, pattern, source)
    if group == "file":
        return [Case(f[len(root) :].strip("/") or f, (f,), source) for f in files]
    folders: dict[str, list[str]] = {}
    for f in files:
        name, _, rest = f[len(root) :].strip("/").partition("/")
        if rest:
            folders.setdefault(name, []).append(f)
    return [Case(name, tuple(paths), source) for name, paths in folders.items()]


def open_url(url: str) -> tuple[Any, str]:
    """The file system and the path in it. Raises UsageError if fsspec, or its package for that scheme, is not installed."""
    try:
        from fsspec.core import url_to_fs

        fs, root = url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise UsageError(f"cannot be opened ({error})", url, f"{INSTALL_FLEET}, and fsspec's package for that scheme") from error
    return fs, str(root)


def _grouped(files: Iterable[str], pattern: "re.Pattern[str]", base: str) -> list[Case]:
    groups: dict[str, list[str]] = {}
    for f in files:
        if found := pattern.search(f):
            name = found.groupdict().get("case") or next((g for g in found.groups() if g), "")
            groups.setdefault(name, []).append(f)
    return [Case(name, tuple(paths), base) for name, paths in groups.items() if name]


def _distinct(cases: list[Case]) -> list[Case]:
    """The cases, each set of paths once. Cases with the same name are named by their path."""
    unique = list({(c.paths, c.base): c for c in cases}.values())
    names: dict[str, int] = {}
    for c in unique:
        names[c.name] = names.get(c.name, 0) + 1
    return [c if names[c.name] == 1 else Case(c.paths[0].strip("/"), c.paths, c.base) for c in unique]
