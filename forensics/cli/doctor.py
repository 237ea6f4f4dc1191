"""`forensics doctor`: what this machine lets an analysis read, each with the one command that mends what is missing.

Check("ptrace", "limited", "scope 1: only child processes", "stacks of processes that were not started under forensics run",
      "sudo sysctl -w kernel.yama.ptrace_scope=0")

Nothing is changed, no right is needed, and no program that is asked may take longer than ASK_S; all are asked at the same time.
"""

import ctypes
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from forensics.cli.output import write
from forensics.version import DISTRIBUTION, VERSION

ASK_S = 2.0  # chosen by hand: a program that answers later is of no use while a job dies
TIME_STATUS_BYTES = 512  # chosen by hand: more than the kernel's `struct timex` on any machine
CLOCK_UNSYNCHRONISED = 5  # TIME_ERROR of adjtimex(2)

# module -> what is lacking without it, and the packages that bring it
EXTRA_MODULES = {
    "pynvml": ("memory, temperature and errors of GPUs in a captured run", "nvidia-ml-py"),
    "sqlalchemy": ("--remember and forensics history", "sqlalchemy pyarrow"),
    "matplotlib": ("pictures of forensics series --plot", "matplotlib"),
    "jupyter_server": ("the message in a notebook whose kernel died", "jupyter-server jupyter-client ipykernel"),
    "mcp": ("forensics mcp", "mcp"),
    "distributed": ("forensics fleet", "distributed fsspec pyarrow sqlalchemy"),
}


def install_command(packages: str) -> str:
    """The command that installs `packages` where this program is: another environment's pip would not bring them to it."""
    if "pipx" in Path(sys.prefix).parts:
        return f"pipx inject {DISTRIBUTION} {packages}"
    interpreter = shlex.quote(sys.executable)
    return f"{interpreter} -m pip install {packages}" if find_spec("pip") else f"uv pip install --python {interpreter} {packages}"


class Check(NamedTuple):
    """One thing that was looked at. `lacks`: what reports lack because of it. `mend`: one command; empty if none is needed."""

    name: str
    state: str  # ok, limited, missing, or absent: there is nothing of it on this machine, so nothing to mend
    found: str
    lacks: str = ""
    mend: str = ""
    took_ms: int = 0


def checked() -> list[Check]:
    """All checks, in a fixed order; a check that fails is one that says so."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(CHECKS)) as pool:
        return list(pool.map(_timed, CHECKS.items()))


def _timed(named: tuple[str, tuple[Callable[[], Check], str]]) -> Check:
    start, (name, (check, lacks)) = time.monotonic(), named
    try:
        found = check()
    except Exception as error:  # one check that fails says so, the others go on
        found = _limited(f"could not be checked: {type(error).__name__}")._replace(lacks="what it tells")
    mend = found.mend.removeprefix("sudo ") if os.geteuid() == 0 else found.mend
    lacks = found.lacks or (lacks if found.state in ("limited", "missing") else "")
    return found._replace(name=name, lacks=lacks, mend=mend, took_ms=round(1000 * (time.monotonic() - start)))


def _ok(found: str) -> Check:
    return Check("", "ok", found)


def _absent(found: str) -> Check:
    return Check("", "absent", found)


def _limited(found: str, mend: str = "") -> Check:
    return Check("", "limited", found, mend=mend)


def _missing(found: str, mend: str) -> Check:
    return Check("", "missing", found, mend=mend)


def _ask(*command: str) -> tuple[str, str]:
    """The first line that a program prints, and why it did not answer; both in one line."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=ASK_S, check=False, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        return "", "not installed"
    except (OSError, subprocess.SubprocessError) as error:
        return "", f"no answer within {ASK_S:.0f} s" if isinstance(error, subprocess.TimeoutExpired) else str(error)
    said = [stream.decode("utf-8", "replace").strip().split("\n")[-1] for stream in (done.stdout, done.stderr)]
    return (said[0], "") if done.returncode == 0 else ("", said[1] or f"exit status {done.returncode}")


