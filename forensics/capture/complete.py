"""At the end of a capture: complete the bundle, and decide whether the end needs an explanation."""

from __future__ import annotations

import os
import signal
import time

from forensics.capture.account import closing_lines
from forensics.capture.rank_dumps import remove_pipes
from forensics.capture.times import time_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forensics.capture.bundle import Bundle
    from forensics.capture.collector import Collector
    from forensics.capture.joblog import JobLog

MAX_KEY_TO_END_S = 30.0  # chosen by hand: a program that is interrupted writes a checkpoint, or waits for its workers
SIGNALS_APART_S = 1.0  # chosen by hand: a key's signal reaches all processes at once, but this one may be told later
INTERRUPTED_STATUS = 128 + signal.SIGINT  # exit status of a program that handles the signal, as shells do


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
    kernel = [line for line in collector.kernel.finish() if not collector.groups.is_refusal_of_others(line)]
    if kernel:
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


def memory_kill(collector: Collector) -> str:
    """Which process of the job the kernel killed for memory, in words; empty if none is known."""
    killed = [e for e in collector.tree.ends if e.get("signal") == signal.SIGKILL and e["pid"] != collector.root]
    told = next((e for e in killed if collector.kernel.names_killed(e["pid"])), None)
    counted = any(group["own"] and group["kills"] for group in collector.groups.as_record())
    found = told or (killed[0] if killed and counted else None)
    return f"the kernel killed pid {found['pid']} ({found.get('comm', 'unknown')}) for memory" if found else ""


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
