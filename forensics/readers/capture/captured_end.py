"""Reads the lines that `forensics run` writes after a job's output: how processes died, who sent signals, what was counted.

    ... forensics run: pid 4713 (python3), child of pid 4711, was ended by signal 9 (SIGKILL) after 12.3 s; it held 196.0 MiB
    ... forensics run: signal 9 (SIGKILL) was sent to pid 4713 (python3) by pid 880 (earlyoom): earlyoom -r 60
    ... forensics run: memory group /job counted 1 kill and 35 refusals; limit 200.0 MiB, peak 200.0 MiB (100 %)
    ... forensics run: the host counted 1 memory kill; at least 71 % of its 23.5 GiB were available
    ... forensics run: the command, pid 4711 (python3), ended with exit status 1 after 14.2 s

No single line shows a cause, but several lines together do. A SIGKILL and a kill that the process's own memory group (cgroup)
counted prove a memory kill; no kernel log is needed. A SIGKILL without such a count, while memory was available, was sent by
another process. forensics/capture/account.py writes the lines.

Reads when the command of a captured run started and in which memory groups its processes were, from the end of its log.

... forensics run: memory group /job counted no kill; no limit
... forensics run: the command, pid 4711, was still running when this was written, 4 min 5 s after its start
-> CapturedRun(started=2026-08-22 02:56, groups={"/job"})

The lines that `forensics run` adds to the end of a job's output, sorted by kind: ended processes, signals, counts, limits.

... forensics run: pid 4713 (python3), child of pid 4711, was ended by signal 9 (SIGKILL) after 12.3 s; it held 196.0 MiB
-> Account.deaths: pid 4713, signal 9, parent 4711, rss_mib 196.0
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from forensics.data_files.named_parts import first_row, part_rows, patterns_of
from forensics.database import signal_outcome
from forensics.model import Line, Region, Scan, Trigger, Value, Weight
from forensics.readers.base import Record, parse_lines, typed_fields

CAPTURE_PREFIX = "forensics run: "


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
        found: dict[str, list[AccountLine]] = {row.name: [] for row in part_rows("capture account")}
        for line, text, moment in rows:
            if row := first_row("capture account", text):
                found[row.name].append(AccountLine(line, row.parts(text), moment))
        self.command, self.deaths, self.sent, self.groups = (found[k] for k in ("command", "deaths", "sent", "groups"))
        self.host, self.silence, self.shm, self.refused = (found[k] for k in ("host", "silence", "shm", "refused"))
        self.limits, self.cpu, self.open, self.stuck = (found[k] for k in ("limits", "cpu", "open", "stuck"))

    @property
    def end(self) -> AccountLine:
        """The end of the command itself."""
        return self.command[-1]

    def own_pids(self) -> set[int]:
        """The pids of the job's processes in the account."""
        return {d.number("pid") for d in (*self.deaths, self.end)} | {
            d.number(name) for d in self.deaths for name in ("parent", "ppid")
        }


TRIGGER = Trigger(
    "captured_end", ("forensics run: the command, pid ", "forensics run: the capture has no end"), before=160, after=0
)
FOREIGN_MACHINE = "another kind of machine"  # a signature matches the system's own message for this case

SIGKILL, SIGBUS = 9, 7  # numbers of Linux, because the log may be read on another system
NOT_STARTED = 127  # a shell's exit status for a command that was not found (POSIX, 2.8.2)
TIMED_OUT = 124  # the exit status of timeout(1)
FAULT_SIGNALS = (4, 5, 6, 7, 8, 11, 24, 25, 31)  # ILL TRAP ABRT BUS FPE SEGV XCPU XFSZ SYS
MEMORY_LIMIT, HOST_MEMORY_EXHAUSTED, MEMORY_GUARD = "memory_limit", "host_memory_exhausted", "memory_guard"
SHM_FULL = "shm_full"
MEMORY_OUTCOMES = (MEMORY_LIMIT, HOST_MEMORY_EXHAUSTED, MEMORY_GUARD, SHM_FULL)
STUCK, NO_OUTPUT, TIMER, CPU_TIME_LIMIT = "stuck", "no_output", "timer", "cpu_time_limit"
STOPPED, CHILD_KILLED, COULD_NOT_START, BAD_STATUS = "stopped", "child_killed", "could_not_start", "bad_status"
ENDED_ITSELF = "ended_itself"
OUTCOMES = (
    *(*MEMORY_OUTCOMES, STUCK),
    *(NO_OUTPUT, TIMER, CPU_TIME_LIMIT, STOPPED, CHILD_KILLED, COULD_NOT_START, BAD_STATUS, ENDED_ITSELF),
    *map(signal_outcome, FAULT_SIGNALS),
)
STOP_SIGNALS = (1, 2, 3, 10, 12, 15)  # HUP INT QUIT USR1 USR2 TERM
MEMORY_GUARDS = ("earlyoom", "systemd-oomd", "oomd", "nohang", "raylet", "kubelet")
TIMERS = ("timeout",)
RANK_LAUNCHERS = (
    "pt_elastic",
    "torchrun",
    "torch.distributed",
    "accelerate",
    "deepspeed",
    "horovodrun",
    "mpirun",
    "mpiexec",
    "prted",
)
REACHED_PERCENT = 95  # of the limit. The recorded peak can be below it, because the kernel charges memory in advance
SHORT_PERCENT = 5  # of memory available. earlyoom acts at 10 % of memory and of swap, systemd-oomd on pressure
PRESSED_PERCENT = 10  # share of ten seconds in which all tasks waited for memory. Chosen by hand; an idle machine has 0
MAX_DEATH_AGE_S = 2100.0  # before the end. Other ranks may wait half an hour in a collective after one rank died
STOPPED_WITHIN_S = 120.0  # the longest time that a scheduler waits between SIGTERM and SIGKILL


