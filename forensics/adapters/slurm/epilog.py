"""At a job's end, report why it ended badly, in a separate process for which neither slurmd nor the job waits.

    Epilog=/etc/slurm/epilog.d/forensics            what `forensics slurm epilog --script` prints
    EpilogSlurmctld=/etc/slurm/epilog.d/forensics   on the controller, for sites that want no work on nodes

An Epilog with an exit status other than 0 drains its node, so no fault in this module may have an effect: the script starts this
program in the background and always ends with 0; `forensics slurm epilog` itself ends with 0, too, as soon as it has forked. As
root it reads the node's logs, and then becomes the job's user irreversibly before it opens any file of the user: a symbolic link
in place of the output leads only where that user may write.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shlex
import stat
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from forensics.adapters.slurm.accounting import Job

EPILOG_TIMEOUT_S = 300  # chosen by hand: of processor time and of clock time: then the kernel or the alarm ends this process
LOCK_WAIT_S = 3600  # chosen by hand: the wait for other epilogs of this node; all its jobs may end at once
MEMORY_BYTES = 4 << 30  # chosen by hand: of address space
ACCOUNTING_WAIT_S = 30.0  # chosen by hand: the wait for the job's end in the accounting; then its records are used as they are
MAX_COMMENT_CHARS = 200  # chosen by hand: a comment is shown in one column of `sacct`
FAULT_PREFIX = "\1"  # before the error of a child process
MAX_APPENDED_BYTES = 8192  # chosen by hand: a report is shorter; no output file grows by more
TASK_EPILOG = "epilog_task"  # the context of a TaskEpilog, to which Slurm does not say how the job ended
HELP = """usage: forensics slurm epilog [--append] [--folder DIR] [--comment] [--script]

  --append       add the report to the job's standard output (as Epilog, which runs as root; the job's user writes)
  --folder DIR   write DIR/JOBID.txt and DIR/JOBID.json
  --comment      put the cause into the job's AdminComment
  --script       print the script for slurm.conf's Epilog= or EpilogSlurmctld=, with the options given here
"""


class Options:
    """The options of the command line. Unknown words are ignored, because an error status would drain the node."""

    def __init__(self, given: Sequence[str]) -> None:
        self.append, self.comment, self.script, self.help = (f"--{n}" in given for n in ("append", "comment", "script", "help"))
        self.folder = ""
        for word, following in zip(given, [*given[1:], ""], strict=False):
            if word == "--folder":
                self.folder = following
            elif word.startswith("--folder="):
                self.folder = word.partition("=")[2]
        if not (self.append or self.folder or self.comment):
            self.append = True

    def words(self) -> list[str]:
        """The options as the user types them."""
        found = [f"--{n}" for n in ("append", "comment") if getattr(self, n)]
        return found + (["--folder", self.folder] if self.folder else [])


def main(given: Sequence[str]) -> int:
    """The command; always 0. The calling process continues at once; a child does the work."""
    try:
        options = Options(given)
        if options.script or options.help:
            sys.stdout.write(script(options) if options.script else HELP)
            return 0
        if os.environ.get("SLURM_SCRIPT_CONTEXT") == TASK_EPILOG:
            return 0
        if _detached():
            os._exit(_work(options, os.environ))
    except BaseException:
        return 0
    return 0


def script(options: Options) -> str:
    """A shell script that ends with 0 at once, even if Python or this package is gone."""
    command = shlex.join([sys.executable, "-P", "-m", "forensics", "slurm", "epilog", *options.words()])
    return f"""#!/bin/sh
# Says why a job ended badly. Works in the background: whatever goes wrong there, the node is not drained.
PATH=${{PATH:-/usr/sbin:/usr/bin:/sbin:/bin}}
export PATH
cd / 2>/dev/null
(setsid {command} </dev/null >/dev/null 2>&1 &) </dev/null >/dev/null 2>&1
exit 0
"""


def _detached() -> bool:
    """Fork; True in the child, which leads a session of its own and has no file of the caller open."""
    if os.fork():  # safe: no thread runs; it ends at once, and this process, which waits for no child, ends soon
        return False
    with contextlib.suppress(OSError):
        os.setsid()
    if os.fork():  # safe: no thread runs; the other one is adopted and reaped by the system
        os._exit(0)  # what slurmd may wait for or end is gone
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    os.closerange(3, 1024)
    return True


def _work(options: Options, env: Mapping[str, str]) -> int:
    """The work in the background. The resource limits are valid for children, too."""
    import signal

    signal.signal(signal.SIGALRM, _too_long)  # safe: of this process in the background, which nobody waits for
    signal.alarm(LOCK_WAIT_S)
    for what, most in ((resource.RLIMIT_CPU, EPILOG_TIMEOUT_S), (resource.RLIMIT_AS, MEMORY_BYTES), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(what, (most, most))
    with contextlib.suppress(OSError):
        os.nice(10)
    job = env.get("SLURM_JOB_ID", "") or env.get("SLURM_JOBID", "")
    if not job:
        return 0
    try:
        held = _lock()
        signal.alarm(EPILOG_TIMEOUT_S)
        _report(job, options, env)
        del held
    except Exception as error:
        _note(options.folder, job, f"{type(error).__name__}: {error}")
    return 0


def _too_long(_number: int, _frame: object) -> None:
    raise TimeoutError(f"not done within {EPILOG_TIMEOUT_S} s, or not begun within {LOCK_WAIT_S} s")


def _lock() -> int:
    """Wait for the lock of this machine, because a node's jobs may all end at once; returns the locked file."""
    import fcntl
    import tempfile

    folder = "/run" if os.getuid() == 0 and os.path.isdir("/run") else tempfile.gettempdir()  # noqa: PTH112
    path = f"{folder}/forensics-epilog-{os.getuid()}.lock"
    held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    fcntl.flock(held, fcntl.LOCK_EX)
    return held


