"""Crashes to know again: small programs that die, each three times with other numbers, times and folders, and one look-alike of each.

python benchmarks/crashes.py FOLDER     -> FOLDER/NAME__1 ... NAME__3, FOLDER/NAME-other__1: what each printed as it died
"""

import random
import subprocess
import sys
from pathlib import Path

HEAD = """
import json, logging, os, random, sys, time
random.seed(time.time_ns())
logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
def train(n):
    for i in range(n): logging.info("step %d loss %.4f lr %.6f", i, random.random(), random.random())
train(random.randint(5, 40))
r = random.randint(1000, 99999)
"""
# name -> how it dies, and how a look-alike of the same cause does
WAYS = {
    "key": ("def load(): return {'a': 1}['labels']\nload()", "def load(): return {'a': 1}['images']\nload()"),
    "index": (
        "def pick(): return [0] * 9[0:1] and [1][r]\npick()".replace("[0] * 9[0:1] and ", ""),
        "def choose(): return (1,)[r]\nchoose()",
    ),
    "value": (
        "def check(): raise ValueError(f'batch size {r} is not divisible by 64')\ncheck()",
        "def check(): raise ValueError(f'sequence length {r} is too long')\ncheck()",
    ),
    "file": ("def read(): open(f'/data/run{r}/train.csv')\nread()", "def read(): open(f'/data/run{r}/valid.json')\nread()"),
    "module": ("import einops_not_there", "import apex_not_there"),
    "attribute": ("def f(): return object().forward_pass\nf()", "def f(): return [].backward_pass\nf()"),
    "type": ("def f(): return 'a' + r\nf()", "def f(): return len(r)\nf()"),
    "json": ("def f(): json.loads('{\"lr\": %d,}' % r)\nf()", "def f(): json.loads('[%d' % r)\nf()"),
    "segfault": (
        "import ctypes, faulthandler\nfaulthandler.enable()\ndef native(): ctypes.string_at(8)\nnative()",
        "import ctypes, faulthandler\nfaulthandler.enable()\ndef kernel(): ctypes.memset(8, 0, 4)\nkernel()",
    ),
    "abort": (
        "import faulthandler\nfaulthandler.enable()\ndef stop(): os.abort()\nstop()",
        "import faulthandler, signal\nfaulthandler.enable()\ndef fault(): os.kill(os.getpid(), signal.SIGFPE)\nfault()",
    ),
    "memory": (
        "import resource\nresource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\nimport numpy as np\ndef big(): return np.ones((40_000 + r, 70_000))\nbig()",
        "import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\ndef grow(): return bytearray((8 << 30) + r)\ngrow()",
    ),
    "shape": (
        "import numpy as np\ndef layer(): return np.ones((3, 4)) @ np.ones((5, 6))\nlayer()",
        "import numpy as np\ndef layer(): return np.ones((3, 4)) + np.ones((5, 6))\nlayer()",
    ),
    "nan": (
        "def guard(): raise FloatingPointError(f'loss is nan at step {r}')\nguard()",
        "def guard(): raise FloatingPointError(f'grad norm is inf at step {r}')\nguard()",
    ),
    "argument": (
        "import argparse\np = argparse.ArgumentParser(prog='train.py')\np.add_argument('--batch-size', type=int)\np.parse_args(['--batch-size', f'{r}x'])",
        "import argparse\np = argparse.ArgumentParser(prog='train.py')\np.add_argument('--epochs', type=int)\np.parse_args(['--epochs', f'{r}x'])",
    ),
    "assertion": (
        "def f():\n    assert r < 0, f'label {r} out of range'\nf()",
        "def f():\n    assert r < 0, f'mask {r} is empty'\nf()",
    ),
    "pool": (
        "from concurrent.futures import ProcessPoolExecutor as P\ndef die(x): os._exit(3)\nwith P(1) as p: p.submit(die, 1).result()",
        "import multiprocessing as m\ndef work(x): raise RuntimeError(f'shard {x} of {r} is broken')\nwith m.Pool(1) as p: p.map(work, [7])",
    ),
    "connection": (
        "import socket\ndef join(): socket.create_connection(('127.0.0.1', 1), 2)\njoin()",
        "import urllib.request\ndef fetch(): urllib.request.urlopen(f'http://127.0.0.1:1/weights-{r}.bin', timeout=2)\nfetch()",
    ),
    "recursion": ("def f(n): return f(n + 1)\nf(r)", "def g(n): return [g(n + 1)]\ng(r)"),
    "unicode": ("def f(): (b'\\xff' + str(r).encode()).decode()\nf()", "def f(): ('\\u20ac%d' % r).encode('ascii')\nf()"),
    "files": (
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))\nh = []\ndef f():\n    while True: h.append(open('/dev/null'))\nf()",
        'import resource, threading\nresource.setrlimit(resource.RLIMIT_NPROC, (1, 1))\ndef f(): raise RuntimeError("can\'t start new thread")\nf()',
    ),
}


def main(folder: Path) -> None:
    """Run all of them."""
    for name, (one, other) in WAYS.items():
        for n in (1, 2, 3):
            died(folder / f"{name}__{n}", one)
        died(folder / f"{name}-other__1", other)


def died(case: Path, code: str) -> None:
    """Run it in a folder of its own, and keep what it printed."""
    run = case.parent / "runs" / f"{random.randrange(10**6)}" / "proj"
    run.mkdir(parents=True)
    case.mkdir(parents=True, exist_ok=True)
    (run / "train.py").write_text(HEAD + code)
    done = subprocess.run([sys.executable, str(run / "train.py")], capture_output=True, text=True, check=False)
    (case / "train.log").write_text(done.stdout + done.stderr)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
