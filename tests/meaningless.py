"""Changes of a case's logs that mean nothing: other names and numbers, other line ends, a wrapper's prefix on each line.

    python -m tests.meaningless sample_logs CORPUS... [--change NAME]      # the answers that such a change moves, a line each

A change takes the logs of a case by name and gives them changed; it gives None where it would change nothing, or would mean
something: a program's own prefix is no wrapper's in the log of a kernel. The answer is the verdict, the cause and the marked line.
"""

import argparse
import collections
import pickle
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from forensics import pipeline
from forensics.database import Database
from forensics.line_formats import parse_prefix, recognise
from forensics.model import Line, Report
from forensics.readers.lanes.line_classes import PROGRESS, SAVED, line_classes
from forensics.sources.rank_dumps.base import DumpError
from forensics.sources.rank_dumps.pickled import read_plain_pickle

Logs = dict[str, bytes]
Change = Callable[[Logs], Logs | None]
Answer = tuple[str, str, str]
NOT_LOGS = ("expected.yaml",)
TEXT_SUFFIXES = ("", ".log", ".txt", ".out", ".err", ".output")
HOST_LAYOUTS = ("dmesg", "syslog", "journal", "kmsg", "pstore", "vmcore", "kernel", "talos", "serial")
MAX_BYTES = 400_000  # of a case's logs: longer ones take long and are of the same kinds
FIRST_OWN_PID = 1000  # smaller numbers are counts, sizes and lines as well


def logs_of(case: Path) -> Logs:
    """The logs of a case, by their name below its folder."""
    files = (p for p in sorted(case.rglob("*")) if p.is_file() and p.name not in NOT_LOGS)
    return {str(p.relative_to(case)): p.read_bytes() for p in files}


def answer(logs: Logs, knowledge: Database) -> Answer:
    """The verdict, the cause, and the name and number of the marked line."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in logs.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return _answer(pipeline.analyze_paths([Path(folder)], "case", knowledge, workers=1, within=Path(folder)))


def _answer(report: Report) -> Answer:
    first = report.causes[0]
    line = next(iter(first.evidence), None)
    return report.verdict, first.id, f"{line.source.rpartition('/')[2]}:{line.line}" if line else ""


def is_text(name: str, data: bytes) -> bool:
    """Is it a log of lines, and no notebook, document, table or program?"""
    start = data[:4096]
    return (
        Path(name).suffix.lower() in TEXT_SUFFIXES
        and b"\0" not in start
        and start.lstrip()[:1] not in (b"{", b"<")
        and not start.startswith((b"\x1f\x8b", b"PK"))
    )


def is_host_log(data: bytes) -> bool:
    """Do its lines have a kernel's or a host's prefixes?"""
    lines = [Line(n, text) for n, text in enumerate(data[:20_000].decode("utf-8", "replace").split("\n"))]
    return recognise(lines)[0].startswith(HOST_LAYOUTS)


def _of_texts(change: Callable[[str, bytes], bytes]) -> Change:
    def changed(logs: Logs) -> Logs | None:
        made = {name: change(name, data) if is_text(name, data) else data for name, data in logs.items()}
        return made if made != logs else None

    return changed


# --- names and numbers ----------------------------------------------------------------------------------------------------------


def _renamed(names: Callable[[str], Iterable[str]], new: Callable[[str], str], around: str = r"\w.-") -> Change:
    """Each of `names` of all logs is another one, in all logs."""

    def changed(logs: Logs) -> Logs | None:
        texts = {name: data.decode("utf-8", "surrogateescape") for name, data in logs.items()}
        found = sorted({n for name, text in texts.items() if is_text(name, logs[name]) for n in names(text)}, key=len)
        if not found:
            return None
        known = "\n".join(texts.values())
        others = {n: new(n) for n in found if new(n) != n and new(n) not in known}
        if not others:
            return None
        pattern = re.compile(rf"(?<![{around}])(?:{'|'.join(map(re.escape, reversed(list(others))))})(?![{around}])")

        def renamed(text: str) -> str:
            return pattern.sub(lambda m: others[m[0]], text)

        made = {
            name: _dump_with(renamed, logs[name]) or renamed(text).encode("utf-8", "surrogateescape")
            for name, text in texts.items()
        }
        return made if made != logs else None

    return changed


def _dump_with(change: Callable[[str], str], data: bytes) -> bytes | None:
    """A pickled dump with each of its texts changed: it holds their lengths. None for what is no such dump."""
    try:
        values = read_plain_pickle(data)
    except DumpError:
        return None

    def changed(value: object) -> object:
        if isinstance(value, str):
            return change(value)
        if isinstance(value, dict):
            return {changed(k): changed(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(changed(v) for v in value)
        return value

    return pickle.dumps(changed(values), data[1])


SOCKET_HOST = re.compile(r"^([a-zA-Z][\w-]{2,40}):\d+:\d+ \[\d+\]|\bhost(?:name)?[:=] ?\"?([a-zA-Z][\w-]{2,40})\b", re.MULTILINE)
NO_NAMES = {"localhost", "kernel", "linux", "root", "none", "null", "unknown"}


def _hosts(text: str) -> Iterator[str]:
    for line in text.split("\n")[:2000]:
        host = parse_prefix(line).host
        if host and re.fullmatch(r"[A-Za-z][\w.-]{2,60}", host) and host.lower() not in NO_NAMES:
            yield host
    yield from (a or b for a, b in SOCKET_HOST.findall(text) if (a or b).lower() not in NO_NAMES)


def _users(text: str) -> Iterator[str]:
    yield from (n for n in re.findall(r"/home/([a-z][a-z0-9_-]{1,30})/", text) if n not in NO_NAMES)


def _folders(text: str) -> Iterator[str]:
    """Folders of programs that are no library's."""
    for path in re.findall(r'File "(/[\w./-]+)/[\w.-]+\.py"', text):
        if not re.search(r"site-packages|dist-packages|/lib/|/lib64/|/usr/|/opt/|conda|/bin$|^/content|^/mnt", path + "/"):
            yield path


