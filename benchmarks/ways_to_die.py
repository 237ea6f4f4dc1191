"""The ways to die of `captured_deaths`: programs that end badly, what ends them, and the causes that are right.

Each way is a name, a command, the causes that are right as first answer, and what happens to it from outside. Programs are Python
or C, with nothing but a standard library, so that they run under any interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

MIB = 1 << 20
OOM, DAEMON, LIMIT, USER = "host_memory.oom_cgroup", "host_memory.oom_daemon", "stopped.time_limit", "stopped.user"
WORKER, RESOURCE, STALL = "process.worker_died", "process.resource_limit", "process.stalled"

TRAIN = """
import time, sys
def steps(n, pause=0.02, grow=0):
    held = []
    for i in range(n):
        if grow: held.append(bytearray(grow << 20))
        if i % 5 == 0: print(f"step {i} loss {1/(i+1):.3f}", flush=True)
        time.sleep(pause)
    return held
"""
GROW = TRAIN + "steps(400, 0.01, 2)\nprint('done')"
LONG = TRAIN + "steps(2000, 0.02)"
POOL = (
    TRAIN
    + """
import multiprocessing as mp
def work(q, grow, pause, act):
    held = []
    for i in range(10**6):
        if grow: held.append(bytearray(grow << 20))
        if act: exec(act)
        time.sleep(pause)
def main(grow, act="", message="DataLoader worker (pid {}) exited unexpectedly"):
    made = [mp.Process(target=work, args=(None, grow if k == 1 else 0, 0.01, act if k == 1 else "")) for k in range(3)]
    for p in made: p.start()
    print("workers", [p.pid for p in made], flush=True)
    while all(p.is_alive() for p in made): steps(1)
    dead = next(p for p in made if not p.is_alive())
    for p in made: p.terminate()
    raise RuntimeError(message.format(dead.pid))
"""
)
LAUNCH = """
import os, signal, subprocess, sys, time
code = sys.argv[1]
ranks = [subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "RANK": str(r), "LOCAL_RANK": str(r), "WORLD_SIZE": "3"}) for r in range(3)]
print("launcher: ranks", [p.pid for p in ranks], flush=True)
while all(p.poll() is None for p in ranks): time.sleep(0.02)
bad = next(p for p in ranks if p.poll() is not None)
print(f"launcher: rank {ranks.index(bad)} (pid {bad.pid}) failed; sending SIGTERM to the others", file=sys.stderr, flush=True)
for p in ranks:
    if p.poll() is None: p.terminate()
for p in ranks: p.wait()
sys.exit(1)
"""
RANK = TRAIN + "import os\nr = int(os.environ['RANK'])\n"
KERNEL = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdout=subprocess.DEVNULL)
status = child.wait()
print(f"kernel (pid {child.pid}) died; exit status {status}", file=sys.stderr, flush=True)
sys.exit(1)
"""
DEADLOCK = (
    TRAIN
    + """
import threading
a, b = threading.Lock(), threading.Lock()
def one():
    with a:
        time.sleep(0.2)
        with b: pass
steps(10)
t = threading.Thread(target=one); t.start()
with b:
    time.sleep(0.2)
    with a: pass
"""
)
NAN = (
    TRAIN
    + """
steps(10)
import math
loss = 1.0
for i in range(10, 20):
    loss = loss * 1e200 if i < 14 else float('nan')
    print(f"step {i} loss {loss}", flush=True)
raise FloatingPointError("loss is nan at step 20")
"""
)


class Way(NamedTuple):
    """`command`: with {python} and {c:NAME} for a compiled program of C. `right`: causes that are right. `outside`: what happens to it.

    `limit_mib`: of the memory group that command and capture run in; 0 for none. `wrap`: in front of the capture. `stall_s`: as
    given to the capture. `terminal`: it runs on a pty, and these keys are typed after a second. `root`: needs rights to set up.
    """

    name: str
    command: list[str]
    right: tuple[str, ...]
    limit_mib: int = 0
    outside: str = ""
    wrap: tuple[str, ...] = ()
    stall_s: float = 0.0
    terminal: bytes = b""
    root: bool = False
    environment: tuple[tuple[str, str], ...] = ()
    pids: int = 0


def py(code: str, *more: str) -> list[str]:
    """The command that runs `code` in Python."""
    return ["{python}", "-u", "-c", code, *more]


def sh(script: str) -> list[str]:
    """The command that runs `script` in a shell."""
    return ["/bin/sh", "-c", script]


