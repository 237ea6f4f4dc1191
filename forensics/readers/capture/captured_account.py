"""The lines that `forensics run` adds to the end of a job's output, sorted by kind: ended processes, signals, counts, limits.

... forensics run: pid 4713 (python3), child of pid 4711, was ended by signal 9 (SIGKILL) after 12.3 s; it held 196.0 MiB
-> Account.deaths: pid 4713, signal 9, parent 4711, rss_mib 196.0
"""

from collections.abc import Iterable

from msgspec import Struct

from forensics.core import lazy
from forensics.model import Line

CAPTURE_PREFIX = "forensics run: "
ENDING_PATTERN = (
    r"(?:was ended by signal (?P<signal>\d+) \((?P<signal_name>[\w ]+)\)|ended with exit status (?P<exit_code>\d+)"
    r"|is (?P<gone>gone)|was still (?P<runs>running))"
)
PROCESS_END_PATTERN = lazy.regex(
    r"pid (?P<pid>\d+) \((?P<task>.{1,64}?)\)(?:, rank (?P<rank>\d+))?"
    r"(?:, child (?P<child_no>\d+) of pid (?P<ppid>\d+)|, child of pid (?P<parent>\d+))?, " + ENDING_PATTERN
    + r"(?:.* it held (?P<rss_mib>[\d.]+) MiB)?"
)  # fmt: skip
COMMAND_END_PATTERN = lazy.regex(r"the command, pid (?P<pid>\d+)(?: \((?P<task>.{1,64}?)\))?, " + ENDING_PATTERN)
SENT_SIGNAL_PATTERN = lazy.regex(
    r"signal (?P<signal>\d+) \((?P<signal_name>\w+)\) was sent to pid (?P<pid>\d+) \(.{1,64}?\) by (?:the (?P<kernel>kernel)|"
    r"pid (?P<sender_pid>\d+) \((?P<sender>[^)]{1,64}?)(?:, user \d+)?\)(?:: (?P<sender_command>.*))?|a process)"
)
CGROUP_COUNT_PATTERN = lazy.regex(
    r"(?P<outer>outer )?memory group (?P<cgroup>\S+) counted (?P<kills>no|\d+) kills?(?: and (?P<refused>\d+) refusals)?; "
    r"(?:limit (?P<limit_mib>[\d.]+) MiB|no limit)(?:, peak (?P<peak_mib>[\d.]+) MiB \((?P<percent>\d+) %\))?"
    r"(?P<oomd>; systemd-oomd)?"
)
HOST_COUNT_PATTERN = lazy.regex(
    r"the host counted (?P<kills>no|\d+) memory kills?; at least (?P<percent>\d+) % .*?(?:waited for memory (?P<waited>\d+) %|$)"
)
NO_OUTPUT_PATTERN = lazy.regex(r"no output came for ")
WAITING_FUNCTION_PATTERN = lazy.regex(r"in that silence pid (?P<pid>\d+) \(.*?\) stood in (?P<function>.*)")
FULL_SHM_PATTERN = lazy.regex(r"/dev/shm was full")
NOT_STARTED_PATTERN = lazy.regex(r"the command, pid (?P<pid>\d+), could not be started: (?P<path>.*?): (?P<exc_message>[^:]+)$")
JOB_TIME_LIMIT_PATTERN = lazy.regex(r"the scheduler's time limit was at ")
NO_END_PATTERN = lazy.regex(r"the capture has no end")
CPU_TIME_LIMIT_PATTERN = lazy.regex(
    r"pid (?P<pid>\d+) \((?P<task>.{1,64}?)\)(?:, rank (?P<rank>\d+))?"
    r" had used its limit of (?P<cpu_limit_s>\d+) s of processor time"
)


class AccountLine(Struct, frozen=True):
    """One line with its fields. `moment`: its time, in seconds since 1970 (Unix time)."""

    line: Line
    fields: dict[str, str]
    moment: float

    def number(self, name: str) -> int:
        """A field as a number; 0 for the word `no`, and if the line lacks the field."""
        text = self.fields.get(name, "0")
        return int(text) if text.isdigit() else 0


class Account:
    """All lines that `forensics run` wrote when one command ended, one list for each kind of line."""

    def __init__(self, rows: Iterable[tuple[Line, str, float]]) -> None:
        self.deaths: list[AccountLine] = []
        self.sent: list[AccountLine] = []
        self.groups: list[AccountLine] = []
        self.host: list[AccountLine] = []
        self.silence: list[AccountLine] = []
        self.shm: list[AccountLine] = []
        self.command: list[AccountLine] = []
        self.refused: list[AccountLine] = []
        self.limits: list[AccountLine] = []
        self.cpu: list[AccountLine] = []
        self.open: list[AccountLine] = []
        kinds = (
            (COMMAND_END_PATTERN, self.command),
            (PROCESS_END_PATTERN, self.deaths),
            (SENT_SIGNAL_PATTERN, self.sent),
            (CGROUP_COUNT_PATTERN, self.groups),
            (HOST_COUNT_PATTERN, self.host),
        )
        more = (
            (NO_OUTPUT_PATTERN, self.silence),
            (WAITING_FUNCTION_PATTERN, self.silence),
            (FULL_SHM_PATTERN, self.shm),
            (NOT_STARTED_PATTERN, self.refused),
        )
        timed = ((JOB_TIME_LIMIT_PATTERN, self.limits), (CPU_TIME_LIMIT_PATTERN, self.cpu), (NO_END_PATTERN, self.open))
        for line, text, moment in rows:
            for pattern, where in (*kinds, *more, *timed):
                if found := pattern.match(text):
                    where.append(AccountLine(line, {k: v for k, v in found.groupdict().items() if v}, moment))
                    break

    @property
    def end(self) -> AccountLine:
        """The end of the command itself."""
        return self.command[-1]

    def own_pids(self) -> set[int]:
        """The pids of the job's processes in the account."""
        return {d.number("pid") for d in (*self.deaths, self.end)} | {
            d.number(name) for d in self.deaths for name in ("parent", "ppid")
        }