PIDS = re.compile(
    r"(?i)\bpid[\"']?[ :=]{1,3}(\d{4,7})\b|\bprocess (\d{4,7})\b|^\w[\w.-]+:(\d{4,7}):\d+ \[|[a-z]\[(\d{4,7})\]:|,pid=(\d{4,7}),",
    re.MULTILINE,
)


def _pids(text: str) -> Iterator[str]:
    yield from (n for found in PIDS.findall(text) for n in found if n and int(n) >= FIRST_OWN_PID)


def _other_pid(pid: str) -> str:
    other = str(int(pid) + 11)
    return other if len(other) == len(pid) else str(int(pid) - 11)


def _other_name(name: str) -> str:
    """Letters one on, digits stay: the name has the same shape."""
    return "".join(chr(97 + (ord(c) - 96) % 26) if "a" <= c <= "z" else c for c in name)


YEAR = re.compile(rb"\b(20[0-3]\d)(?=[-/][01]\d[-/][0-3]\d)|(?<=\d\d:\d\d:\d\d )(20[0-3]\d)\b")
EPOCH = re.compile(rb"\b1[5-9]\d{8}(?:\d{3}|\d{6})?\b")


def _year(by: int) -> Change:
    def changed(logs: Logs) -> Logs | None:
        if any(EPOCH.search(data) for data in logs.values()):
            return None  # it would be another time than the dates
        made = {n: YEAR.sub(lambda m: str(int(m[1] or m[2]) + by).encode(), data) for n, data in logs.items()}
        return made if made != logs else None

    return changed


# --- line ends and blanks -------------------------------------------------------------------------------------------------------


def _crlf(_name: str, data: bytes) -> bytes:
    return data if b"\r" in data else data.replace(b"\n", b"\r\n")


def _empty_lines(_name: str, data: bytes) -> bytes:
    return data.rstrip(b"\n") + b"\n" * 6


PROSE = re.compile(rb"^(?![>#|])(?:[^\s=|]{1,40} ){4,}[^\s=|]{1,40}$")
WORD = re.compile(rb"[a-z]{3,}")


def _colours(_name: str, data: bytes) -> bytes:
    return b"\n".join(b"\x1b[31m" + line + b"\x1b[0m" if line else line for line in data.split(b"\n"))


