"""Sources: open files, folders, archives, journals, notebooks and standard input.

    ./logs -> Source("logs/dmesg.txt"), Source("logs/old.tar.gz!kern.log", compression="gzip+tar"),
              Source("logs/container.log", format="docker json-file", origin=...), ...

Formats are recognised by content, not by name. The name of a Source is the path that the user would type, then `!` and the path
inside an archive. What cannot be read becomes a Warning, and the rest is still read; SourceError if nothing can be read.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from forensics.core.errors import SourceError, UsageError
from forensics.model import Source, Warn, Warning
from forensics.sources.blob import error_text, file_blob, warning_kind
from forensics.sources.budget import Pool
from forensics.sources.files import folder_place
from forensics.sources.later import MIN_LATER_FILES, LaterFile, may_wait
from forensics.sources.opened import open_blob
from forensics.sources.sets import base_of_set, order_rotated
from forensics.sources.stdin import open_stdin
from forensics.sources.walk import walk_files

# An empty log of a job that died is an answer, too: it ended before it wrote, or its output went elsewhere. The order is that
# of 25 labelled cases whose job log did not show the cause: the kernel's log did in 21, readings of a watcher in 2, the
# scheduler's record and the pod's in one each. Most of those cases had a kernel log, so the first place is the firm one.
EMPTY_SOURCE_MESSAGE = (
    "a job that left an empty log ended before it wrote a line, or wrote elsewhere: look at the kernel's log (dmesg -T), which"
    " most often says why, at memory and GPU of that minute (free -h, nvidia-smi), and at its exit status in the scheduler or pod"
    " (sacct -j JOB, kubectl describe pod POD)"
)


def open_paths(paths: Iterable[Path], warn: Warn, within: Path | None = None, later: bool = False) -> list[Source]:
    """Every Source in the regular readable files among `paths` and below the folders among them, in order of name, rotated
    sets from the oldest on.

    `within`: a folder that all of them must be in, whatever links say. `later`: short files among very many need not be opened.
    Raises UsageError for a path that does not exist and SourceError when nothing can be read.
    """
    paths = list(paths)
    for path in paths:
        if "\0" in str(path) or not path.exists():
            raise UsageError("no such file or folder", str(path))
    noted: list[Warning] = []

    def note(warning: Warning) -> None:
        noted.append(warning)
        warn(warning)

    found = order_rotated(_found(paths, note, within, noted if later else None))
    if not found and not _reasons(noted) and all(_is_empty(p) for p in paths):
        raise SourceError("it is empty", ", ".join(map(str, paths)), EMPTY_SOURCE_MESSAGE)
    if not found:
        raise nothing_readable(paths, noted)
    return found


def nothing_readable(paths: Iterable[Path], noted: list[Warning]) -> SourceError:
    """The error if none of `paths` holds anything that can be read. `noted`: the warnings of opening them."""
    reasons = _reasons(noted)
    advice = reasons[0] if len(reasons) == 1 else "give a text log, a folder of logs or an archive"
    return SourceError("nothing readable", ", ".join(map(str, paths)), advice)


def _reasons(noted: list[Warning]) -> list[str]:
    """Why something could not be read."""
    return list(dict.fromkeys(w.message for w in noted if w.kind in ("limit", "skipped", "unreadable", "binary", "truncated")))


def _is_empty(path: Path) -> bool:
    """Is it an empty file, or a folder with empty files only, one at least?"""
    try:
        files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
        return bool(files) and all(p.stat().st_size == 0 for p in files)
    except OSError:
        return False


def _found(paths: list[Path], warn: Warn, within: Path | None, noted: list[Warning] | None) -> Iterator[Source]:
    """The Sources in order. `noted`: the warnings so far, where short files may be opened later."""
    seen: set[tuple[int, int]] = set()
    names: dict[str, int] = {}
    pool, given = Pool(), tuple(paths)
    around = folder_place(within) if within else None
    for top in paths:
        files = [*walk_files(top, warn, around)]
        waits = noted is not None and len(files) >= MIN_LATER_FILES
        sets = Counter(base_of_set(path) for path, _, _ in files) if waits else Counter()
        for path, inside, status in files:
            key = (status.st_dev, status.st_ino)
            if key in seen:  # given twice, or reached by two links
                continue
            seen.add(key)
            if noted is not None and waits and may_wait(path, status, sets):
                yield LaterFile(path, inside, pool, len(noted), given).source(status)
                continue
            try:
                blob = file_blob(Path(path), inside, pool)
            except OSError as error:
                warn(Warning(warning_kind(error, "unreadable"), error_text(error), path))
                continue
            for source in open_blob(blob, warn):
                names[source.name] = names.get(source.name, 0) + 1
                again = names[source.name]  # an archive may hold the same path twice
                yield source if again == 1 else replace(source, name=f"{source.name} ({again})")
