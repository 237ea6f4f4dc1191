"""Write the last lines of job.log: how the job ended, one fact per line. `analyze` reads them like every other log.

    [2026-08-22T03:00:07.120000+00:00] forensics run: pid 4713 (python3), child of pid 4711, was ended by signal 9 (SIGKILL)
    [2026-08-22T03:00:07.130000+00:00] forensics run: signal 9 (SIGKILL) was sent to pid 4713 (python3) by pid 880 (earlyoom)
    [2026-08-22T03:00:08.000000+00:00] forensics run: memory group /job counted 1 kill and 35 refusals; limit 200.0 MiB
    [2026-08-22T03:00:08.000000+00:00] forensics run: the host counted 1 memory kill; at least 71 % of its 23.5 GiB were available
    [2026-08-22T03:00:08.000000+00:00] forensics run: pid 4711 (python3) could not go on: each of its 3 threads waited ...
    [2026-08-22T03:00:08.000000+00:00] forensics run: limits of the command: address space 2929.7 MiB, open files 1024
    [2026-08-22T03:00:08.000000+00:00] forensics run: local times are UTC+02:00 (CEST)
    [2026-08-22T03:00:08.000000+00:00] forensics run: the command, pid 4711 (python3), ended with exit status 1 after 14.2 s

These lines state facts. The analysis decides which of them is the cause.
"""

from __future__ import annotations

import os
import signal
import time

from forensics.capture.identity import MAX_FREE_SHARE_OF_FULL
from forensics.capture.proc import child_text
from forensics.capture.rank_dumps import remove_pipes
from forensics.capture.times import duration_text, local_zone, time_text

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Container
    from typing import Any

    from forensics.capture.bundle import Bundle
    from forensics.capture.collector import Collector
    from forensics.capture.joblog import JobLog


ACCOUNT_PREFIX = "forensics run:"
MAX_ACCOUNT_ENDS = 40  # chosen by hand: lines about single processes
# Chosen by hand: a program that ends a job sends the same signal to each process, so the first lines are enough.
MAX_ACCOUNT_SIGNALS = 40
MIB = 1 << 20
TIMERS = ("timeout",)
MIN_LIMIT_SHARE = 0.9  # of a limit of processor time; the last sample is some seconds before the end
MAX_TICK_ERROR_S = 0.25  # the kernel counts ticks for the limit and exact times for its statistics; measured: 0.14 s in 1 s
MAX_TIME_LIMIT_GAP_S = 5.0  # chosen by hand: a scheduler ends a job at its limit or later
MAX_STALL_TO_END_S = 30.0  # chosen by hand: a program that is stopped may still write while it shuts down
SIGXCPU = 24  # the number on Linux; the process that watches a job does not load the module `signal`


def closing_lines(collector: Collector, status: int | None) -> list[str]:
    """The lines, in order of time; those without a time of their own come last."""
    root = collector.root_end(status)
    end = root["end"] if root else collector.samples.rows[-1]["time"] if collector.samples.rows else collector.started
    lines: list[tuple[float, str]] = []
    children, ranks = collector.tree.child_numbers(), collector.tree.ranks()
    notable = _notable_ends(collector, {*children, *ranks})
    early = [] if root and root.get("exit_code") == 0 else _well_ended(collector, ranks)
    for found in [*early, *notable]:
        lines.append((found["end"], _process(found, ranks.get(found["pid"], ""), children.get(found["pid"]))))
    for sent in collector.relevant_signals()[:MAX_ACCOUNT_SIGNALS]:
        lines.append((sent["time"], _signal(sent)))
    lines_in_order = [(at, text) for at, text in sorted(lines, key=lambda x: x[0])]
    lines_in_order += [
        (end, text)
        for text in (*_groups(collector), *_host(collector), *_places(collector), *_silence(collector, end), *_stuck(collector))
    ]
    lines_in_order += [(end, text) for text in _limits(collector, notable, end, root, ranks)]
    lines_in_order += [(end, text) for text in _bounds(collector.limits)]
    lines_in_order.append((end, f"local times are {local_zone(end)}"))
    lines_in_order.append((end, _root(collector, root)))
    return [f"[{time_text(at)}] {ACCOUNT_PREFIX} {text}" for at, text in lines_in_order]


