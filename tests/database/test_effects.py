"""What commands do to existing data, jobs and machines."""

import pytest

from forensics.database import Database
from forensics.database.effects import effect_faults, effects_of, with_effects, with_warning
from forensics.database.entries import Remedy
from forensics.database.known_fixes import other_ways
from forensics.database.tables import read_rows


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


@pytest.mark.parametrize("row", read_rows("warnings"), ids=lambda row: row["example"])
def test_each_row_warns_of_its_example(row: dict[str, str]) -> None:
    assert with_warning(row["example"], (), {}) == f"{row['example']}. {row['warns']}"


def test_a_warning_is_left_out_where_nobody_else_works_or_the_sentence_has_it() -> None:
    assert with_warning("Reboot the machine", (), {"cloud": ["colab"]}) == "Reboot the machine"
    assert (
        with_warning("End what is yours on the card", ("kill PID",), {"system": ["windows"]}) == "End what is yours on the card"
    )
    assert with_warning("See when it came up", ("last -x -F reboot shutdown",), {}) == "See when it came up"


def test_every_remedy_that_ends_or_deletes_something_warns_of_it(knowledge: Database) -> None:
    remedies = [r for cause in knowledge.causes.values() for r in cause.remedies] + [way.remedy for way in other_ways()]
    # These end only what they name.
    own = ("kubectl set resources", "kubectl scale", "kubectl rollout", "helm upgrade", "scontrol requeue", "stop --time")
    grave = [
        r
        for r in remedies
        if any(
            e.kind != "writes" or "deletes" in e.says for c in r.commands if not any(o in c for o in own) for e in effects_of(c)
        )
    ]
    assert len(grave) > 20
    assert not [r.do for r in grave if with_warning(r.do, r.commands, {}) == r.do and "if it is yours" not in r.do]