def mounted(size: str, where: str) -> tuple[str, ...]:
    """In front of a command: it sees a small file system at `where`, and nobody else does."""
    script = f'mkdir -p {where} && mount -t tmpfs -o size={size},mode=1777 none {where} && exec "$@"'
    return ("unshare", "-m", "/bin/sh", "-c", script, "sh")


C_PROGRAMS = {
    "segv": '#include <stdio.h>\nint main(){puts("step 1");fflush(stdout);*(volatile int*)8=1;}',
    "ill": '#include <stdio.h>\nint main(){puts("step 1");fflush(stdout);__builtin_trap();}',
    "fpe": '#include <stdio.h>\nint main(int c,char**v){puts("step 1");fflush(stdout);volatile int z=c-1;return 7/z;}',
    "assert": '#include <assert.h>\n#include <stdio.h>\nint main(int c,char**v){puts("step 1");fflush(stdout);assert(c==7);}',
    "free": '#include <stdlib.h>\n#include <stdio.h>\nint main(){puts("step 1");fflush(stdout);char*p=malloc(2000);free(p);free(p);}',
    "deep": '#include <stdio.h>\nint f(int n){volatile char b[4096];b[0]=n;return f(n+1)+b[0];}int main(){puts("step 1");fflush(stdout);return f(0);}',
    "fsize": "#include <stdio.h>\nint main(){static char b[65536];FILE*f=tmpfile();for(int i=0;i<1000;i++)fwrite(b,1,65536,f);}",
    "throw": '//c++\n#include <stdexcept>\n#include <cstdio>\nint main(){puts("step 1");fflush(stdout);throw std::runtime_error("bad tensor layout");}',
}

SHM = "import mmap, os\nfd = os.open('/dev/shm/cap-%d' % os.getpid(), os.O_RDWR | os.O_CREAT)\nos.ftruncate(fd, 32 << 20)\nm = mmap.mmap(fd, 32 << 20)\nm[:] = bytes(32 << 20)"
CUT = "import mmap, os\nf = open('/tmp/cap-cut-%d' % os.getpid(), 'w+b'); f.write(bytes(8 << 20)); f.flush()\nm = mmap.mmap(f.fileno(), 8 << 20)\nf.truncate(4096)\nprint(m[5 << 20])"

