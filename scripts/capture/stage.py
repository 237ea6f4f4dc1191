"""A stage: a private view of this machine in which a failure is made to happen.

Every victim runs in mount, host-name and network namespaces of its own, as the unprivileged user `user` on `node-1`,
with its home at /home/user and nothing but loopback. So logs are born without this machine's names and paths, and a
failure that asks for it (a full disk, a small /dev/shm, a memory limit) is felt by the victim alone. Needs root and
util-linux.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
CGROUPS = Path("/sys/fs/cgroup/memory")
CGROUPS_V2 = Path("/sys/fs/cgroup/unified")  # without controllers, but its groups have the files of pressure
PACKAGES = (
    "torch==2.13.0",
    "numpy",
    "jupyter_server",
    "ipykernel",
    "nbclient",
    "papermill",
    "tqdm",
    "psutil",
    "distributed",
    "gunicorn",
    "uvicorn",
    "mpi4py",
)
TENSORFLOW = ("tensorflow-cpu==2.21.0", "keras==3.15.1", "pandas", "opencv-python-headless")
JAX = ("jax==0.10.2", "jaxlib==0.10.2", "flax", "optax")
RANKS = ("torch==2.13.0", "numpy")
VENVS = {"venv": PACKAGES, "venv_tensorflow": TENSORFLOW, "venv_jax": JAX, "venv_ranks": RANKS}
UID = 1000
MIB = 1 << 20
_STAMP = re.compile(r"^\[ *(\d+\.\d+)\]")
# The virtual machine's own housekeeping; none of it is part of a failure.
_HOUSEKEEPING = re.compile(r"drop_caches:|page_reporting")


@dataclass
class Stage:
    """One case's folders and what its namespaces look like.

    `memory_limit` (bytes) puts the victim into a memory cgroup of its own called `cgroup`; `mounts` are shell lines run
    as root before the victim starts. `venv`, one of VENVS, is what the victim sees as /home/user/venv. `swap` (bytes) is
    what it may hold beyond `memory_limit` in the machine's swap space. `pressure`: the kernel also writes how long the victim
    waited, to /sys/fs/cgroup/unified/`cgroup`/memory.pressure.
    """

    work: Path
    name: str
    memory_limit: int | None = None
    cgroup: str = "train"
    mounts: list[str] = field(default_factory=list)
    network: bool = False
    venv: str = "venv"
    swap: int | None = None
    pressure: bool = False

    @property
    def home(self) -> Path:
        """Outside name of the victim's /home/user."""
        return self.work / "cases" / self.name / "user"

    @property
    def run_dir(self) -> Path:
        """Outside name of the victim's working folder, /home/user/run."""
        return self.home / "run"

    def prepare(self, *programs: str) -> None:
        """Make the folders anew and copy `programs` (file names under programs/) into the working folder."""
        shutil.rmtree(self.home.parent, ignore_errors=True)
        for folder in (self.run_dir, self.home / "venv", self.home / "python", self.work / "cases" / self.name / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)
        for program in programs:
            shutil.copy(PROGRAMS / program, self.run_dir / program)
        self._own()

    def write(self, name: str, text: str) -> None:
        """Write a file into the working folder."""
        path = self.run_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self._own()

    def read(self, name: str) -> str:
        """Read a file of the working folder."""
        return (self.run_dir / name).read_text(errors="replace")

    def run(
        self,
        script: str,
        *,
        timeout: float = 240,
        meanwhile: Callable[[subprocess.Popen[bytes]], None] | None = None,
    ) -> str:
        """Run `script` as job.sh of the working folder and return its stdout and stderr as one text.

        `meanwhile` is called once the job has started: it may wait for a file of the job and send it a signal.
        """
        self.write("job.sh", "#!/bin/bash\n" + script.strip() + "\n")
        with self._cgroup() as procs, (self.home.parent / "output.log").open("w+b") as output:
            job = subprocess.Popen(self._command(procs), stdout=output, stderr=output, start_new_session=True)
            try:
                if meanwhile:
                    meanwhile(job)
                job.wait(timeout)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(job.pid, signal.SIGKILL)
            job.wait()
            output.seek(0)
            return output.read().decode(errors="replace")

    def output_of(
        self,
        script: str,
        *programs: str,
        files: Mapping[str, str] | None = None,
        meanwhile: Callable[[subprocess.Popen[bytes]], None] | None = None,
    ) -> str:
        """Prepare the stage with `programs` and `files` (name: text), then `run(script)`."""
        self.prepare(*programs)
        for name, text in (files or {}).items():
            self.write(name, text)
        return self.run(script, meanwhile=meanwhile)

    def wait_for(self, name: str, text: str = "", timeout: float = 90) -> str:
        """Wait until the working folder's file `name` exists and contains `text`; returns its content."""
        path, end = self.run_dir / name, time.monotonic() + timeout
        while time.monotonic() < end:
            if path.exists() and text in (content := path.read_text(errors="replace")) and content:
                return content
            time.sleep(0.05)
        raise TimeoutError(f"{name} did not say {text!r} within {timeout} s")

    def _own(self) -> None:
        subprocess.run(["chown", "-R", f"{UID}:{UID}", str(self.home.parent)], check=True)

    def _command(self, procs: Sequence[Path]) -> list[str]:
        """The command line that enters the namespaces, mounts what the stage needs, and becomes the job."""
        base, quote = Path(sys.base_prefix), shlex.quote
        etc = self.work / "etc"
        lines = ["set -e"]
        lines += [f"echo $$ > {quote(str(file))}" for file in procs]
        lines += [
            f"mount --bind {quote(str(self.home.parent))} /home",
            f"mount --bind {quote(str(self.work / self.venv))} /home/user/venv",
            f"mount --bind {quote(str(base))} /home/user/python",
            *(f"mount --bind {quote(str(etc / name))} /etc/{name}" for name in ("hosts", "passwd")),
            *self.mounts,
            "hostname node-1",
            "" if self.network else "ip link set lo up",
            "mount --bind /home/tmp /tmp",
            "cd /home/user/run",
            f"exec setpriv --reuid={UID} --regid={UID} --clear-groups env -i HOME=/home/user USER=user LOGNAME=user"
            " LD_LIBRARY_PATH=/home/user/python/lib PATH=/home/user/venv/bin:/usr/bin:/bin LANG=C.UTF-8"
            " TERM=dumb PYTHONUNBUFFERED=1"
            " bash job.sh",
        ]
        return ["unshare", "-m", "-u", *([] if self.network else ["-n"]), "bash", "-c", "\n".join(lines)]

    @contextlib.contextmanager
    def _cgroup(self) -> Iterator[list[Path]]:
        """The files that put a process into the stage's own cgroups, which are removed afterwards; none without a limit."""
        if self.memory_limit is None:
            yield []
            return
        folder = CGROUPS / self.cgroup
        folders = [folder, CGROUPS_V2 / self.cgroup] if self.pressure else [folder]
        for one in folders:
            one.mkdir()
        try:
            (folder / "memory.limit_in_bytes").write_text(str(self.memory_limit))
            if self.swap is not None:
                (folder / "memory.memsw.limit_in_bytes").write_text(str(self.memory_limit + self.swap))
            yield [one / "cgroup.procs" for one in folders]
        finally:
            for one in folders:
                _remove(one)