def _notable_ends(collector: Collector, members: Container[int]) -> list[dict[str, Any]]:
    """Deaths by a signal, failed ranks and timers that expired: the first ones and the last. `members`: those that
    are ranks, or may be, because multiprocessing started them."""
    found = [e for e in collector.tree.ends if e["pid"] != collector.root and _is_notable(e, members)]
    return found if len(found) <= MAX_ACCOUNT_ENDS else [*found[: MAX_ACCOUNT_ENDS // 2], *found[-MAX_ACCOUNT_ENDS // 2 :]]


def _well_ended(collector: Collector, ranks: dict[int, str]) -> list[dict[str, Any]]:
    """The ranks that ended with exit status 0 while others went on, which then wait for them or lose them."""
    ends = [e for e in collector.tree.ends if e["pid"] in ranks and e.get("ppid") not in ranks]
    still = ranks.keys() & collector.tree.living.keys()
    last = max((e["end"] for e in ends), default=0.0)
    return [e for e in ends if e.get("exit_code") == 0 and (still or e["end"] < last)][:MAX_ACCOUNT_ENDS]


def _is_notable(end: dict[str, Any], members: Container[int]) -> bool:
    is_expected = end["pid"] in members or end.get("comm") in TIMERS
    return bool(end.get("signal")) or (bool(end.get("exit_code")) and is_expected)


def signal_name(number: int) -> str:
    """9 -> SIGKILL"""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _process(end: dict[str, Any], rank: str, numbered: tuple[int, int] | None) -> str:
    child = child_text(numbered) or (f", child of pid {end['ppid']}" if end.get("ppid") else "")
    lived = f" after {duration_text(end['end'] - end['start'])}" if "start" in end else ""
    held = f"; it held {end['most_bytes'] / MIB:.1f} MiB" if end.get("most_bytes") else ""
    return f"pid {end['pid']} ({end.get('comm', 'unknown')}){_rank(rank)}{child}, {_how(end)}{lived}{held}"


def _rank(number: str) -> str:
    return f", rank {number}" if number else ""


def _how(end: dict[str, Any]) -> str:
    if end.get("signal"):
        core = ", memory was dumped to a core file" if end.get("core") else ""
        return f"was ended by signal {end['signal']} ({signal_name(end['signal'])}){core}"
    if "exit_code" in end:
        return f"ended with exit status {end['exit_code']}"
    return "is gone, and nothing told its exit status"


def _signal(sent: dict[str, Any]) -> str:
    number, name = sent["signal"], sent.get("to_comm", "the command")
    to = f"signal {number} ({signal_name(number)}) was sent to pid {sent['to']} ({name})"
    if sent["code"] == 128:
        return f"{to} by the kernel"
    if not sent.get("from"):
        return f"{to} by a process that cannot be seen from here"
    name = sent.get("from_comm", "")
    command = f": {sent['from_command'][:120]}" if sent.get("from_command") and sent["from_command"] != name else ""
    user = f", user {sent['uid']}" if "uid" in sent else ""
    return f"{to} by pid {sent['from']} ({name or 'unknown'}{user}){command}"


def _groups(collector: Collector) -> list[str]:
    sentences = []
    for group in collector.groups.as_record():
        counted = group["kills"] or group["refused"]
        if not (counted or (group["own"] and "kills" in group["after"]) or group["limit_bytes"]):
            continue
        limit = f"limit {group['limit_bytes'] / MIB:.1f} MiB" if group["limit_bytes"] else "no limit"
        peak = f", peak {group['peak_bytes'] / MIB:.1f} MiB" if group["peak_bytes"] and group["limit_bytes"] else ""
        share = f" ({100 * min(1.0, group['peak_bytes'] / group['limit_bytes']):.0f} %)" if peak else ""
        kills = "no kill" if not group["kills"] else f"{group['kills']} kill{'s' if group['kills'] > 1 else ''}"
        refused = f" and {group['refused']} refusals" if group["refused"] else ""
        daemon = "; systemd-oomd marked it as killed" if group["after"].get("oomd_kills", "0") not in ("", "0") else ""
        own = "memory group" if group["own"] else "outer memory group"
        sentences.append(f"{own} {group['path']} counted {kills}{refused}; {limit}{peak}{share}{daemon}")
    return sentences


def _host(collector: Collector) -> list[str]:
    memory = collector.samples.as_record()
    kills, total = memory["host_kills"], memory["host_bytes"]
    if kills is None or not total:
        return []
    counted = "no memory kill" if not kills else f"{kills} memory kill{'s' if kills > 1 else ''}"
    waited, least = memory["most_pressure_full_avg10"], 100 * memory["least_available_share"]
    pressed = f"; all tasks waited for memory {waited:.0f} % of 10 s" if waited >= 1 else ""
    return [f"the host counted {counted}; at least {least:.0f} % of its {total / 2**30:.1f} GiB were available{pressed}"]


def _places(collector: Collector) -> list[str]:
    """File systems that were full at the end, or when a process died."""
    return [
        f"{path} was full: {free / MIB:.1f} MiB of {total / MIB:.1f} MiB were free"
        for path, (free, total) in collector.least_free.items()
        if total and free < MAX_FREE_SHARE_OF_FULL * total
    ]


def _bounds(limits: dict[str, str]) -> list[str]:
    """The limits that programs meet: the soft ones of the command, as they were when it started. `limits`: see identity.limits"""
    space = limits.get("Max address space", "")
    said = [f"address space {int(space) / MIB:.1f} MiB"] if space.isdecimal() else []
    said += [f"{name} {limits[f'Max {name}']}" for name in ("open files", "processes") if f"Max {name}" in limits]
    return [f"limits of the command: {', '.join(said)}"] if said else []


def _silence(collector: Collector, end: float) -> list[str]:
    """The silence of the output, if it was long and lasted until the job was ended."""
    spell = collector.silence.spell
    if spell is None or end - spell[1] > MAX_STALL_TO_END_S:
        return []
    stood = [f"in that silence pid {s['pid']} ({s['comm']}) stood in {s['at']}" for s in collector.stacks[:8] if s["at"]]
    refused = [f"no stacks were taken: {c['why']}" for c in collector.unavailable if c["what"] == "stacks"]
    return [f"no output came for {duration_text(min(spell[1], end) - spell[0])} before the end", *(stood or refused)]


def _stuck(collector: Collector) -> list[str]:
    """The processes that could not go on when their stacks were taken last."""
    return [
        f"pid {one['pid']} ({one['comm']}) could not go on: each of its {one['stuck']} threads waited for another one of them, "
        f"without a time limit; its main thread stood in {one['at']}"
        for one in collector.stacks
        if "stuck" in one
    ]


def _limits(
    collector: Collector, ends: list[dict[str, Any]], end: float, root: dict[str, Any] | None, ranks: dict[int, str]
) -> list[str]:
    """Time limits that were reached: the scheduler's, and limits of processor time."""
    sentences = []
    limit = collector.options.time_limit_s
    if limit and end > limit - MAX_TIME_LIMIT_GAP_S:
        sentences.append(f"the scheduler's time limit was at {time_text(limit)}")
    for found in [*ends, *([root] if root else [])]:
        seconds = found.get("cpu_limit_s", 0)
        if seconds and (
            found.get("signal") == SIGXCPU or found["cpu_s"] >= min(MIN_LIMIT_SHARE * seconds, seconds - MAX_TICK_ERROR_S)
        ):
            whose = f"pid {found['pid']} ({found.get('comm', '')}){_rank(ranks.get(found['pid'], ''))}"
            sentences.append(f"{whose} had used its limit of {seconds} s of processor time")
    return sentences


def _root(collector: Collector, end: dict[str, Any] | None) -> str:
    if end is None:
        root = collector.tree.living.get(collector.root)
        lived = f", {duration_text(time.time() - root.started)} after its start" if root else ""
        return f"the command, pid {collector.root}, was still running when this was written{lived}"
    if collector.refused:
        return f"the command, pid {collector.root}, could not be started: {collector.refused}"
    comm = f" ({end['comm']})" if end.get("comm") else ""
    started = end.get("start", collector.started)
    return f"the command, pid {collector.root}{comm}, {_how(end)} after {duration_text(end['end'] - started)}"


MAX_KEY_TO_END_S = 30.0  # chosen by hand: a program that is interrupted writes a checkpoint, or waits for its workers
SIGNALS_APART_S = 1.0  # chosen by hand: a key's signal reaches all processes at once, but this one may be told later
INTERRUPTED_STATUS = 128 + signal.SIGINT  # exit status of a program that handles the signal, as shells do
PIPE_STATUS = 141  # 128 + SIGPIPE, of a shell whose last command was ended so


def finish(
    collector: Collector,
    bundle: Bundle,
    log: JobLog | None,
    status: int | None,
    notes: dict[str, Any] | None = None,
    closing: list[str] | None = None,
) -> None:
    """Complete the bundle. `notes`: of the caller that asked for the capture. `closing`: the last lines of job.log."""
    remove_pipes(bundle.folder)
    lines = closing_lines(collector, status) if closing is None else closing
    if log is None:
        bundle.write("job.log", "".join(line + "\n" for line in lines))
    else:
        log.close(lines)
        bundle.write_rows("job.times", ([at, round(moment, 3)] for at, moment in log.times()))
    if kernel := collector.groups.without_others(collector.kernel.finish()):
        bundle.write("kernel.log", "".join(line + "\n" for line in kernel))
    if collector.kernel.method:
        collector.unavailable = [c for c in collector.unavailable if c["what"] != "the kernel's log"]
    bundle.write_rows(
        "exits.jsonl",
        (
            {**e, "end": time_text(e["end"])} | ({"start": time_text(e["start"])} if "start" in e else {})
            for e in collector.tree.ends
        ),
    )
    bundle.write_rows("memory.jsonl", ({**r, "time": time_text(r["time"])} for r in collector.samples.rows))
    bundle.write_run(collector.run_record(True, status) | ({"notes": notes} if notes else {}))
    collector.tree.close()
    for said in collector.warnings.last() if collector.warnings else ():  # of the whole log, which is written now
        collector.say(said)


def memory_kill(collector: Collector) -> str:
    """Which process of the job the kernel killed for memory, in words; empty if none is known."""
    killed = [e for e in collector.tree.ends if e.get("signal") == signal.SIGKILL and e["pid"] != collector.root]
    named = ((e["pid"], collector.kernel.killed_name(e["pid"])) for e in killed)
    pid, name = next((told for told in named if told[1]), (0, ""))
    if not pid and killed and any(group["own"] and group["kills"] for group in collector.groups.as_record()):
        pid, name = killed[0]["pid"], killed[0].get("comm", "unknown")
    return f"the kernel killed pid {pid} ({name}) for memory" if pid else ""


def lost_its_reader(status: int, reader_left: bool) -> bool:
    """Did the job end because nobody reads its output any more, as the first command of `... | head` does?"""
    if os.WIFSIGNALED(status):
        return reader_left and os.WTERMSIG(status) == signal.SIGPIPE
    return reader_left and os.WEXITSTATUS(status) == PIPE_STATUS


def was_interrupted(collector: Collector, status: int, interrupted: float) -> bool:
    """Did the user end the job by a key, and nothing else went wrong? `interrupted`: the time of the key, 0 for none.

    A job that was silent for long, or one of whose processes died, may have been interrupted for that: then it is explained.
    """
    by_key = interrupted and time.time() - interrupted < MAX_KEY_TO_END_S
    ended = os.WTERMSIG(status) == signal.SIGINT if os.WIFSIGNALED(status) else os.WEXITSTATUS(status) == INTERRUPTED_STATUS
    if not (by_key and ended) or collector.silence.spell or memory_kill(collector):
        return False
    died = [e for e in collector.tree.ends if e.get("signal")]
    usual = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGPIPE)  # with which a program ends its workers, too
    return all(e["signal"] in usual and e["end"] > interrupted - SIGNALS_APART_S for e in died)
