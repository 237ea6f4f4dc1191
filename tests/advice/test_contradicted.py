"""What a case shows that speaks against a remedy: each row of the table, over all remedies of the database."""

import re

import pytest

from forensics.advice.contradicted import contradiction_of, contradictions, fitting_part
from forensics.advice.remedies import fitting_remedies
from forensics.database import Cause, Database, read_rows
from forensics.database.conditions import ENVIRONMENT, condition_fault
from forensics.database.entries import Remedy
from forensics.database.known_fixes import known_fixes, other_ways
from forensics.model import Value

ROWS = read_rows("contradictions")
SHOWN: dict[str, tuple[dict[str, str], dict[str, set[str]]]] = {
    "no Linux": ({}, {"system": {"windows"}}),
    "a Mac": ({}, {"system": {"macos"}}),
    "a hosted session": ({}, {"cloud": {"colab"}}),
    "a batch of one": ({"batch_size": "1"}, {}),
    "segments that grow": ({}, {"allocator": {"expandable"}}),
    "quantised weights": ({}, {"weights": {"quantised"}}),
    "half precision": ({}, {"precision": {"half"}}),
    "one host": ({}, {"hosts": {"one"}}),
    "a device or a file of the kernel": ({"path": "/dev/dri/card0"}, {}),
}


def every_remedy(knowledge: Database) -> list[str]:
    own = [r.do for c in knowledge.causes.values() for r in c.remedies]
    return [*own, *(f.remedy.do for f in known_fixes()), *(w.remedy.do for w in other_ways())]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["contradiction"])
def test_each_row_hides_its_example_where_the_case_shows_it_and_only_there(row: dict[str, str]) -> None:
    known, environment = SHOWN[row["contradiction"]]
    assert fitting_part(row["example"], known, environment) == ""
    assert fitting_part(row["example"], {}, {}) == row["example"]


def test_each_row_is_about_remedies_of_the_database_and_its_conditions_are_known(knowledge: Database) -> None:
    every = every_remedy(knowledge)
    for row in contradictions():
        assert any(row.is_about(do) for do in every), row.words.pattern
        assert not [c for c in row.shown if condition_fault(c)]


@pytest.mark.parametrize(
    ("known", "environment", "words"),
    [
        ({}, {"system": {"windows"}}, r"LD_LIBRARY_PATH(?! -)|nvidia_uvm|kernel log(?!s)"),
        ({}, {"cloud": {"kaggle"}}, r"[Rr]eboot|BIOS|Reseat"),
        ({}, {"hosts": {"one"}}, r"on every node|ssh from"),
    ],
    ids=["Windows", "hosted", "one host"],
)
def test_no_remedy_of_the_database_tells_it_there(
    knowledge: Database, known: dict[str, str], environment: dict[str, set[str]], words: str
) -> None:
    told = [fitting_part(do, known, environment) for do in every_remedy(knowledge)]
    assert not [do for do in told if re.search(words, do) and "indows" not in do and "one host" not in do]


def test_a_clause_that_does_not_apply_is_left_out_and_the_others_stay() -> None:
    action = "Take a smaller batch; evaluate under torch.no_grad(); and see what else holds the GPU"
    batch = Remedy(do=action, who="user", why="")
    given = Cause(id="process.x", title="", means="", signatures=(), remedies=(batch,))
    assert [a.action for a in fitting_remedies(given, {"batch_size": 1})] == [
        "Evaluate under torch.no_grad(); and see what else holds the GPU"
    ]
    assert [a.action for a in fitting_remedies(given, {"batch_size": 8})] == [action]


@pytest.mark.parametrize(
    ("action", "known", "environment", "name"),
    [
        ("Halve the batch", {"batch_size": 1}, {}, "a batch of one"),
        ("Put the file at {path}", {"path": "/proc/driver/nvidia/version"}, {}, "a device or a file of the kernel"),
        ("Put the file at {path}", {"path": "/dev/shm/a.npy"}, {}, ""),
        ("Ask for it in the job script - sbatch --mem=SIZE job.sh", {}, {"scheduler": {"kubernetes"}}, "tool"),
        ("Start it with num_workers=0", {}, {"loader": {"none"}}, "data loader"),
        ("Start it with num_workers=0", {"around": "Namespace(lr=0.1, num_workers=0)"}, {}, "set already"),
        ("Start it with num_workers=0", {"around": "Namespace(lr=0.1, num_workers=4)"}, {}, ""),
    ],
    ids=["batch", "device", "shared memory", "tool", "need", "set already", "other value"],
)
def test_what_speaks_against_a_remedy_has_a_name(
    action: str, known: dict[str, Value], environment: dict[str, set[str]], name: str
) -> None:
    assert contradiction_of(action, known, environment) == name
    of_case = Remedy(do=action, who="user", why="")
    other = Remedy(do="Watch it", who="user", why="")
    given = Cause(id="process.x", title="", means="", signatures=(), remedies=(of_case, other))
    told = [a.action for a in fitting_remedies(given, {**known, "path": known.get("path", "x")}, environment)]
    assert (told[0] == "Watch it") == (bool(name) and name != "set already")


def test_a_fact_of_the_table_is_one_that_logs_can_show() -> None:
    assert {"hosts", "allocator"} <= set(ENVIRONMENT)