def _remove(folder: Path) -> None:
    """Kill what still runs in a cgroup, and remove the cgroup."""
    for _ in range(100):
        for pid in (folder / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        with contextlib.suppress(OSError):
            folder.rmdir()
            break
        time.sleep(0.1)


def make_venv(work: Path, name: str = "venv") -> None:
    """Lay the files every stage mounts and install the packages of one of VENVS."""
    packages = VENVS[name]
    etc = work / "etc"
    etc.mkdir(parents=True, exist_ok=True)
    (etc / "hosts").write_text("127.0.0.1 node-1 localhost\n")
    (etc / "passwd").write_text(f"root:x:0:0:root:/root:/bin/bash\nuser:x:{UID}:{UID}::/home/user:/bin/bash\n")
    (work / name).mkdir(exist_ok=True)
    mark, wanted = work / name / "packages.txt", "\n".join(packages)
    if mark.exists() and mark.read_text() == wanted:
        return
    subprocess.run(["chown", f"{UID}:{UID}", str(work / name)], check=True)
    stage = Stage(work, "make-venv", network=True, venv=name)
    stage.prepare()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    output = stage.run(
        f"set -e\n/home/user/python/bin/python{version} -m venv /home/user/venv\n"
        f"pip install --quiet {shlex.join(packages)} && echo INSTALLED",
        timeout=1200,
    )
    if "INSTALLED" not in output:
        raise RuntimeError(f"the packages could not be installed:\n{output[-2000:]}")
    mark.write_text(wanted)


class KernelLog:
    """What the kernel logged between this object's making and `lines()`: a slice of dmesg, plain and with -T."""

    def __init__(self) -> None:
        self.since = _stamps(_dmesg())[-1]

    def lines(self, *options: str) -> str:
        """The interval's lines as `dmesg OPTIONS` prints them (`-T` for wall-clock times)."""
        time.sleep(0.5)
        stamps = _stamps(_dmesg())
        count = sum(stamp > self.since for stamp in stamps)
        text = [line for line in _dmesg(*options)[-count:] if not _HOUSEKEEPING.search(line)] if count else []
        return "".join(line + "\n" for line in text)


def _dmesg(*options: str) -> list[str]:
    return subprocess.run(["dmesg", *options], check=True, capture_output=True, text=True).stdout.splitlines()


def _stamps(lines: Sequence[str]) -> list[float]:
    found = (_STAMP.match(line) for line in lines)
    return [float(match[1]) if match else 0.0 for match in found]
