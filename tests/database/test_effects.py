"""What commands do to existing data, jobs and machines."""

import pytest

from forensics.database.csv_tables import read_rows
from forensics.database.effects import effect_faults, effects_of, with_effects
from forensics.database.entries import Remedy


@pytest.mark.parametrize("row", read_rows("effects"), ids=lambda row: row["example"])
def test_each_row_finds_its_example(row: dict[str, str]) -> None:
    assert row["says"] in [effect.says for effect in effects_of(row["example"])]


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ('np.lib.format.open_memmap("x.npy", mode="w+", shape=SHAPE)', ["writes"]),
        ('np.memmap(FILE, dtype="float32", mode="r")', []),
        ("docker run --rm --gpus all IMAGE nvidia-smi", []),
        ("docker system prune", ["writes"]),
        ("python train.py > train.log 2>&1", ["writes"]),
        ("python train.py >> train.log 2>&1", []),
        ("find / -name x.h 2>/dev/null", []),
        ("sbatch --exclude=<node> job.sh", []),
        ("jnp.where(x > 0, a, b)", []),
        ("last -x -F reboot shutdown", []),
        ("kill -l", []),
        ("kill -9 4711", ["stops"]),
        ("ipmitool chassis power cycle", ["reboots"]),
        ("ipmitool chassis status", []),
        ("xfs_repair -n /dev/sdb", []),
        ("df -h   # rm FILE frees room", []),
    ],
)
def test_a_command_has_the_effects_of_its_words(command: str, kinds: list[str]) -> None:
    assert [effect.kind for effect in effects_of(command)] == kinds


def test_a_command_whose_effect_nobody_named_is_a_fault() -> None:
    silent = Remedy(do="Make room", who="user", why="", commands=("df -h", "rm -rf CACHE"))
    told = Remedy(do="Make room", who="user", why="", commands=("df -h", "rm -rf CACHE"), effects=("writes",))
    assert [fault.partition(":")[0] for fault in effect_faults(silent)] == ["'rm -rf CACHE' deletes files"]
    assert effect_faults(told) == []
    assert "none of" in effect_faults(Remedy(do="Look", who="user", why="", effects=("melts",)))[0]


def test_the_effect_is_told_beside_the_command() -> None:
    assert with_effects("scancel 12") == "scancel 12   # ends the job"
    assert with_effects("rm FILE   # an old one") == "rm FILE   # an old one; deletes files"
    assert with_effects("df -h") == "df -h"
