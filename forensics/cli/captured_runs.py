"""The captured runs of the state folder as rows, the newest start first; number 1 is the newest of all.

CapturedRun(1, ~/.local/state/forensics/20261122-181534-python-4711, "2026-11-22 18:15", "python train.py", "signal 11 (SIGSEGV)",
            "process.segfault", 812.0, 40960, False, "/home/u/run", "4711")
"""

import json
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from forensics.capture.account import signal_name
from forensics.capture.bundle import RUN_FILE, Bundle, is_closing, is_running, newest_first, read_run, state_folder
from forensics.capture.times import duration_text
from forensics.core.errors import UsageError, files_at
from forensics.core.text import format_size, with_noun
from forensics.history.jobs import captured_run

RUN_COLUMNS = ("number", "when", "command", "ended", "cause", "took", "size")
TABLE_COMMAND_CHARS = 60  # chosen by hand: of a command in a table; json has all of it
UNKNOWN_CAUSE = "unknown"
NOT_ANALYSED = "not analysed"  # it ended badly, and nobody asked why: forensics why N does
MARKED_BUNDLES = (".tar.gz", ".tgz", ".tar")  # a bundle that `collect -o` packed


class CapturedRun(NamedTuple):
    """One run. `start`: seconds since 1970. `cause` is empty while it runs; `seconds` is None while no end is known."""

    number: int
    bundle: Path
    start: float
    command: str
    ended: str
    cause: str
    seconds: float | None
    size: int
    running: bool
    folder: str
    job: str

    def row(self) -> dict[str, Any]:
        """As a row of a table or of JSON: times in the zone of this machine."""
        when = datetime.fromtimestamp(self.start).astimezone()
        took = "" if self.seconds is None else duration_text(self.seconds)
        told = {"when": f"{when:%Y-%m-%d %H:%M}", "took": took, "size": format_size(self.size), "bytes": self.size}
        return self._asdict() | told | {"bundle": str(self.bundle)}


def captured_runs() -> list[CapturedRun]:
    """All captured runs, the newest first."""
    records = [(Path(path), read_run(path)) for path in newest_first()]
    records.sort(key=lambda found: (_moment(found[1].get("start")) or 0.0, str(found[0])), reverse=True)
    return [_run(number, bundle, record) for number, (bundle, record) in enumerate(records, 1)]


def bundles_by_job() -> dict[str, str]:
    """The folder of each captured run by the id that the history has of it."""
    found = ((captured_run(Path(path)), path) for path in newest_first())
    return {known.known.job: path for known, path in found if known}


def chosen(runs: list[CapturedRun], folder: str = "", job: str = "", since: str = "", until: str = "") -> list[CapturedRun]:
    """Those whose folder is `folder` or below it, of the job `job`, that began in the span of time. Raises UsageError."""
    first, last = time_of(since, "--since"), time_of(until, "--until")
    at = Path(folder).resolve() if folder else None
    return [
        run
        for run in runs
        if (at is None or Path(run.folder).is_relative_to(at))
        and (not job or job in (run.job, str(run.bundle.name)) or job in run.command.split())
        and (first is None or run.start >= first)
        and (last is None or run.start <= last)
    ]


def time_of(text: str, option: str) -> float | None:
    """Seconds since 1970 of `2026-11-28`, `2026-11-28 14:00` in this machine's zone, or `2d` before now; None for no text."""
    from forensics.config import seconds

    if not text:
        return None
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except ValueError:
        try:
            return (datetime.now().astimezone() - timedelta(seconds=seconds(text.removeprefix("-")))).timestamp()
        except UsageError as error:
            raise UsageError(
                f"{option} takes a day, a time or a time span, not {text!r}", advice="as 2026-11-28 or 2d"
            ) from error


def named_run(word: str) -> Path:
    """The bundle of `word`: a number of the list, a folder, or its name in the state folder; a packed bundle is a file."""
    path = Path(word)
    if path.exists():
        return path
    if (named := Path(state_folder(), word)).is_dir():
        return named
    if not word.isdigit():
        raise UsageError("no such folder, and no number of a run", word, "forensics runs lists them")
    runs = captured_runs()
    found = next((run.bundle for run in runs if run.number == int(word)), None)
    if found is None:
        held = f"there are {with_noun(len(runs), 'run')}" if runs else f"none was captured in {state_folder()}"
        raise UsageError(f"no run {word}: {held}", advice="forensics runs lists them")
    return found


def is_packed(path: Path) -> bool:
    """Is it a packed bundle?"""
    return path.is_file() and path.name.endswith(MARKED_BUNDLES)


def remove(bundle: Path) -> None:
    """Delete a bundle, of a folder that the user named only what was captured there; raises UsageError if its run goes on, or if
    the folder is none."""
    if is_running(str(bundle)):
        raise UsageError("this run is still going; its folder is not removed", str(bundle))
    if not (bundle / RUN_FILE).is_file():
        raise UsageError("this is no folder of a captured run", str(bundle))
    with files_at(bundle, "cannot be removed"):
        if bundle.resolve().parent == Path(state_folder()).resolve():
            shutil.rmtree(bundle)
        else:
            Bundle(str(bundle)).discard()


def _run(number: int, bundle: Path, record: dict[str, Any]) -> CapturedRun:
    told = record.get("command", {})
    running, start, end = is_running(str(bundle)), _moment(record.get("start")), _moment(record.get("end"))
    job = str(record.get("identity", {}).get("slurm", {}).get("SLURM_JOB_ID", ""))
    known, closing = captured_run(bundle), is_closing(record)
    return CapturedRun(
        number=number,
        bundle=bundle,
        start=start or bundle.stat().st_mtime,
        command=_command(record),
        ended="running" if running else _ended(record, closing),
        cause="" if running or closing else _cause(bundle, record),
        seconds=end - start if start is not None and end is not None else None,
        size=sum(entry.stat().st_size for entry in bundle.rglob("*") if entry.is_file()),
        running=running,
        folder=str(told.get("folder", "")),
        job=job or (known.known.job if known else ""),
    )


def _command(record: dict[str, Any]) -> str:
    """The command line; of a kernel its notebook, or its folder if no notebook is known: kernels are all started alike."""
    if notebook := (record.get("notes") or {}).get("notebook"):
        return f"kernel of {notebook}"
    told = record.get("command", {})
    return " ".join(map(str, told.get("arguments") or [told.get("name") or "?"]))


def _ended(record: dict[str, Any], closing: bool) -> str:
    status = record.get("status") or {}
    if number := status.get("signal"):
        return f"signal {number} ({signal_name(number)})"
    if "exit_code" in status:
        return f"exit status {status['exit_code']}"
    return "not known" if record.get("complete") else "just now" if closing else "capture was cut off"


def _cause(bundle: Path, record: dict[str, Any]) -> str:
    """The first cause of the report in a bundle, UNKNOWN_CAUSE if none was recognised; without a report NOT_ANALYSED, or nothing
    of a run that ended well."""
    try:
        report = json.loads((bundle / "report.json").read_bytes())
        return UNKNOWN_CAUSE if report["verdict"] == "undetermined" else str(report["causes"][0]["id"])
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return "" if (record.get("status") or {}).get("exit_code") == 0 else NOT_ANALYSED


def _moment(text: object) -> float | None:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None


def short_command(command: str) -> str:
    """A command for a table: its folders are left out where that keeps it short."""
    words = [Path(w).name if w.startswith("/") else w for w in command.split()]
    text = " ".join(words)
    return text if len(text) <= TABLE_COMMAND_CHARS else text[: TABLE_COMMAND_CHARS - 2] + " …"
