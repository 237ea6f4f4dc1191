"""`forensics stacks` of a program that runs: its place, and the folder that `forensics ranks` reads."""

import json
import subprocess

from tests.commandline import forensics


def test_a_process_is_shown_with_what_it_waits_for() -> None:
    child = subprocess.Popen(["sleep", "60"], env={"RANK": "5"})
    try:
        done = forensics("stacks", child.pid, "--json")
    finally:
        child.kill()
        child.wait()
    assert done.returncode == 0
    (place,) = json.loads(done.stdout)["places"]
    assert (place["who"], place["pids"]) == ("rank 5", [child.pid])


def test_bad_usage_is_one_line() -> None:
    for words in ((), ("4711", "--job", "4711"), (2**22 + 1,)):
        done = forensics("stacks", *words)
        assert done.returncode == 2 and done.stderr.count(b"\n") == 1, words