def account_of(region: Region) -> Account:
    """The account whose end the region is."""
    rows = []
    for row in parse_lines(region.lines()):
        text = row.message.partition(CAPTURE_PREFIX)[2] if CAPTURE_PREFIX in row.message else ""
        stamp = row.prefix.stamp
        rows.append((row.line, text, stamp.wall.timestamp() if stamp and stamp.wall else 0.0))
    return Account([r for r in rows if r[1]])


def read(region: Region) -> Record | None:
    """What the lines prove. The record has no cause if only a bad exit status is known. None if the command ended well."""
    account = account_of(region)
    if account.refused and FOREIGN_MACHINE not in account.refused[0].line.text:
        one = account.refused[0]
        return Record(
            "captured_end",
            one.line.number,
            region.number,
            COULD_NOT_START,
            "proof",
            (one.line,),
            {**typed_fields(one.fields), "command_status": NOT_STARTED},
        )
    if not account.command or (account.end.number("exit_code") == 0 and "exit_code" in account.end.fields):
        return _of_bare_end(account, region.number) if account.open else None
    for ask in (_memory_kill, _stuck, _stalled, _time_limit, _stopped, _crashed, _killed):
        if found := ask(account):
            outcome, weight, said = found
            return _record(region, account, outcome, weight, said)
    return _of_bare_end(account, region.number)


Found = tuple[str, Weight, list[AccountLine]]


def _record(region: Region, account: Account, outcome: str, weight: Weight, said: list[AccountLine]) -> Record:
    fields: dict[str, Value] = {}
    for one in reversed([*said, account.end]):
        fields |= typed_fields(
            {
                k: v
                for k, v in one.fields.items()
                if k not in ("kills", "percent", "outer", "gone", "kernel", "parent", "waited", "refused", "oomd")
            }
        )
    kills = max((g.number("kills") for g in account.groups), default=0)
    if outcome in MEMORY_OUTCOMES and kills:
        fields["oom_kills"] = kills
    if outcome == ENDED_ITSELF:
        fields["own_signal"] = fields["signal_name"]
    fields |= _status(account.end)
    end = account.end.line
    quote = (*list(dict.fromkeys(one.line for one in said if one.line != end))[:4], end)
    return Record("captured_end", min(x.number for x in quote), region.number, outcome, weight, quote, fields)


def _of_bare_end(account: Account, number: int) -> Record | None:
    """A bad end whose reason is unknown, or an end whose status is unknown."""
    if account.open:
        return Record("captured_end", number, number, None, "hint", (account.open[0].line,), {"command_status": "unknown"})
    if not account.command or not (status := _status(account.end)):
        return None
    runs = "runs" in account.end.fields
    return Record(
        "captured_end", number, number, None if runs else BAD_STATUS, "hint" if runs else "strong", (account.end.line,), status
    )


def _status(end: AccountLine) -> dict[str, Value]:
    """The exit status as a shell gives it (128 + a signal), see outcome/recorded_status.py. Empty if the line tells no end."""
    if "signal" in end.fields:
        return {"command_status": 128 + end.number("signal")}
    if "exit_code" in end.fields:
        return {"command_status": end.number("exit_code")}
    return {"command_status": "running" if "runs" in end.fields else "unknown"} if {"gone", "runs"} & set(end.fields) else {}


def _dead(account: Account) -> list[AccountLine]:
    """Deaths by a signal that are near enough to the end to explain it, in order. The command's own death is the last."""
    end = account.end
    near = [
        d
        for d in account.deaths
        if "signal" in d.fields and (not d.moment or not end.moment or end.moment - d.moment < MAX_DEATH_AGE_S)
    ]
    return [*near, *([end] if "signal" in end.fields else [])]