WAYS: tuple[Way, ...] = (
    # a memory limit
    Way("memory: main process", py(GROW), (OOM,), 120),
    Way("memory: loader worker", py(POOL + "main(3)"), (OOM,), 160),
    Way("memory: one rank of three", py(LAUNCH, RANK + "steps(500, 0.01, 3 if r == 1 else 0)"), (OOM,), 160),
    Way("memory: child of a shell", [*sh('{python} -u -c "$0"; s=$?; echo script went on; exit $s'), GROW], (OOM,), 120),
    Way("memory: end of a pipeline", [*sh('{python} -u -c "$0" | tail -3; exit 1'), GROW], (OOM,), 120),
    Way(
        "memory: files in /dev/shm",
        py(
            TRAIN
            + "import os\nf=open('/dev/shm/cap-%d' % os.getpid(),'wb'); os.unlink(f.name)\nfor i in range(300): f.write(bytes(1<<20)); steps(1, 0.005)"
        ),
        (OOM,),
        90,
    ),
    Way(
        "memory: pool of growing workers",
        py(
            TRAIN
            + "import multiprocessing as mp\nfrom concurrent.futures import ProcessPoolExecutor\ndef grow(n):\n    return len(steps(500, 0.01, 1))\nwith ProcessPoolExecutor(4) as pool: print(list(pool.map(grow, range(8))))"
        ),
        (OOM,),
        200,
    ),
    Way(
        "memory: worker that lives shortly",
        py(TRAIN + "import subprocess\nsteps(20)\nsubprocess.run([sys.executable, '-c', 'x = b\"1\" * (1 << 30)'], check=True)"),
        (OOM,),
        120,
    ),
    Way("memory: notebook kernel", py(KERNEL, GROW), (OOM,), 120),
    Way(
        "memory: retried and then given up",
        py(
            TRAIN
            + "import subprocess\nfor k in range(2):\n    p = subprocess.run([sys.executable, '-c', 'x = []\\nwhile 1: x.append(bytearray(4 << 20))'])\n    print('attempt', k, 'ended with', p.returncode, flush=True)\nsys.exit('giving up')"
        ),
        (OOM,),
        120,
    ),
    Way("memory: while the output goes nowhere", [*sh('exec {python} -c "$0" > /dev/null 2>&1'), GROW], (OOM,), 120),
    # a guard of memory, a scheduler, a supervisor, a person
    Way("guard: earlyoom sends SIGTERM", py(LONG), (DAEMON,), outside="earlyoom TERM"),
    Way("guard: earlyoom sends SIGKILL", py(LONG), (DAEMON,), outside="earlyoom KILL"),
    Way("guard: earlyoom kills a worker", py(POOL + "main(0)"), (DAEMON,), outside="earlyoom KILL worker"),
    Way("time: timeout around it", py(LONG), (LIMIT,), wrap=("timeout", "3")),
    Way("time: timeout inside", ["timeout", "2", *py(LONG)], (LIMIT,)),
    Way("time: timeout -s KILL inside", ["timeout", "-s", "KILL", "2", *py(LONG)], (LIMIT,)),
    Way("time: timeout in a script", [*sh('timeout 2 {python} -u -c "$0"; s=$?; echo status $s; exit $s'), LONG], (LIMIT,)),
    Way("time: the scheduler's, by SIGTERM", py(LONG), (LIMIT,), outside="slurmstepd TERM"),
    Way("time: the scheduler's, by SIGKILL", py(LONG), (LIMIT,), outside="slurmstepd KILL"),
    Way(
        "time: a limit of processor seconds",
        [*sh('ulimit -t 1; exec {python} -u -c "$0"'), TRAIN + "steps(5)\nwhile 1: pass"],
        (LIMIT, RESOURCE),
    ),
    Way("stop: SIGTERM by a supervisor", py(LONG), (USER,), outside="supervisor TERM run"),
    Way("stop: SIGTERM to the program itself", py(LONG), (USER,), outside="bash TERM"),
    Way(
        "stop: SIGTERM, then SIGKILL",
        py("import signal\nsignal.signal(15, signal.SIG_IGN)\n" + LONG),
        (USER,),
        outside="supervisor TERM-KILL",
    ),
    Way("stop: Ctrl-C", py(LONG), (USER,), terminal=b"\x03"),
    Way("stop: Ctrl-\\", py(LONG), (USER,), terminal=b"\x1c"),
    Way("stop: terminal closed", py(LONG), (USER,), terminal=b"close"),
    Way("stop: SIGINT by a script", py(LONG), (USER,), outside="bash INT"),
    Way("stop: kill -9 by hand", py(LONG), (USER, WORKER), outside="bash KILL"),
    Way(
        "stop: kill -9 of a shell's child",
        [*sh('{python} -u -c "$0"; exit $?'), LONG],
        (USER, WORKER),
        outside="bash KILL worker",
    ),
    Way("stop: kill -9 of a worker", py(POOL + "main(0)"), (WORKER, USER), outside="bash KILL worker"),
    Way("stop: kill -9 of a rank", py(LAUNCH, RANK + "steps(2000)"), (WORKER, USER), outside="bash KILL worker"),
    Way(
        "stop: kill -9 of a notebook kernel", py(KERNEL, LONG), (USER, WORKER, "notebook.kernel_died"), outside="bash KILL worker"
    ),
    Way(
        "stop: program asked to save and end",
        py(
            "import signal, sys\ndef end(*_):\n    print('SIGTERM received, saving checkpoint', flush=True)\n    sys.exit(143)\nsignal.signal(15, end)\n"
            + LONG
        ),
        (USER,),
        outside="supervisor TERM run",
    ),
    Way(
        "stop: init of a container killed",
        ["unshare", "--map-root-user", "--pid", "--fork", "--kill-child", *py(LONG)],
        (USER, WORKER),
        outside="bash KILL worker",
    ),
    # crashes of native code
    Way("crash: SIGSEGV", py(TRAIN + "steps(20)\nimport ctypes\nctypes.string_at(0)"), ("process.segfault",)),
    Way(
        "crash: SIGSEGV in a worker",
        py(POOL + "main(0, 'i > 20 and __import__(\"ctypes\").string_at(0)')"),
        ("process.segfault",),
    ),
    Way(
        "crash: SIGSEGV in a rank",
        py(LAUNCH, RANK + "steps(20)\nif r == 2:\n    import ctypes\n    ctypes.string_at(0)\nsteps(2000)"),
        ("process.segfault",),
    ),
    Way("crash: SIGSEGV without a word", ["{c:segv}"], ("process.segfault",)),
    Way("crash: SIGSEGV under a shell", sh("{c:segv}; s=$?; echo cleaning up; exit $s"), ("process.segfault",)),
    Way("crash: stack overflow in C", ["{c:deep}"], ("process.segfault",)),
    Way("crash: SIGBUS, file cut short", py(TRAIN + "steps(10)\n" + CUT), ("process.bus_error",)),
    Way(
        "crash: SIGBUS, /dev/shm full",
        py(TRAIN + "steps(10)\n" + SHM),
        ("host_memory.shm",),
        wrap=mounted("8m", "/dev/shm"),
        root=True,
    ),
    Way("crash: SIGILL", ["{c:ill}"], ("process.illegal_instruction",)),
    Way("crash: SIGFPE", ["{c:fpe}"], ("process.abort",)),
    Way("crash: abort in Python", py(TRAIN + "steps(10)\nimport os\nos.abort()"), ("process.abort",)),
    Way("crash: assertion in C", ["{c:assert}"], ("process.abort",)),
    Way("crash: double free", ["{c:free}"], ("process.abort",)),
    Way("crash: C++ exception", ["{c:throw}"], ("process.abort",)),
    # other limits
    Way(
        "limit: disk full",
        py(TRAIN + "steps(10)\nf = open('/tmp/capmnt/ckpt', 'wb')\nfor i in range(9): f.write(bytes(1 << 20)); f.flush()"),
        ("storage.full",),
        wrap=mounted("2m", "/tmp/capmnt"),
        root=True,
    ),
    Way(
        "limit: file size, Python",
        [
            *sh('ulimit -f 64; exec {python} -u -c "$0"'),
            TRAIN
            + "import tempfile\nsteps(5)\nf = tempfile.TemporaryFile()\nfor i in range(9): f.write(bytes(1 << 20)); f.flush()",
        ],
        (RESOURCE,),
    ),
    Way("limit: file size, C", sh("ulimit -f 64; exec {c:fsize}"), (RESOURCE,)),
    Way(
        "limit: open files",
        [*sh('ulimit -n 40; exec {python} -u -c "$0"'), TRAIN + "steps(5)\nheld = [open('/dev/null') for _ in range(100)]"],
        (RESOURCE,),
    ),
    Way(
        "limit: address space",
        [*sh('ulimit -v 400000; exec {python} -u -c "$0"'), TRAIN + "steps(5)\nx = bytearray(1 << 30)"],
        ("host_memory.alloc_refused",),
    ),
    Way(
        "limit: processes, fork bomb",
        py(
            TRAIN
            + "import os\nsteps(5)\nfor i in range(200):\n    if os.fork() == 0:\n        time.sleep(3)\n        os._exit(0)"
        ),
        (RESOURCE,),
        pids=40,
    ),
    # the program itself
    Way(
        "program: exception",
        py(TRAIN + "steps(10)\nraise ValueError('learning rate must be positive')"),
        ("code.exception", "code.config"),
    ),
    Way("program: module missing", py(TRAIN + "steps(5)\nimport flash_attention_of_mine"), ("code.import",)),
    Way("program: file missing", py(TRAIN + "steps(5)\nopen('/data/imagenet/train/index.json')"), ("data.missing",)),
    Way("program: recursion", py(TRAIN + "steps(5)\ndef f(n): return f(n + 1)\nf(0)"), ("code.exception",)),
    Way("program: index", py(TRAIN + "steps(5)\n[1, 2, 3][7]"), ("code.index",)),
    Way(
        "program: checkpoint damaged",
        py(TRAIN + "import pickle, zipfile, io\nsteps(5)\nzipfile.ZipFile(io.BytesIO(b'PK no zip at all'))"),
        ("data.corrupt",),
    ),
    Way("program: NaN", py(NAN), ("numerics.nan",)),
    Way(
        "program: wrong argument",
        py(
            "import argparse\np = argparse.ArgumentParser('train.py'); p.add_argument('--lr', type=float)\np.parse_args(['--lr', 'fast'])"
        ),
        ("code.config",),
    ),
    Way("start: command not found", ["no-such-trainer", "--lr", "1"], ("code.config", "data.missing")),
    Way("start: not executable", ["/etc/hostname"], ("code.config", "data.missing")),
    # hangs
    Way("hang: deadlock, then SIGTERM", py(DEADLOCK), (STALL, "process.fork_threads"), outside="bash TERM late", stall_s=1.5),
    Way("hang: deadlock, then a time limit", ["timeout", "6", *py(DEADLOCK)], (STALL, "process.fork_threads"), stall_s=1.5),
    Way(
        "hang: rank in a barrier, then Ctrl-C",
        py(LAUNCH, RANK + "steps(10)\nif r == 1: time.sleep(100)\nopen('/dev/null')\ntime.sleep(99)"),
        (STALL,),
        outside="bash INT late",
        stall_s=1.5,
    ),
)
Outside = Callable[[int], None]