def _blanks(_name: str, data: bytes) -> bytes:
    """A second blank between two words in the middle of each line of a logger that tells neither of trouble nor of an end.

    A message of trouble is known as its program writes it, with its blanks.
    """
    if is_host_log(data):
        return data
    lines, classes = data.split(b"\n"), line_classes(pipeline.database())
    for i, line in enumerate(lines):
        words = line.split(b" ")
        pairs = [n for n in range(1, len(words)) if WORD.fullmatch(words[n - 1]) and WORD.fullmatch(words[n])]
        text = line.decode("utf-8", "replace")
        if pairs and PROSE.match(line) and parse_prefix(text).stamp and not classes.classify(text) & ~(PROGRESS | SAVED):
            middle = min(pairs, key=lambda n: abs(2 * n - len(words)))
            lines[i] = b" ".join([*words[:middle], b"", *words[middle:]])
    return b"\n".join(lines)


# --- wrappers -------------------------------------------------------------------------------------------------------------------


def _prefixed(front: Callable[[str, list[str], list[datetime]], Iterable[str]], hosts: bool = True) -> Change:
    """`front` gives the prefix of each line. `hosts`: also the logs of kernels and hosts are wrapped."""

    def changed(logs: Logs) -> Logs | None:
        told = (t for name, data in logs.items() for t in (_written(data) if is_text(name, data) else _executed(data)))
        end = max(told, default=NO_TIME)  # one clock stamps all that a run writes
        made = {}
        for name, data in logs.items():
            if not is_text(name, data) or not data.strip() or (not hosts and is_host_log(data)):
                made[name] = data
                continue
            lines = data.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
            fronts = front(name, lines, _times(lines, end))
            text = "\n".join(a + b for a, b in zip(fronts, lines, strict=True)) + "\n"
            made[name] = text.encode("utf-8", "surrogateescape")
        return made if made != logs else None

    return changed


RUN_AT = re.compile(rb'"(?:end_time|iopub\.status\.idle|shell\.execute_reply)": ?"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)')
NO_TIME = datetime(2026, 5, 4, 10, 30, tzinfo=UTC)


def _written(data: bytes) -> Iterator[datetime]:
    for line in data.decode("utf-8", "replace").split("\n"):
        stamp = parse_prefix(line).stamp
        if stamp and stamp.wall and not stamp.lacks:
            yield stamp.wall if stamp.wall.tzinfo else stamp.wall.replace(tzinfo=UTC)


def _executed(data: bytes) -> Iterator[datetime]:
    """When the cells of a notebook were run."""
    yield from (datetime.fromisoformat(time.decode()).replace(tzinfo=UTC) for time in RUN_AT.findall(data))


def _times(lines: list[str], end: datetime) -> list[datetime]:
    """When each line was written: as it says itself, else at the time of the line before it; never backwards."""
    own = [next(_written(line.encode("utf-8", "replace")), None) for line in lines]
    if not any(own):
        return [end - timedelta(milliseconds=(len(lines) - i)) for i in range(len(lines))]
    last = next(t for t in own if t)
    found = []
    for time in own:
        last = max(last, time or last)
        found.append(last)
    return found


def _always(prefix: str) -> Callable[[str, list[str], list[datetime]], Iterable[str]]:
    return lambda _name, lines, _times: [prefix] * len(lines)


def _stamped(form: Callable[[datetime], str]) -> Callable[[str, list[str], list[datetime]], Iterable[str]]:
    return lambda _name, _lines, times: map(form, times)


def _docker(t: datetime) -> str:
    return f"{t:%Y-%m-%dT%H:%M:%S.%f}000Z "


def _cri(t: datetime) -> str:
    return f"{t:%Y-%m-%dT%H:%M:%S.%f}000Z stderr F "


def _journal(t: datetime) -> str:
    return f"{t:%b %d %H:%M:%S} gpu-7 train.sh[4711]: "


def _github(t: datetime) -> str:
    return f"{t:%Y-%m-%dT%H:%M:%S.%f}0Z "


def _gitlab(t: datetime) -> str:
    return f"{t:%Y-%m-%dT%H:%M:%S.%f}Z 01O "


def _jenkins(t: datetime) -> str:
    return f"[{t:%Y-%m-%dT%H:%M:%S}.{t.microsecond // 1000:03d}Z] "


def _grafana(t: datetime) -> str:
    return f"{t:%Y-%m-%dT%H:%M:%S}.{t.microsecond // 1000:03d}Z\t"


def _ts(t: datetime) -> str:
    return f"{t:%b %d %H:%M:%S} "


