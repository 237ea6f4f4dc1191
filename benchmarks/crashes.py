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
    "name": ("def f(): return learning_rate\nf()", "def f(): return weight_decay\nf()"),
    "unbound": (
        "def f():\n    if r < 0: best = 1\n    return best\nf()",
        "def f():\n    if r < 0: last = 1\n    return last\nf()",
    ),
    "zero": ("def speed(): return r / (r - r)\nspeed()", "def mean(): return sum([]) / len([])\nmean()"),
    "overflow": ("def f(): return 10.0 ** (r * 100)\nf()", "import math\ndef f(): return math.exp(r * 100)\nf()"),
    "unpack": ("def batch(): a, b = range(5)\nbatch()", "def collate(): a, b, c = [r]\ncollate()"),
    "none": ("def step(m): return m.loss\nstep(None)", "def step(m): return m['loss']\nstep(None)"),
    "call": ("def forward(x): return x\nforward()", "def backward(x, y): return x\nbackward(r)"),
    "keyword": ("def train(lr): return lr\ntrain(lr=1, epoch=2)", "def train(lr): return lr\ntrain(lr=1, warmup=2)"),
    "import_name": ("from json import JsonLoader", "from json import JsonWriter"),
    "permission": ("def f(): open('/proc/1/mem-' + str(r), 'w')\nf()", "def f(): os.mkdir('/proc/run' + str(r))\nf()"),
    "is_folder": ("def f(): open('/tmp').read()\nf()", "def f(): os.listdir('/etc/passwd')\nf()"),
    "exists": ("def f(): os.mkdir('/tmp')\nf()", "def f(): os.rmdir('/usr')\nf()"),
    "full": (
        "def save():\n    with open('/dev/full', 'w') as f: f.write('x' * r * 100)\nsave()",
        "def log():\n    os.write(os.open('/dev/full', os.O_WRONLY), b'x' * r)\nlog()",
    ),
    "pickle": (
        "import pickle\ndef load(): pickle.loads(b'\\x80\\x04' + b'x' * r)\nload()",
        "import pickle\ndef load(): pickle.loads(b'')\nload()",
    ),
    "gzip": (
        "import gzip\ndef f(): gzip.decompress(b'\\x00' * r)\nf()",
        "import gzip\ndef f(): gzip.decompress(gzip.compress(os.urandom(r))[:-9])\nf()",
    ),
    "zip": (
        "import io, zipfile\ndef f(): zipfile.ZipFile(io.BytesIO(b'x' * r))\nf()",
        "import io, tarfile\ndef f(): tarfile.open(fileobj=io.BytesIO(b'x' * r))\nf()",
    ),
    "csv": (
        "import io, pandas as pd\ndef f(): pd.read_csv(io.StringIO('a,b\\n' + '1,2\\n' * (r % 500) + '1,2,3\\n'))\nf()",
        "import io, pandas as pd\ndef f(): pd.read_csv(io.StringIO(''))\nf()",
    ),
    "column": (
        "import pandas as pd\ndef f(): pd.DataFrame({'a': [r]})['label']\nf()",
        "import pandas as pd\ndef f(): pd.DataFrame({'a': [r]}).loc[0, 'weight']\nf()",
    ),
    "parquet": (
        "import io, pyarrow.parquet as q\ndef f(): q.read_table(io.BytesIO(b'x' * r))\nf()",
        "import io, pyarrow.parquet as q\ndef f(): q.read_table(f'/data/shard-{r}.parquet')\nf()",
    ),
    "concatenate": (
        "import numpy as np\ndef f(): np.concatenate([np.ones((r, 3)), np.ones((2, 4))])\nf()",
        "import numpy as np\ndef f(): np.ones(r).reshape(7, 11, 13, 17)\nf()",
    ),
    "bounds": (
        "import numpy as np\ndef take(): return np.ones(5)[r]\ntake()",
        "import numpy as np\ndef look(): return np.ones((5, 5))[0, r]\nlook()",
    ),
    "dtype": (
        "import numpy as np\ndef f(): np.array(['a', 'b']).astype(float)\nf()",
        "import numpy as np\ndef f(): np.ones(3) + np.array(['a'] * 3)\nf()",
    ),
    "singular": (
        "import numpy as np\ndef f(): np.linalg.inv(np.zeros((r % 9 + 2,) * 2))\nf()",
        "import numpy as np\ndef f(): np.linalg.cholesky(-np.eye(r % 9 + 2))\nf()",
    ),
    "nan_input": (
        "import numpy as np\nfrom sklearn.linear_model import LinearRegression as L\ndef f(): L().fit(np.full((r % 90 + 2, 2), np.nan), np.ones(r % 90 + 2))\nf()",
        "import numpy as np\nfrom sklearn.linear_model import LinearRegression as L\ndef f(): L().fit(np.ones((r % 90 + 2, 2)), np.ones(r % 90 + 3))\nf()",
    ),
    "yaml": (
        "import yaml\ndef f(): yaml.safe_load('lr: [1, 2\\nname: x')\nf()",
        "import yaml\ndef f(): yaml.safe_load('a: b: c')\nf()",
    ),
    "subprocess": (
        "import subprocess\ndef f(): subprocess.run(['ls', f'/nowhere-{r}'], check=True)\nf()",
        "import subprocess\ndef f(): subprocess.run(['grep', 'x', '/dev/null'], check=True)\nf()",
    ),
    "no_program": (
        "import subprocess\ndef f(): subprocess.run(['nvidia-smi-not-there'])\nf()",
        "import subprocess\ndef f(): subprocess.run(['ninja-not-there'])\nf()",
    ),
    "deadline": (
        "import subprocess\ndef f(): subprocess.run(['sleep', '9'], timeout=0.1)\nf()",
        "import queue\ndef f(): queue.Queue().get(timeout=0.1)\nf()",
    ),
    "resolve": (
        "import socket\ndef f(): socket.getaddrinfo('head.invalid', 29500)\nf()",
        "import urllib.request\ndef f(): urllib.request.urlopen('http://hub.invalid/x')\nf()",
    ),
    "port": (
        "import socket\na = socket.socket(); a.bind(('127.0.0.1', 0)); a.listen()\ndef f(): socket.socket().bind(a.getsockname())\nf()",
        "import socket\ndef f(): socket.socket().bind(('10.255.255.1', 29500))\nf()",
    ),
    "pipe": (
        "a, b = os.pipe(); os.close(a)\ndef send(): os.write(b, b'x' * r)\nsend()",
        "import socket\na, b = socket.socketpair(); a.close()\ndef send(): b.send(b'x')\nsend()",
    ),
    "thread": (
        "import concurrent.futures as c\ndef load(x): raise OSError(f'shard {r} cannot be decoded')\nwith c.ThreadPoolExecutor() as p: p.submit(load, 1).result()",
        "import concurrent.futures as c\ndef load(x): raise OSError(f'sample {r} has no label')\nwith c.ThreadPoolExecutor() as p: p.submit(load, 1).result()",
    ),
    "async": (
        "import asyncio\nasync def fetch(): await asyncio.wait_for(asyncio.sleep(9), 0.05)\nasyncio.run(fetch())",
        "import asyncio\nasync def fetch(): raise ConnectionResetError(f'peer {r} closed')\nasyncio.run(fetch())",
    ),
    "chained": (
        "def read(): raise KeyError('image')\ndef get():\n    try: read()\n    except KeyError as e: raise RuntimeError(f'sample {r} cannot be read') from e\nget()",
        "def read(): raise KeyError('image')\ndef get():\n    try: read()\n    except KeyError as e: raise RuntimeError(f'transform {r} failed') from e\nget()",
    ),
    "own_class": (
        "class CheckpointError(Exception): pass\ndef f(): raise CheckpointError(f'step {r}: hash differs')\nf()",
        "class TokenizerError(Exception): pass\ndef f(): raise TokenizerError(f'step {r}: hash differs')\nf()",
    ),
    "not_done": (
        "class Model:\n    def forward(self): raise NotImplementedError\nModel().forward()",
        "class Data:\n    def length(self): raise NotImplementedError\nData().length()",
    ),
    "exit_word": ("def f(): sys.exit(f'no GPU for rank {r}')\nf()", "def f(): sys.exit(f'no free port for rank {r}')\nf()"),
    "sqlite": (
        "import sqlite3\ndef f(): sqlite3.connect(':memory:').execute('select * from runs')\nf()",
        "import sqlite3\ndef f(): sqlite3.connect(':memory:').execute('select * fro runs')\nf()",
    ),
    "bus": (
        "import faulthandler, signal\nfaulthandler.enable()\ndef read(): os.kill(os.getpid(), signal.SIGBUS)\nread()",
        "import faulthandler, signal\nfaulthandler.enable()\ndef jump(): os.kill(os.getpid(), signal.SIGILL)\njump()",
    ),
    "glibc": (
        "import ctypes\nc = ctypes.CDLL(None)\nc.malloc.restype = ctypes.c_void_p\ndef release():\n    p = c.malloc(64); c.free(ctypes.c_void_p(p)); c.free(ctypes.c_void_p(p))\nrelease()",
        "import ctypes\nc = ctypes.CDLL(None)\ndef release(): c.free(ctypes.c_void_p(id(r) + 8))\nrelease()",
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