def _report(job: str, options: Options, env: Mapping[str, str]) -> None:
    """Gather the node's logs as this user, analyse as the job's user, and write the report to the requested places."""
    import tempfile
    from pathlib import Path

    from forensics.adapters.slurm import evidence, node

    rows = _accounted(job)
    uid = int(env.get("SLURM_JOB_UID") or os.getuid())
    with tempfile.TemporaryDirectory(prefix="forensics-") as folder:
        ours = Path(folder)
        mine = tuple(j for j in rows.jobs if j["JobIDRaw"] == job) or rows.concerned  # of an array the task that ended here
        evidence.write(ours, node.node_logs(mine, []))
        if os.getuid() == 0:
            for path in (ours, *ours.iterdir()):
                os.chown(path, uid, -1)
        asked = mine[0].id if mine else job
        said = _as_user(uid, lambda: _answered(asked, ours, options, env))
        text, document, line = (*said.split("\0"), "", "", "")[:3]
        if text and options.folder:
            target = Path(options.folder)
            target.mkdir(parents=True, exist_ok=True)
            for name, content in ((f"{job}.txt", text), (f"{job}.json", document)):
                handle, new = tempfile.mkstemp(dir=target, prefix=".forensics-")  # no name that a user may have taken before
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(content)
                os.chmod(new, 0o644)  # noqa: PTH101
                Path(new).replace(target / name)
        if line and options.comment:
            _comment(job, line)


def _accounted(job: str) -> Job:
    """The job in the accounting, as soon as that has its end."""
    from forensics.adapters.slurm import accounting

    until = time.monotonic() + ACCOUNTING_WAIT_S
    while True:
        rows = accounting.read_accounting(accounting.run_sacct(job).text, job)
        mine = [j for j in rows.jobs if j["JobIDRaw"] == job] or rows.jobs
        if (mine and all(j.end_known for j in mine)) or time.monotonic() > until:
            return rows
        time.sleep(1.0)


def _as_user(uid: int, work: Callable[[], str]) -> str:
    """The result of `work` in a process that has become the user `uid`; raises RuntimeError if it fails."""
    import signal

    heard, said = os.pipe()
    pid = os.fork()  # safe: no thread runs; the child leaves by _exit, whatever happens in it, and its alarm ends it
    if pid == 0:
        os.close(heard)
        signal.alarm(EPILOG_TIMEOUT_S)
        try:
            become_user(uid)
            result = work()
        except BaseException as error:
            result = f"{FAULT_PREFIX}{type(error).__name__}: {error}"
        try:
            with os.fdopen(said, "w", encoding="utf-8", errors="replace") as out:
                out.write(result)
        finally:
            os._exit(0)
    os.close(said)
    with os.fdopen(heard, encoding="utf-8", errors="replace") as answered:
        text = answered.read()
    os.waitpid(pid, 0)  # safe: this child alone; it has closed its end of the pipe and ends
    if text.startswith(FAULT_PREFIX):
        raise RuntimeError(text.removeprefix(FAULT_PREFIX))
    return text


def become_user(uid: int) -> None:
    """Take the identity, groups and home of a user, irreversibly. Raises OSError if that is refused."""
    import pwd

    if os.getuid() != 0 or uid == 0:
        return
    user = pwd.getpwuid(uid)
    os.initgroups(user.pw_name, user.pw_gid)
    os.setgid(user.pw_gid)
    os.setuid(uid)
    for name in [n for n in os.environ if n.startswith("XDG_")]:
        del os.environ[name]
    os.environ |= {"HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name}


def _answered(job: str, ours: Path, options: Options, env: Mapping[str, str]) -> str:
    """The report as text, as JSON, and its cause in a line, with a NUL between them; empty after a good end."""
    from forensics.adapters.slurm import evidence
    from forensics.report.short import cut_to

    asked = evidence.gather_evidence(job, ours, logs=False)
    if not asked.job.went_wrong:
        return ""
    found = evidence.answer_from_evidence(job, asked, ours)
    said = "".join(f"{line}\n" for line in found.sentences)
    text = f"{said}\n{found.report.to_text()}"
    if options.append:
        places = [env["SLURM_JOB_STDOUT"]] if env.get("SLURM_JOB_STDOUT") else [p for p in asked.paths if p.startswith("/")]
        for path in places[:1]:
            append(path, f"\n{evidence.EPILOG_FIRST_LINE}\n\n{cut_to(text, MAX_APPENDED_BYTES)}")
    first = found.report.causes[0]
    return "\0".join((text, found.report.to_json(), f"{first.id} {first.probability:.0%}: {first.summary}"))


def append(path: str, text: str) -> None:
    """Append to an existing plain file; raises OSError if this user may not. Root never follows a link of the user here, because
    `become_user` was called first."""
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        if stat.S_ISREG(os.fstat(fd).st_mode):
            os.write(fd, text.encode("utf-8", "replace"))
    finally:
        os.close(fd)


def _comment(job: str, line: str) -> None:
    """Write the comment into the accounting; the controller accepts a comment only while the job ends."""
    from forensics.adapters.slurm import accounting

    text = "".join(c for c in line if c.isprintable() and c not in "'\"\\")[:MAX_COMMENT_CHARS]
    accounting.run_program(["sacctmgr", "-i", "modify", "job", "where", f"jobid={job}", "set", f"AdminComment={text}"])


def _note(folder: str, job: str, fault: str) -> None:
    """Write a fault of this program to the folder of the reports, and nowhere else."""
    if folder:
        from pathlib import Path

        with contextlib.suppress(OSError):
            Path(folder, f"{job}.fault").write_text(fault + "\n", encoding="utf-8")
