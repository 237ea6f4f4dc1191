"""Reports of NCCL's RAS, as text and as JSON. Made for these tests, in the forms of NCCL's documentation and source."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forensics.database import Database
from forensics.model import Fields, Report
from forensics.pipeline import analyze_paths

TEXT = """Errors
======

INCOMPLETE
  Missing communicator data from 1 job process
  Process 3487984 on node 198.51.100.213 managing GPU 5

{dead}#0-0 (cf264af53edbe986) INCOMPLETE
  Missing communicator data from 1 rank
  {rank}

"""
NAMED = "Rank 21 -- GPU 5 managed by process 3487984 on node 198.51.100.213"
COUNTS = """#0-0 (27a079b828ff1a75) MISMATCH
  Communicator ranks have different AllReduce operation counts
  31 ranks have launched up to operation 6650
  Rank 3 has launched up to operation 6649 -- GPU 3 managed by process 483075 on node 198.51.100.210

"""


def rank(number: int, count: int = 0, **status: bool) -> dict[str, Any]:
    who = {"rank": number, "host": "198.51.100.213", "pid": 100 + number, "cuda_dev": number, "nvml_dev": number}
    return {**who, "status": status} if status else {**who, "status": {}, "collective_counts": {"AllReduce": count}}


def document(missing: list[Any]) -> str:
    one = {"hash": "0xae94423cfbb2ef4a", "size": 3, "ranks": [rank(0, 7), rank(1, 7)], "missing_ranks": missing}
    return json.dumps({"nccl_version": "2.29.1", "communicators_count": 1, "communicators": [one]}, indent=2)


@pytest.mark.parametrize("named", [NAMED, "The missing rank: 21"])
def test_a_rank_that_does_not_answer(analyze: Callable[..., Report], named: str) -> None:
    first = analyze(ras_txt=TEXT.format(dead="", rank=named)).causes[0]
    assert (first.id, first.facts["culprit_rank"]) == ("distributed.timeout", 21)
    assert ("pid" in first.facts) == (named == NAMED)


def test_a_process_that_is_dead(analyze: Callable[..., Report]) -> None:
    dead = "DEAD\n  1 job process is considered dead (unreachable via the RAS network)\n  Process 9 on node a managing GPU 5\n\n"
    causes = {c.id: c for c in analyze(ras_txt=TEXT.format(dead=dead, rank=NAMED)).causes}
    assert causes["distributed.peer_lost"].facts["pid"] == 9


def test_counts_that_differ_once_are_a_moment_and_twice_a_hang(analyze: Callable[..., Report]) -> None:
    assert not [c for c in analyze(ras_txt=COUNTS).causes if c.id == "distributed.timeout"]
    first = analyze(ras_txt=COUNTS * 2).causes[0]
    assert (first.id, first.facts["culprit_rank"]) == ("distributed.timeout", 3)
    moved = COUNTS + COUNTS.replace("6650", "6660").replace("6649", "6659")
    assert not [c for c in analyze(ras_txt=moved).causes if c.id == "distributed.timeout"]


def test_json_tells_the_same(tmp_path: Path, knowledge: Database) -> None:
    def causes(missing: list[Any]) -> dict[str, Fields]:
        (tmp_path / "ras.json").write_text(document(missing))
        return {c.id: c.facts for c in analyze_paths([tmp_path], "ras", knowledge).causes}

    silent = causes([rank(2, unresponsive=True, considered_dead=False)])["distributed.timeout"]
    assert (silent["culprit_rank"], silent["pid"]) == (2, 102)
    assert causes([rank(2, unresponsive=True, considered_dead=True)])["distributed.peer_lost"]["pid"] == 102
    assert not causes([]).keys() & {"distributed.peer_lost", "distributed.timeout"}
