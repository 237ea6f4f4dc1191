"""Do programs behave the same with and without `forensics run`: status, bytes of stdout and stderr, terminal or not?

    python -m benchmarks.captured_transparency [--jobs 4] [--only WORD] [--without-stacks]

More than 200 pairs of a program and a way to connect it: pipes, one pipe for both, a file, /dev/null, standard input closed or at its end, a
terminal. Each is run alone and captured, and every difference is told. Every third one is silent first, so that its stacks are taken
by py-spy, where that is installed.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

TOO_LONG_S = 40
STACKS_EVERY = 3  # pairs
STALL_S, SILENT_S = 0.5, 2.0  # of a program whose stacks are taken: after so much silence, and how long it is silent
SILENT_FIRST = "import os, sys, time; time.sleep(float(sys.argv[1])); os.execvp(sys.argv[2], sys.argv[2:])"


class Program(NamedTuple):
    """A command, and what is typed or piped into it."""

    name: str
    command: list[str]
    typed: bytes = b""
    modes: tuple[str, ...] = ("pipes", "merged", "file", "null", "closed stdin", "terminal")


class Seen(NamedTuple):
    """What the one who started it sees."""

    status: int
    out: str
    err: str


def sh(script: str) -> list[str]:
    """The command that runs `script` in a shell."""
    return ["/bin/sh", "-c", script]


def py(code: str) -> list[str]:
    """The command that runs `code` in Python."""
    return ["/usr/bin/python3", "-c", code]


SIGNALS = (1, 2, 3, 6, 9, 10, 11, 12, 13, 14, 15)
STATE = r"""
import os, signal, sys, resource
status = dict(line.split(':', 1) for line in open('/proc/self/status'))
print([os.isatty(f) if os.path.exists(f'/proc/self/fd/{f}') else None for f in (0, 1, 2)])
print({k: status[k].strip() for k in ('SigBlk', 'SigIgn', 'Umask', 'Groups', 'Uid')})
print(sorted(int(f) for f in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{f}')))
print(resource.getrlimit(resource.RLIMIT_NOFILE), os.nice(0), os.getcwd(), sorted(os.sched_getaffinity(0)))
print(open('/proc/self/oom_score_adj').read())
"""
PROGRAMS = (
    *(Program(f"exit {n}", sh(f"echo out; echo err >&2; exit {n}")) for n in (0, 1, 2, 3, 42, 126, 127, 255)),
    *(Program(f"signal {n}", sh(f"echo out; kill -{n} $$; sleep 5")) for n in SIGNALS),
    Program("state", py(STATE)),
    Program("cat", ["cat"], b"one\ntwo\nthree\n", modes=("pipes", "merged", "file", "null", "closed stdin")),
    Program("cat", ["cat"], b"one\ntwo\n\x04", modes=("terminal",)),
    Program("binary", py("import sys, random; random.seed(1); sys.stdout.buffer.write(random.randbytes(1 << 20))"), modes=("pipes", "merged", "file", "null", "closed stdin")),
    Program("progress", py("import sys, time\nfor i in range(50): sys.stderr.write(f'\\r{i*2:3d} %|' + '#' * i); sys.stderr.flush(); time.sleep(0.005)\nprint()")),
    Program("no line end", sh("printf 'no end'; printf 'nor here' >&2")),
    Program("late child", sh("(sleep 0.5; echo late) & echo now"), modes=("pipes", "merged", "file", "null", "closed stdin")),
    Program("closes its output", sh("echo a; exec 1>&-; echo b 2>/dev/null; exit 4")),
    Program("own handler", py("import signal, os, sys\nsignal.signal(15, lambda *_: sys.exit(9))\nos.kill(os.getpid(), 15)\nsignal.pause()")),
    Program("many lines", sh("seq 1 200000 | sed 's/^/line /'")),
    Program("pool", py("from multiprocessing import Pool\nif __name__ == '__main__':\n    with Pool(3) as p: print(p.map(abs, range(-9, 0)))")),
    Program("traceback", py("def f(): raise ValueError('x')\nf()")),
    Program("waits", sh("sleep 0.3 & sleep 0.2 & wait; echo done")),
    Program("reads a line", sh("read a; echo got \"$a\"; read b; echo got \"$b\""), b"first\nsecond\n"),
    Program("unbuffered both", py("import sys\nfor i in range(300): (sys.stdout if i % 2 else sys.stderr).write(f'{i}\\n')")),
    Program("non-blocking", py("import os, sys\nos.set_blocking(1, False)\nsys.stdout.write('x' * 1000 + '\\n')")),
    Program("big", sh("head -c 200000000 /dev/zero | tr '\\0' 'x'"), modes=("pipes", "merged", "file")),
    Program("reader leaves", sh("yes 2>/dev/null | head -3; yes | (sleep 0.1; exec 0<&-; exit 3)")),
    Program("leads a session", ["setsid", "-w", *sh("echo in; tty; exit 5")], modes=("pipes", "merged", "file", "null", "closed stdin")),
    Program("size of the terminal", sh("stty size; stty -a | head -3"), modes=("terminal",)),
    Program("password", py("import getpass; print('got', len(getpass.getpass('secret: ')))"), b"hunter2\n", modes=("terminal",)),
    Program("input", py("print('hi', input('name? '))"), b"bob\n", modes=("terminal", "pipes")),
    Program("curses", py("import curses\ndef main(w):\n    w.addstr(1, 1, 'hello'); w.refresh(); w.addstr(2, 1, str(w.getch())); w.refresh()\ncurses.wrapper(main)"), b"q", modes=("terminal",)),
    Program("raw keys", py("import sys, tty, os\ntty.setraw(0)\nsys.stdout.write('ready'); sys.stdout.flush()\nprint(repr(os.read(0, 10)))"), b"\x03", modes=("terminal",)),
    Program("interactive shell", ["bash", "--norc", "--noprofile", "-i"], b"PS1='> '\nsleep 0.2 &\nwait\njobs\nexit 6\n", modes=("terminal",)),
    Program("Ctrl-C", py("import time\nprint('ready', flush=True)\ntry: time.sleep(9)\nexcept KeyboardInterrupt: print('stopped'); raise SystemExit(8)"), b"\x03", modes=("terminal",)),
    Program("end of input", py("import sys\nprint('ready', flush=True)\nprint(len(sys.stdin.read()))"), b"abc\n\x04", modes=("terminal",)),
)  # fmt: skip


def silent_first(command: list[str]) -> list[str]:
    """The command line of a Python that sleeps and then becomes `command`."""
    return ["/usr/bin/python3", "-c", SILENT_FIRST, str(SILENT_S), *command]


def captured(command: list[str], folder: str, stacks: bool) -> list[str]:
    """The command line that runs `command` captured; its environment is left as it is. `stacks`: they are taken in a silence."""
    options = {"command": command, "folder": folder, "keep": "always", "report": False, "quiet": True, "environment": False}
    options |= {"stall_s": STALL_S} if stacks else {}
    return [sys.executable, "-P", "-m", "forensics.capture", "run", json.dumps(options)]


def seen(program: Program, mode: str, command: list[str], folder: Path) -> Seen:
    """Run it once."""
    if mode == "terminal":
        return on_terminal(command, program.typed)
    stdin: int | None = subprocess.PIPE
    given: dict[str, object] = {"stdin": stdin, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if mode == "merged":
        given["stderr"] = subprocess.STDOUT
    elif mode == "null":
        given |= {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    elif mode == "file":
        given |= {"stdout": (folder / "out").open("wb"), "stderr": (folder / "err").open("wb")}
    elif mode == "closed stdin":
        command = ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *command]
    running = subprocess.Popen(command, start_new_session=True, **given)  # type: ignore[call-overload]
    try:
        out, err = running.communicate(program.typed if mode != "closed stdin" else b"", timeout=TOO_LONG_S)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        return Seen(-999, "", "")
    if mode == "file":
        time.sleep(0.6)  # a process left behind may still write
        out, err = (folder / "out").read_bytes(), (folder / "err").read_bytes()
    status = running.returncode if running.returncode >= 0 else 128 - running.returncode
    return Seen(status, brief(out or b""), brief(err or b""))


def on_terminal(command: list[str], typed: bytes) -> Seen:
    """Run it on a terminal of 100 by 30; what is typed comes line by line, each once the program is quiet."""
    pid, master = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as a shell leaves it; Python ignores it
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        os.execvp(command[0], command)
    keys = [line + b"\n" for line in typed.split(b"\n")[:-1]] + (
        [typed.split(b"\n")[-1]] if not typed.endswith(b"\n") and typed else []
    )
    out, begun, last = b"", time.monotonic(), time.monotonic()
    while time.monotonic() - begun < TOO_LONG_S:
        if select.select([master], [], [], 0.05)[0]:
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            if not data:
                break
            out += data
            last = time.monotonic()
        elif keys and time.monotonic() - last > 1.0 and time.monotonic() - begun > 3.0:
            os.write(master, keys.pop(0))
            last = time.monotonic()
    else:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    with suppress(OSError):
        os.close(master)
    return Seen(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status), brief(out), "")


def brief(data: bytes) -> str:
    """Short output as it is, long output by its hash."""
    data = re.sub(rb"\[1\] \d+", b"[1] PID", data)
    return repr(data) if len(data) < 3000 else f"{len(data)} bytes {hashlib.sha256(data).hexdigest()[:16]}"


def compared(task: tuple[Program, str, bool]) -> tuple[str, Seen, Seen, bool]:
    """One program in one mode, alone and captured, and whether its stacks were taken."""
    program, mode, stacks = task
    command = silent_first(program.command) if stacks else program.command
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        alone = seen(program, mode, command, Path(folder))
        under = seen(program, mode, captured(command, f"{folder}/b", stacks), Path(folder))
        time.sleep(0.2)
        taken = any(Path(folder, "b", "stacks").glob("*"))
    return f"{program.name} / {mode}{' / stacks' if stacks else ''}", alone, under, taken


def main() -> None:
    """Run all pairs and tell the differences."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--jobs", type=int, default=4)
    asked.add_argument("--only", default="")
    asked.add_argument("--without-stacks", action="store_true")
    given = asked.parse_args()
    every = [(p, m) for p in PROGRAMS for m in p.modes]
    pairs = [(p, m, i % STACKS_EVERY == 0 and not given.without_stacks) for i, (p, m) in enumerate(every)]
    pairs = [t for t in pairs if given.only in f"{t[0].name} / {t[1]}"]
    same = count = stacks = 0
    with ThreadPoolExecutor(given.jobs) as pool:
        for name, alone, under, taken in pool.map(compared, pairs):
            same, count, stacks = same + (alone == under), count + 1, stacks + taken
            if alone != under:
                print(f"differs: {name}\n  alone    {alone}\n  captured {under}", flush=True)
            if count % 20 == 0:
                print(f"{count} of {len(pairs)}", flush=True)
    print(f"{same} of {count} the same; stacks were taken in {stacks} of {sum(t[2] for t in pairs)}")


if __name__ == "__main__":
    main()
