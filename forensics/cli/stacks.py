"""`forensics stacks PID`, `forensics stacks --job ID`: where the processes of a running job stand now."""

import os
import stat
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.common import Output
from forensics.cli.output import say, write
from forensics.core.errors import SourceError, UsageError, files_at
from forensics.core.text import with_noun

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.adapters.launchers import Answers
    from forensics.model.stacks import LiveHost


def stacks(
    pid: Annotated[int | None, typer.Argument(min=1, help="A process of this host: the launcher, or one rank.")] = None,
    by_pid: Annotated[int | None, typer.Option("--pid", min=1, help="The same as PID, as other commands take it.")] = None,
    job: Annotated[str | None, typer.Option(help="A Slurm job by number, a Kubernetes job or pod by name.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    save: Annotated[Path | None, typer.Option(help="A folder for the stacks, which `forensics ranks` reads.")] = None,
    output: Output = None,
) -> None:
    """Show where all processes of a running job are now; those at the same place are grouped.

    \b
    Examples:
      forensics stacks 4711
      forensics stacks --job 4711
      forensics stacks 4711 > rank0.txt
      forensics stacks 4711 --save stacks

    \b
    A file of it has the whole stacks, too, as -o /dev/stdout, and `forensics ranks FOLDER` reads it.
    It does the job no harm: py-spy reads without pausing it. Without py-spy, the kernel tells in which
    system call each process waits. A job on several hosts is asked by srun or kubectl, if they are here.
    """
    from forensics.adapters import launchers
    from forensics.ranks.doing import standings
    from forensics.report.ranks import stacks_json, stacks_text

    pid = by_pid if pid is None else pid
    if (pid is None) == (job is None):
        raise UsageError("give a pid or --job ID, one of them", advice="forensics stacks 4711")
    found = launchers.of_process(pid) if pid is not None else launchers.of_job(job or "")
    for note in _notes(found):
        say(f"forensics: note: {note}")
    if not any(host.processes for host in found.hosts):
        raise SourceError("no process of it runs", str(pid or job), "give the pid of one of its processes")
    places = standings(found.hosts)
    if save is not None:
        say(f"forensics: {_save(found.hosts, save)}")
    text = stacks_json(found.hosts, places) if json else stacks_text(found.hosts, places)
    if not json and save is None and (output is not None or _is_file()):  # a file of it is read by `forensics ranks`
        text = "\n".join([text, *(f"{whole.rstrip()}\n" for _, whole in _whole_stacks(found.hosts))])
    write(text, output)


def _is_file() -> bool:
    """Does standard output go to a file?"""
    try:
        return stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):  # it is closed, or none of the system's
        return False


def _notes(found: "Answers") -> "Iterator[str]":
    """What was not seen, and why."""
    yield from found.notes
    for host in found.hosts:
        if host.processes and not host.py_spy:
            yield f"{host.host}: no stacks, because py-spy is not installed: pip install py-spy"
        elif host.refused:
            yield f"{host.host}: some stacks are missing ({host.refused}); root may read all"
        if host.left_out:
            yield f"{host.host}: {host.left_out} more processes were left out"


def _save(hosts: "tuple[LiveHost, ...]", folder: Path) -> str:
    """Write a file for each process, as `forensics run` does. Returns what was saved, in words."""
    from forensics.capture.stacks import free_path

    made = [*_whole_stacks(hosts)]
    if not made:
        return f"nothing was saved in {folder}: no process has a stack"
    with files_at(folder, "the stacks could not be written there"):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in made:
            Path(free_path(str(folder), name)).write_text(text, encoding="utf-8")
    return f"the stacks of {with_noun(len(made), 'process', 'processes')} were saved in {folder}"


def _whole_stacks(hosts: "tuple[LiveHost, ...]") -> "Iterator[tuple[str, str]]":
    """The name and the stacks of each process, as `forensics ranks` reads them. Command lines lose their secrets."""
    import socket

    from forensics.capture.proc import child_numbers
    from forensics.capture.source_lines import lines_of_spy
    from forensics.capture.stacks import rank_or_child, stacks_head
    from forensics.capture.times import time_text
    from forensics.report.redaction.lines import masked_text

    moment = time_text(time.time())
    for host in hosts:
        children = child_numbers((one.pid, one.ppid, one.command) for one in sorted(host.processes, key=lambda p: p.pid))
        children |= {one.pid: (one.number, one.ppid) for one in host.processes if one.number is not None}
        for one in (p for p in host.processes if p.text):
            rank = "" if one.rank is None else str(one.rank)
            whose = rank_or_child(rank, children.get(one.pid), host.host)
            head = stacks_head(one.pid, one.comm, whose, moment, (one.call, one.file))
            told = lines_of_spy(one.text, one.pid) if host.host == socket.gethostname() else []
            name = f"{''.join(c if c.isalnum() or c in '.-' else '_' for c in host.host)}-{one.pid}"
            yield name, masked_text("\n".join([head, *told, one.text]))