def _sender(account: Account, death: AccountLine) -> AccountLine | None:
    """Who sent the signal that ended a process: the last sent signal with the same process ID and signal number."""
    same = [s for s in account.sent if s.number("pid") == death.number("pid") and s.number("signal") == death.number("signal")]
    return same[-1] if same else None


def _by_its_own(account: Account, sent: AccountLine | None) -> bool:
    """Was the sender one of the job's own processes, such as a launcher that ends the other ranks?"""
    if sent is None or sent.number("sender_pid") == sent.number("pid"):
        return False
    return sent.number("pid") != account.end.number("pid") and sent.number("sender_pid") in account.own_pids()


def _by_launcher(sent: AccountLine) -> bool:
    """Was the sender a launcher of ranks, which ends the others when one has failed, and passes on a signal that it got?"""
    return any(name in f"{sent.fields.get('sender')} {sent.fields.get('sender_command')}" for name in RANK_LAUNCHERS)


def _by_itself(account: Account, death: AccountLine) -> AccountLine | None:
    """The signal that a process sent to itself and died of. None if others had asked it to stop before, as Python does that too
    after a Ctrl-C that nothing caught."""
    sent = _sender(account, death)
    if sent is None or "sender_pid" not in sent.fields or sent.number("sender_pid") != sent.number("pid"):
        return None
    asked = [s for s in account.sent if s.number("pid") == sent.number("pid") and s.number("signal") in (*STOP_SIGNALS, SIGKILL)]
    return sent if all(s.number("sender_pid") == s.number("pid") for s in asked) else None


def _memory_kill(account: Account) -> Found | None:
    killed = [d for d in _dead(account) if d.number("signal") == SIGKILL]
    own = [g for g in account.groups if g.number("kills") and "outer" not in g.fields]
    host = [h for h in account.host if h.number("kills")]
    by_kernel = [s for d in killed if (s := _sender(account, d)) is not None and "kernel" in s.fields]
    others = [d for d in killed if not ((s := _sender(account, d)) and "sender_pid" in s.fields)]
    if not own and not (host and others and by_kernel):
        return None
    if killed and not others:
        return None  # a known process killed each of them
    limited = [
        g for g in account.groups if "limit_mib" in g.fields and (g.number("percent") >= REACHED_PERCENT or g.number("kills"))
    ]
    weight: Weight = "proof" if others else "strong"
    evidence = [*others[:1], *own[:1], *by_kernel[:1]]
    if limited:
        return MEMORY_LIMIT, weight, [*evidence[:1], *limited[:1], *evidence[1:]]
    return HOST_MEMORY_EXHAUSTED, weight, [*evidence, *host[:1]]


def _stuck(account: Account) -> Found | None:
    """Each thread of a process waited for another one of it, without a time limit: nothing but a signal ends that."""
    return (STUCK, "proof", account.stuck[:3]) if account.stuck else None


def _stalled(account: Account) -> Found | None:
    """The command printed nothing for a long time, and was then stopped from outside."""
    if not account.silence or "function" in account.silence[0].fields:  # the line on the silence itself comes first
        return None
    stopped = _stopped(account) or _time_limit(account)
    if stopped is None and account.end.number("signal") != SIGKILL:
        return None
    weight: Weight = "proof" if any("function" in s.fields for s in account.silence) else "strong"
    if stopped and stopped[1] == "hint":  # a rank whose launcher ended it may only have waited for the one that failed
        weight = "hint"
    return NO_OUTPUT, weight, [*account.silence[:3], *(stopped[2][:1] if stopped else [])]


def _time_limit(account: Account) -> Found | None:
    """A timer (such as timeout(1)), the scheduler's time limit or the limit of CPU time ended the command."""
    end = account.end
    timers = [d for d in (*account.deaths, end) if d.fields.get("task") in TIMERS and _sender(account, d) is None]
    ran_out = [d for d in timers if d.number("exit_code") in (TIMED_OUT, 128 + SIGKILL) or d.number("signal") == SIGKILL]
    by_timer = [s for s in account.sent if s.fields.get("sender") in TIMERS and end.moment - s.moment < STOPPED_WITHIN_S]
    if by_timer or ran_out:
        return TIMER, "proof", [*by_timer[:1], *ran_out[:1]]
    ended = end.number("signal") in (*STOP_SIGNALS, SIGKILL) or end.number("exit_code") or bool(_dead(account))
    if account.limits and ended:
        return TIMER, "proof", [account.limits[0], *[s for s in account.sent if "sender_pid" in s.fields][:1]]
    if account.cpu and ended:
        return CPU_TIME_LIMIT, "proof", account.cpu[:1]
    return None


