"""The cases behind gaps.csv that are no sample log: by name, the files of a folder.

What Python, memory_profiler and faulthandler printed of programs that were run for it; folders are renamed.
"""

from tests.advice.test_case import KILL, PROFILE
from tests.readers.python.test_interrupted_wait import PROGRAM
from tests.readers.python.test_lock_holders import CROSSED

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

CASES: dict[str, dict[str, str]] = {
    "race": {"job.log": RACE},
    "pool": {
        "job.log": SPAWNED,
        "train.py": "import multiprocessing as mp\nfor i in range(4):\n    mp.Process(target=work).start()\n",
    },
    "start_method": {
        "job.log": START_METHOD,
        "train.py": 'import multiprocessing\nimport torch\nmultiprocessing.set_start_method("spawn")\n',
    },
    "locks": {"job.log": CROSSED, "train.py": PROGRAM},
    "profile": {"kern.log": KILL, "profile.log": PROFILE + "Killed\n"},
}
