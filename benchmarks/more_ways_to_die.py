"""Further ways to die for `captured_deaths --further`: other programs, other tools, other wordings than those of ways_to_die.

Their first answers were told before anything was changed for them. Beside Python and C: node, java, perl, git, make, bash, tar, curl,
sqlite, openssl. `undetermined` among the right causes: the truth is that nothing but the bad end is known.
"""

from __future__ import annotations

from benchmarks.ways_to_die import (
    DEADLOCK,
    GROW,
    LAUNCH,
    LIMIT,
    LONG,
    OOM,
    RANK,
    RESOURCE,
    STALL,
    TRAIN,
    USER,
    WORKER,
    Way,
    py,
)

MISSING, EXCEPTION, CONFIG, IMPORT = "data.missing", "code.exception", "code.config", "code.import"
REFUSED, DOWNLOAD, SEGFAULT = "host_memory.alloc_refused", "data.download", "process.segfault"


def bash(script: str, *more: str) -> list[str]:
    """The command that runs `script` in bash, in a folder of its own; {python} stands in it as in all commands."""
    return ["bash", "-c", f"cd $(mktemp -d) && {script}", *more]


JAVA = """cat > Hold.java <<'X'
import java.util.*;
public class Hold { public static void main(String[] a) throws Exception {
  List<byte[]> held = new ArrayList<>();
  for (int i = 0; ; i++) { held.add(new byte[1 << 20]); if (i % 10 == 0) System.out.println("batch " + i); } } }
X
java -Xmx32m Hold.java; s=$?; echo "preprocessing ended with $s"; exit $s"""
DAEMON_DIES = """
import os, sys, time, ctypes
reads, says = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    os.close(reads)
    for i in range(30): os.write(says, b'.'); time.sleep(0.05)
    ctypes.string_at(0)
os.wait(); os.close(says)
while data := os.read(reads, 1): print('store is alive', flush=True) if data == b'!' else None
print('lost the connection to the store daemon', file=sys.stderr)
sys.exit(1)
"""
POOL_BREAKS = """
import os, signal, time
from concurrent.futures import ProcessPoolExecutor
def work(n):
    time.sleep(0.3)
    if n == 5: os.kill(os.getpid(), signal.SIGKILL)
    return n
if __name__ == '__main__':
    with ProcessPoolExecutor(2) as pool: print(list(pool.map(work, range(8))))
"""
SEMAPHORES = TRAIN + "import multiprocessing as mp\nheld = [mp.get_context('spawn').Semaphore() for _ in range(6)]\nsteps(2000)"
LOCKED = """
import sqlite3, tempfile, os
path = os.path.join(tempfile.mkdtemp(), 'optuna.db')
first = sqlite3.connect(path, isolation_level=None); first.execute('create table trials(x)'); first.execute('begin exclusive')
second = sqlite3.connect(path, timeout=0.5)
print('trial 1 finished', flush=True)
second.execute('insert into trials values (1)')
"""
PORT = """
import socket, http.server
held = socket.socket(); held.bind(('127.0.0.1', 0)); held.listen()
print('starting the metrics server', flush=True)
http.server.HTTPServer(('127.0.0.1', held.getsockname()[1]), http.server.SimpleHTTPRequestHandler)
"""
TLS = """
import http.server, ssl, subprocess, threading, urllib.request
subprocess.run('openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -days 2 -subj /CN=hub.example'.split(), check=True, stderr=subprocess.DEVNULL)
server = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain('c.pem', 'k.pem')
server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
print('fetching weights', flush=True)
urllib.request.urlopen(f'https://127.0.0.1:{server.server_port}/model.safetensors')
"""
INODES = TRAIN + "import os\nsteps(5)\nfor i in range(99): open(f'/tmp/capino/sample-{i}.npy', 'w').close()"
READ_ONLY = TRAIN + "steps(5)\nopen('/tmp/capro/checkpoint.pt', 'wb')"
OWN_CPU_LIMIT = TRAIN + "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 2))\nsteps(5)\nwhile 1: pass"
DEEP = TRAIN + "class Node:\n    def __repr__(self): return repr(self)\nsys.setrecursionlimit(10**9)\nsteps(5)\nrepr(Node())"
THREAD_CRASH = (
    TRAIN
    + "import threading, ctypes\nt = threading.Thread(target=lambda: (time.sleep(0.3), ctypes.string_at(0)))\nt.start()\nsteps(100)"
)
LATER = (
    TRAIN
    + """
import subprocess, json
p = subprocess.run([sys.executable, '-c', 'x = []\\nwhile 1: x.append(bytearray(4 << 20))'])
print('tokenizer finished', flush=True)
steps(100)
json.load(open('/tmp/cap-tokens-of-nobody.json'))
"""
)
THREADS = TRAIN + "import threading\nsteps(5)\nfor i in range(100): threading.Thread(target=time.sleep, args=(3,)).start()"
RANK_ASSERTS = RANK + "steps(20)\nif r == 1: os.abort()\nsteps(2000)"
FLOCK = (
    TRAIN
    + """
import fcntl, subprocess, tempfile
path = tempfile.mktemp()
steps(10)
holder = open(path, 'w'); fcntl.flock(holder, fcntl.LOCK_EX)
mine = open(path, 'w'); fcntl.flock(mine, fcntl.LOCK_EX)
"""
)
ACCEPT = "import socket\ns = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()\nprint('waiting for 3 more ranks', flush=True)\nwhile 1: s.accept()"
MALLOC = 'printf \'#include <stdio.h>\\n#include <stdlib.h>\\nint main(){puts("step 1");if(!malloc(1L<<30)){perror("malloc");return 1;}}\' > a.c && gcc -w a.c && ulimit -v 300000 && exec ./a.out'
NEW = "printf '#include <vector>\\n#include <cstdio>\\nint main(){puts(\"step 1\");fflush(stdout);std::vector<char> v(1L<<30);return v[7];}' > a.cc && g++ -O0 -w a.cc && ulimit -v 300000 && exec ./a.out"
LIBRARY = "echo 'int f(){return 1;}' > l.c && echo 'int f();int main(){return f();}' > m.c && gcc -w -shared -fPIC -o libtrainops.so l.c && gcc -w m.c -L. -ltrainops && ./a.out"