def _versions() -> Check:
    python, system = ".".join(map(str, sys.version_info[:3])), os.uname()
    return _ok(f"{DISTRIBUTION} {VERSION}, Python {python}, {system.sysname} {system.release}")


def _kernel_log() -> Check:
    try:
        os.close(os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK))
        return _ok("/dev/kmsg may be read while a job runs")
    except OSError as error:
        line, refused = _ask("dmesg")
        if line:
            return _ok("dmesg may be read after a death")
        return _missing(f"{refused or error.strerror}", "sudo sysctl -w kernel.dmesg_restrict=0")


def _journal() -> Check:
    line, refused = _ask("journalctl", "--quiet", "--no-pager", "-n", "1", "-k")
    if refused == "not installed":
        return _absent("no systemd journal here")
    if not line and not refused and os.geteuid() == 0:
        return _absent("it has no lines of the kernel")
    mend = 'sudo usermod -aG systemd-journal "$USER"'
    return _ok("may be read") if line else _missing(refused or "nothing may be read", mend)


def _cgroup() -> Check:
    from forensics.capture.cgroups import mounts

    version = min((m.version for m in mounts()), default=0)  # where both are mounted, version 1 counts memory
    if version == 2:
        return _ok("version 2: limits, peaks and kills of each group are counted")
    if version == 1:
        told = _limited("version 1: it does not report pressure, as version 2 does after a boot with it")
        return told._replace(lacks="how long tasks waited for memory in a group")
    return _missing("no cgroup file system is mounted", "mount | grep cgroup")