def _time_in_brackets(t: datetime) -> str:
    return f"[{t:%Y-%m-%d %H:%M:%S}] "


def _date_and_time(t: datetime) -> str:
    return f"{t:%Y-%m-%d %H:%M:%S} "


def _epoch(t: datetime) -> str:
    return f"{t.timestamp():.6f} "


def _cloudwatch(t: datetime) -> str:
    return f"{t:%Y-%m-%dT%H:%M:%S.%f}+00:00 train/default/0a1b2c3d4e5f60718293a4b5c6d7e8f9 "


WRAPPERS: dict[str, Change] = {
    "compose": _prefixed(_always("trainer-1  | ")),
    "kubectl": _prefixed(_always("[pod/train-0/main] ")),
    "brackets": _prefixed(_always("[0]:")),
    "srun": _prefixed(_always("0: ")),
    "srun, many": _prefixed(_always(" 3: ")),
    "dmesg -r": _prefixed(_always("<6>")),
    "dmesg -r, error": _prefixed(_always("<3>")),
    "dmesg -x": _prefixed(_always("kern  :err   : ")),
    "docker": _prefixed(_stamped(_docker), hosts=False),
    "cri": _prefixed(_stamped(_cri), hosts=False),
    "journalctl": _prefixed(_stamped(_journal), hosts=False),
    "stern": _prefixed(_always("trainer-0 main "), hosts=False),
    "github": _prefixed(_stamped(_github), hosts=False),
    "gitlab": _prefixed(_stamped(_gitlab), hosts=False),
    "jenkins": _prefixed(_stamped(_jenkins), hosts=False),
    "grafana": _prefixed(_stamped(_grafana), hosts=False),
    "cloudwatch": _prefixed(_stamped(_cloudwatch), hosts=False),
    "ts": _prefixed(_stamped(_ts), hosts=False),
    "time in brackets": _prefixed(_stamped(_time_in_brackets), hosts=False),
    "date and time": _prefixed(_stamped(_date_and_time), hosts=False),
    "epoch": _prefixed(_stamped(_epoch), hosts=False),
}
CHANGES: dict[str, Change] = {
    "host": _renamed(_hosts, _other_name),
    "user": _renamed(_users, lambda _: "grace", r"\w"),
    "folder": _renamed(_folders, lambda path: "/srv/exp7" + path.rpartition("/")[0].replace("/", "-"), r"\w"),
    "pid": _renamed(_pids, _other_pid, r"\w."),
    "year before": _year(-1),
    "year behind": _year(1),
    "crlf": _of_texts(_crlf),
    "empty lines": _of_texts(_empty_lines),
    "blanks": _of_texts(_blanks),
    "colours": _of_texts(_colours),
    **WRAPPERS,
}


def flips(case: Path, names: Iterable[str], knowledge: Database) -> Iterator[tuple[str, Answer, Answer]]:
    """(change, the answer before, the answer behind) for each of the changes `names` that moves the answer of a case."""
    logs = logs_of(case)
    before: Answer | None = None
    for name in names:
        changed = CHANGES[name](logs)
        if changed is not None:
            before = before or answer(logs, knowledge)
            behind = answer(changed, knowledge)
            yield name, before, behind


def main() -> None:
    """Print the answers that a change moves, and how many of how many by change."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--change", action="append", choices=CHANGES)
    parser.add_argument("--case", default="")
    asked = parser.parse_args()
    knowledge = pipeline.database()
    tried, moved, marked = (collections.Counter[str]() for _ in range(3))
    for folder in asked.folders:
        for case in sorted(p for p in folder.iterdir() if p.is_dir() and asked.case in p.name):
            if sum(len(data) for data in logs_of(case).values()) > MAX_BYTES:
                continue
            for name, before, behind in flips(case, asked.change or CHANGES, knowledge):
                tried[name] += 1
                if before != behind:
                    (moved if before[:2] != behind[:2] else marked)[name] += 1
                    print(f"{folder.name}/{case.name}\t{name}\t{' '.join(before)}\t{' '.join(behind)}", flush=True)
    for name in tried:
        print(f"{name}: {tried[name]} tried, {moved[name]} verdicts or causes moved, {marked[name]} marked lines")
    print(f"{sum(tried.values())} tried, {sum(moved.values())} verdicts or causes moved, {sum(marked.values())} marked lines")


if __name__ == "__main__":
    main()
