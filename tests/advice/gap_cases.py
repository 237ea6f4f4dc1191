"""The cases behind gaps.csv that are no sample log: by name, the files of a folder.

`race`, `profile`, `locks` and `holder` are what Python, memory_profiler and faulthandler printed of programs that were run for it; the
rest are messages as the tools' own documents or sources give them, with the program beside them.
"""

import json

from tests.advice.test_case import KILL, NO_GRADIENT, PROFILE
from tests.context.test_architecture import KERAS
from tests.context.test_lock_holders import CROSSED
from tests.context.test_notices import VMSTAT
from tests.detectors.test_interrupted_wait import PROGRAM

RACE = """\
Exception in thread Thread-2 (feed):
Traceback (most recent call last):
  File "/home/user/python/lib/python3.11/threading.py", line 1045, in _bootstrap_inner
    self.run()
  File "/home/user/python/lib/python3.11/threading.py", line 982, in run
    self._target(*self._args, **self._kwargs)
  File "/home/user/run/train.py", line 15, in feed
    for batch in given:
ValueError: generator already executing
thread 0 batch 0
"""
START_METHOD = """\
Traceback (most recent call last):
  File "/home/user/run/train.py", line 3, in <module>
    multiprocessing.set_start_method("spawn")
  File "/home/user/python/lib/python3.11/multiprocessing/context.py", line 247, in set_start_method
    raise RuntimeError('context has already been set')
RuntimeError: context has already been set
"""
SPAWNED = """\
RuntimeError:
        An attempt has been made to start a new process before the
        current process has finished its bootstrapping phase.
"""
RETRACING = (
    "WARNING:tensorflow:5 out of the last 5 calls to <function f at 0x7> triggered tf.function retracing. Tracing is expensive\n"
)
KILLED = "Epoch 1\nKilled\n"
EPOCHS = "".join(f"Epoch {i}/100\n{i} loss: {1 / i:.4f} - 5s 4ms/step\n" for i in range(1, 28))
NAN = "".join(f"step {i} loss {0.5 if i < 9 else float('nan')}\n" for i in range(40))
NOTEBOOK = json.dumps(
    {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": 1,
                "metadata": {},
                "outputs": [],
                "source": ["import torch\n", "for x in data:\n", "    losses.append(loss)\n"],
            }
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    },
    indent=1,
)
OOM_LINE = "Out of memory: Killed process {} (python3) total-vm:9000000kB, anon-rss:8000000kB, file-rss:0kB, shmem-rss:0kB\n"


def killed(program: str) -> dict[str, str]:
    """A kill for memory, the job's log, and the program."""
    return {"kern.log": KILL, "train.log": KILLED, "train.py": program}


CASES: dict[str, dict[str, str]] = {
    "swap": {"job.log": "Swap:          2.0Gi       2.0Gi       0.0Ki\nKilled\n"},
    "paging": {"vmstat.log": VMSTAT.format(4000)},
    "keras": {
        "kern.log": KILL,
        "train.log": KERAS + "Epoch 1/5\nKilled\n",
        "train.py": "import keras\nBATCH = 12800\nmodel.fit(x, batch_size=BATCH)\n",
    },
    "keras_no_batch": {"kern.log": KILL, "train.log": "1/5 ━━━━━━━━━━ 2s 3ms/step\nKilled\n", "train.py": "import keras\n"},
    "race": {"job.log": RACE},
    "grown": killed("for x in d:\n    a = np.concatenate([a, x])\n"),
    "sporadic": {
        f"{host}-{day}.log": f"2026-03-0{day}T0{hour}:05:00+00:00 {host} kernel: " + OOM_LINE.format(4000 + day)
        for day, hour, host in ((1, 3, "n1"), (2, 5, "n1"), (3, 9, "n1"), (4, 8, "n2"))
    },
    "pool": {
        "job.log": SPAWNED,
        "train.py": "import multiprocessing as mp\nfor i in range(4):\n    mp.Process(target=work).start()\n",
    },
    "start_method": {
        "job.log": START_METHOD,
        "train.py": 'import multiprocessing\nimport torch\nmultiprocessing.set_start_method("spawn")\n',
    },
    "several": {"kern.log": KILL, "train.log": NAN + "Killed\n"},
    "shuffle": killed("import tensorflow as tf\nx = tf.image.resize(x, (224, 224))\nd = d.shuffle(10000)\n"),
    "left_the_tape": {
        "train.log": NO_GRADIENT,
        "train.py": "import tensorflow as tf\nwith tf.GradientTape() as t:\n    l = loss(x).numpy()\n",
    },
    "locks": {"job.log": CROSSED, "train.py": PROGRAM},
    "columns": killed("d = pd.read_csv('x.csv')\n"),
    "notebook": {"kern.log": KILL, "jupyter.log": "[I 08:30:20.533 ServerApp] Kernel started\nKilled\n", "train.ipynb": NOTEBOOK},
    "long": {"kern.log": KILL, "train.log": EPOCHS + "Killed\n"},
    "profile": {"kern.log": KILL, "profile.log": PROFILE + "Killed\n"},
    "eager": killed("import keras\nmodel.compile(run_eagerly=True)\n"),
    "pipeline": killed("import tensorflow as tf\nd = tf.data.Dataset.from_tensors(x)\nd = d.map(f)\n"),
    "generator": killed("def b():\n    xs = []\n    while True:\n        xs.append(read())\n        yield np.array(xs)\n"),
    "opencv": killed("import tensorflow as tf\nd = tf.data.Dataset.from_tensors(x)\ny = cv2.resize(x, (1, 1))\n"),
    "retracing": {"train.log": RETRACING},
    "retraced": killed("import tensorflow as tf\nfor k in folds:\n    step = tf.function(train)\n"),
    "rebuilt": killed("import keras\nfor k in folds:\n    m = keras.Sequential([a])\n"),
    "own_loss": {
        "train.log": NAN,
        "train.py": "import tensorflow as tf\ndef my_loss(y, p):\n    return -y * tf.math.log(p)\n",
    },
    "stateful": {"train.log": NAN, "train.py": "import keras\nm.add(keras.layers.LSTM(8, stateful=True))\n"},
    "empty": {"train.log": ""},
}