FURTHER: tuple[Way, ...] = (
    # memory
    Way("further: java heap", bash(JAVA), (REFUSED, "host_memory.leak")),
    Way(
        "further: node heap",
        bash("exec node --max-old-space-size=24 -e 'const a=[];for(;;)a.push(new Array(1e5).fill(1.5))'"),
        (REFUSED, "host_memory.leak"),
    ),
    Way(
        "further: make, its recipe killed",
        bash('printf \'all:\\n\\t@{python} -u -c "$$CODE"\\n\' > Makefile && export CODE="$0" && make', GROW),
        (OOM,),
        120,
    ),
    Way("further: child killed, main fails later", py(LATER), (OOM,), 120),
    Way("further: malloc refused in C", bash(MALLOC), (REFUSED,)),
    Way("further: std::bad_alloc", bash(NEW), (REFUSED,)),
    # tools and shells
    Way("further: set -e, cp", bash("set -e; echo staging; cp /data/imagenet.tar . ; echo never"), (MISSING,)),
    Way(
        "further: make, its recipe fails",
        bash("printf 'train:\\n\\t{python} -c \"{}[chr(108)+chr(114)]\"\\n' > Makefile && make train"),
        (EXCEPTION, CONFIG, "code.index"),
    ),
    Way("further: perl die", bash('perl -e \'open(F, "<", "train.conf") or die "cannot open train.conf: $!\\n"\''), (MISSING,)),
    Way("further: perl module missing", bash("perl -e 'use Deep::Loader; print 1'"), (IMPORT,)),
    Way("further: node module missing", bash("node -e \"require('@tensors/core-of-mine')\""), (IMPORT,)),
    Way(
        "further: git clone refused", bash("git clone -q https://127.0.0.1:9/models/base.git"), (DOWNLOAD, "distributed.network")
    ),
    Way(
        "further: curl refused",
        bash("set -e; curl -fsS -o w.bin http://127.0.0.1:9/w.bin; echo never"),
        (DOWNLOAD, "distributed.network"),
    ),
    Way("further: tar of no archive", bash("set -e; echo this is no archive at all > s.tar; tar xf s.tar"), ("data.corrupt",)),
    Way(
        "further: command not found in a script",
        bash("set -e; echo start; deepspeed-of-mine --num_gpus 8 train.py"),
        (CONFIG, IMPORT, MISSING),
    ),
    Way("further: script without x", bash("echo 'echo hello' > train.sh && chmod 644 train.sh && ./train.sh"), (CONFIG, MISSING)),
    Way("further: shared library missing", bash(LIBRARY), (IMPORT, "gpu_program.library")),
    Way("further: nothing printed, status 7", bash("sleep 0.3; exit 7"), ("undetermined",)),
    # limits
    Way(
        "further: file size, dd in a script",
        bash(
            "prlimit --fsize=65536 -- bash -c 'dd if=/dev/zero of=ckpt.bin bs=1M count=1; s=$?; echo dd ended with $s; exit $s'"
        ),
        (RESOURCE,),
    ),
    Way("further: processor seconds, own limit", py(OWN_CPU_LIMIT), (RESOURCE, LIMIT)),
    Way("further: threads in a limit", py(THREADS), (RESOURCE,), pids=30),
    Way(
        "further: inodes used up",
        py(INODES),
        ("storage.full",),
        wrap=(
            "unshare",
            "-m",
            "sh",
            "-c",
            'mkdir -p /tmp/capino && mount -t tmpfs -o size=4m,nr_inodes=20,mode=1777 none /tmp/capino && exec "$@"',
            "sh",
        ),
        root=True,
    ),
    Way(
        "further: read-only file system",
        py(READ_ONLY),
        ("storage.io_error", CONFIG, MISSING),
        wrap=("unshare", "-m", "sh", "-c", 'mkdir -p /tmp/capro && mount -t tmpfs -o ro none /tmp/capro && exec "$@"', "sh"),
        root=True,
    ),
    # crashes
    Way("further: stack overflow in Python", py(DEEP), (SEGFAULT,)),
    Way("further: crash in a thread", [*py("")[:1], "-X", "faulthandler", "-u", "-c", THREAD_CRASH], (SEGFAULT,)),
    Way("further: daemon of its own crashes", py(DAEMON_DIES), (SEGFAULT,)),
    Way(
        "further: illegal instruction in a child",
        py("import subprocess, sys\nprint('step 1', flush=True)\nsubprocess.run([sys.argv[1]], check=True)", "{c:ill}"),
        ("process.illegal_instruction",),
    ),
    Way("further: a rank aborts", py(LAUNCH, RANK_ASSERTS), ("process.abort",)),
    # workers, stops
    Way("further: pool's worker kills itself", py(POOL_BREAKS), (WORKER,)),
    Way("further: killed with semaphores held", py(SEMAPHORES), (USER, WORKER), outside="bash KILL"),
    Way("further: SIGHUP", py(LONG), (USER,), outside="sshd HUP"),
    Way("further: SIGUSR1 near the scheduler's limit", py(LONG), (LIMIT,), outside="slurmstepd USR1"),
    Way("further: timeout -s INT", ["timeout", "-s", "INT", "2", *py(LONG)], (LIMIT,)),
    # the program
    Way("further: database locked", py(LOCKED), (EXCEPTION, RESOURCE, MISSING, "storage.io_error")),
    Way("further: port in use", py(PORT), ("distributed.rendezvous", "notebook.kernel_start")),
    Way("further: certificate", bash('exec {python} -u -c "$0"', TLS), (DOWNLOAD,)),
    Way(
        "further: folder removed below it",
        bash(
            'mkdir w && cd w && exec {python} -u -c "$0"',
            TRAIN + "import os\nsteps(5)\nos.rmdir(os.getcwd())\nos.path.abspath('ckpt')",
        ),
        (MISSING, EXCEPTION),
    ),
    Way(
        "further: asyncio timeout",
        py(
            TRAIN
            + "import asyncio\nsteps(5)\nasync def main(): await asyncio.wait_for(asyncio.sleep(9), 0.3)\nasyncio.run(main())"
        ),
        (EXCEPTION,),
    ),
    Way(
        "further: index error in a pool",
        py(
            "import multiprocessing as mp\ndef work(n): return [1, 2][n]\nif __name__ == '__main__':\n    with mp.Pool(2) as pool: print(pool.map(work, range(4)))"
        ),
        ("code.index",),
    ),
    # hangs
    Way("further: lock of a file, then SIGTERM", py(FLOCK), (STALL,), outside="bash TERM late", stall_s=1.5),
    Way(
        "further: waits for ranks, then a time limit",
        ["timeout", "6", *py(ACCEPT)],
        (STALL, "distributed.rendezvous"),
        stall_s=1.5,
    ),
    Way(
        "further: deadlock in a child, then Ctrl-C",
        py(
            "import subprocess, sys\nprint('start', flush=True)\nsubprocess.run([sys.executable, '-u', '-c', sys.argv[1]])",
            DEADLOCK,
        ),
        (STALL, "process.fork_threads"),
        outside="bash INT late",
        stall_s=1.5,
    ),
)