def _ptrace() -> Check:
    try:
        scope = int(Path("/proc/sys/kernel/yama/ptrace_scope").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return _ok("no restriction: processes of the same user may be traced")
    if not scope or (os.geteuid() == 0 and scope < 3):
        return _ok(f"scope {scope}: may be used")
    words = {1: "only child processes", 2: "only with CAP_SYS_PTRACE"}.get(scope, "switched off until the next boot")
    return _limited(f"scope {scope}: {words}", "sudo sysctl -w kernel.yama.ptrace_scope=0")


def _py_spy() -> Check:
    from forensics.capture.live_stacks import py_spy_path

    path = py_spy_path([])
    return _ok(path) if path else _missing("not installed", install_command("py-spy"))


def _gpu() -> Check:
    line, refused = _ask("nvidia-smi", "-L")
    if refused == "not installed":
        return _absent("no NVIDIA driver here")
    return _ok(line) if line else _missing(refused, "nvidia-smi")


def _slurm() -> Check:
    version, refused = _ask("sacct", "--version")
    if refused == "not installed":
        return _absent("no sacct here")
    _, refused = _ask("sacct", "-n", "-X", "-S", "now-1minutes")
    return _missing(refused, "sacct -n -X") if refused else _ok(f"{version}: sacct answers")


def _kubectl() -> Check:
    context, refused = _ask("kubectl", "config", "current-context")
    if refused == "not installed":
        return _absent("no kubectl here")
    if context:
        return _ok(f"context {context}")
    known, unknown = _ask("kubectl", "config", "get-contexts", "-o", "name")
    if not known and not unknown:
        return _absent("no cluster is set up here")
    return _missing(refused, f"kubectl config use-context {known or 'NAME'}")


def _clock() -> Check:
    zone = f"local times are {time.strftime('%Z (UTC%z)')}"
    status = ctypes.create_string_buffer(TIME_STATUS_BYTES)
    try:
        unsure = ctypes.CDLL(None).adjtimex(status) == CLOCK_UNSYNCHRONISED
    except (OSError, AttributeError):
        return _ok(zone)
    if unsure:
        return _limited(f"{zone}; the clock is not synchronised", "sudo timedatectl set-ntp true")
    return _ok(f"{zone}; synchronised")


def _core_dumps() -> Check:
    import resource

    pattern = Path("/proc/sys/kernel/core_pattern").read_text(encoding="utf-8").strip()
    limit = resource.getrlimit(resource.RLIMIT_CORE)[0]
    if pattern.startswith("|") or limit:
        return _ok(f"kept: {pattern[:60]}")
    return _limited("none are kept: ulimit -c is 0", "ulimit -c unlimited")


def _is_installed(package: str) -> bool:
    try:
        return bool(distribution(package))
    except PackageNotFoundError:
        return False


def _extra_packages() -> Check:
    """The packages that single commands need: one that is not there lacks only where its device is."""
    gone = {module: told for module, told in EXTRA_MODULES.items() if find_spec(module) is None}
    if not gone:
        return _ok("all are installed")
    if "pynvml" in gone and shutil.which("nvidia-smi"):
        lacks, package = gone["pynvml"]
        return _missing(package, install_command(package))._replace(lacks=lacks)
    each = (f"{lacks} ({' '.join(p for p in packages.split() if not _is_installed(p))})" for lacks, packages in gone.values())
    return _absent(f"only for {'; '.join(each)}")._replace(mend=install_command("PACKAGE"))


def _is_writable(folder: Path) -> bool:
    """May it be written to, or be made?"""
    return os.access(next(p for p in (folder, *folder.parents) if p.exists()), os.W_OK)


def _cache() -> Check:
    from forensics.config import config
    from forensics.data_files import cache

    folder = cache.folder(config().cache)
    if _is_writable(folder):
        return _ok(str(folder))
    return _missing(f"{folder} cannot be written", "export FORENSICS_CACHE=/tmp/forensics")


def _runs() -> Check:
    from forensics.capture.bundle import newest_first, state_folder
    from forensics.cli.output import capture_settings

    capture_settings()
    folder = Path(state_folder())
    free = shutil.disk_usage(next(p for p in (folder, *folder.parents) if p.exists())).free
    if _is_writable(folder):
        return _ok(f"{len(newest_first())} in {folder}, {free / 2**30:.1f} GiB are free")
    return _missing(f"{folder} cannot be written", "export FORENSICS_RUNS=/tmp/runs")


# name -> the check, and what reports lack where it finds too little
CHECKS: dict[str, tuple[Callable[[], Check], str]] = {
    "versions": (_versions, ""),
    "kernel log": (
        _kernel_log,
        "kills by the kernel, GPU errors, segfaults and disk errors: they explain most deaths without a message",
    ),
    "journal": (_journal, "what the kernel and services said before the last boot"),
    "cgroup": (_cgroup, "the memory limit of a job, and how often it was hit"),
    "ptrace": (_ptrace, "stacks of processes that hang and were not started under forensics run"),
    "py-spy": (_py_spy, "stacks of a job that hangs (forensics run --stall)"),
    "nvidia-smi": (_gpu, "the state of GPUs"),
    "slurm": (_slurm, "states, exit codes and memory of Slurm jobs"),
    "kubectl": (_kubectl, "states, events and earlier logs of pods"),
    "clock": (_clock, "the order of events of several machines: their clocks may differ"),
    "core dumps": (_core_dumps, "a file by which a debugger shows where native code crashed; an analysis reads none"),
    "extras": (_extra_packages, ""),
    "cache": (_cache, "0.2 to 8 s of each start"),
    "captured runs": (_runs, "everything of forensics run"),
}


MARKS = {"ok": "ok", "limited": "partly", "missing": "missing", "absent": "-"}


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of objects instead of a table.")] = False,
) -> None:
    """Show what an analysis can read on this machine, what reports lack without it, and the command that fixes it.

    \b
    Examples:
      forensics doctor
      forensics doctor --json | jq '.[] | select(.state == "missing")'

    Needs no right, changes nothing, asks no network, and takes a few seconds at most. Exit status: always 0.
    """
    from forensics.report.escape import json_text

    found = checked()
    if as_json:
        write(json_text([check._asdict() for check in found], 2), None)
        return
    width = max(len(check.name) for check in found)
    lines: list[str] = []
    for check in found:
        lines.append(f"{check.name:<{width}}  {MARKS[check.state]:<7}  {check.found}")
        lines += [f"{'':<{width}}           without it: {check.lacks}"] if check.lacks else []
        lines += [f"{'':<{width}}           $ {check.mend}"] if check.mend else []
    write("\n".join(lines) + "\n", None)