def _stopped(account: Account) -> Found | None:
    """The command got a signal to stop, or a known sender killed one of its processes."""
    end = account.end
    if _by_itself(account, end):
        return None
    asked = [s for s in account.sent if s.number("pid") == end.number("pid") and not _by_its_own(account, s)]
    asked = [s for s in asked if s.number("signal") in (*STOP_SIGNALS, SIGKILL) and end.moment - s.moment < STOPPED_WITHIN_S]
    others = [
        s
        for d in _dead(account)
        if d is not end and d.number("signal") == SIGKILL and (s := _sender(account, d)) and not _by_its_own(account, s)
    ]
    guards = [s for s in (*asked, *others) if s.fields.get("sender") in MEMORY_GUARDS]
    if guards:
        return MEMORY_GUARD, "proof", guards[:1]
    if not asked:
        by_signal = end.number("signal") in STOP_SIGNALS
        return (STOPPED, "strong", [end]) if by_signal else None
    if all("kernel" in s.fields for s in asked) and end.number("signal") == SIGKILL:
        return None
    weight: Weight = "hint" if all(map(_by_launcher, asked)) else "strong"  # why it ended them stands in its own log
    return STOPPED, weight, [s for s in asked if "sender_pid" in s.fields][:1] or asked[:1]


def _crashed(account: Account) -> Found | None:
    """The first process that died of a fault of its own (SIGSEGV and the like)."""
    for death in _dead(account):
        number = death.number("signal")
        if number not in FAULT_SIGNALS or (_by_its_own(account, _sender(account, death)) and number != 6):
            continue
        if number == SIGBUS and account.shm:
            return SHM_FULL, "proof", [death, account.shm[0]]
        return signal_outcome(number), "strong", [death]
    return None


def _killed(account: Account) -> Found | None:
    """A SIGKILL, while no memory kill explains it (see _memory_kill), or a signal that a process sent to itself."""
    dead = [d for d in _dead(account) if not _by_its_own(account, _sender(account, d))]
    killed = [d for d in dead if d.number("signal") == SIGKILL or (d.number("signal") in STOP_SIGNALS and _by_itself(account, d))]
    if not killed:
        return None
    death = killed[0]
    if own := _by_itself(account, death):
        return ENDED_ITSELF, "strong", [death, own]
    sent = _sender(account, death)
    host = account.host[:1]
    oomd = [g for g in account.groups if "oomd" in g.fields]
    if sent is not None and "sender_pid" in sent.fields:
        return STOPPED, "strong", [death, sent]
    if oomd or any(h.number("percent") < SHORT_PERCENT or h.number("waited") >= PRESSED_PERCENT for h in host):
        return MEMORY_GUARD, "strong", [death, *oomd[:1], *host]
    counted = [g for g in account.groups if "outer" not in g.fields]
    return STOPPED if death is account.end else CHILD_KILLED, "strong", [death, *counted[:1], *host]


PATTERNS = patterns_of("captured end")
ROUNDING_S = 60.0  # a lifetime of hours is written without its seconds


class CapturedRun(Struct, frozen=True):
    """`started`: when its command started, or a little before; None if unknown. `groups`: those of its own processes.
    `ended_well`: its command ended with exit status 0."""

    started: datetime | None = None
    groups: frozenset[str] = frozenset()
    ended_well: bool = False

    def is_elsewhere(self, group: str) -> bool:
        """Is `group`, as the kernel names it, none in which a process of the run was? In a container the run's own paths are the
        ends of those that the kernel names, and `/` may be any."""
        named = group.rstrip("/") + "/"
        return bool(group and self.groups) and not any(own.rstrip("/") + "/" in named for own in self.groups)


def captured_run(scan: Scan) -> CapturedRun | None:
    """What the last account in a log says of its run; None if it has no account."""
    regions = scan.regions.get(TRIGGER.kind, ())
    account = account_of(regions[-1]) if regions else None
    if account is None or not account.command:
        return None
    groups = frozenset(g.fields["cgroup"] for g in account.groups if "outer" not in g.fields)
    ended_well = account.end.fields.get("exit_code") == "0"
    return CapturedRun(_started(account.end.line.text, account.end.moment), groups, ended_well)


def _started(text: str, moment: float) -> datetime | None:
    found = PATTERNS.lifetime.search(text.partition(CAPTURE_PREFIX)[2])
    if not found or not moment:
        return None
    hours, minutes, seconds = (float(found[n] or found[f"{n}2"] or 0) for n in ("h", "min", "s"))
    lived = hours * 3600 + minutes * 60 + seconds + (ROUNDING_S if hours else 0.0)
    return datetime.fromtimestamp(moment, UTC) - timedelta(seconds=lived)
