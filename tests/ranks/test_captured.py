"""Captured jobs in which one rank keeps the others waiting: the rank, how, and its line of code. Healthy ones stay silent."""

import re
from pathlib import Path

import pytest
import yaml

from forensics import sources
from forensics.database import Database
from forensics.model.ranks import RankPicture
from forensics.pipeline import analyze_paths
from forensics.pipeline.placement import rank_picture
from forensics.pipeline.source_analysis import analyze_sources
from forensics.report.phrases import what_happened
from tests.report.samples import sample

CAPTURED = Path(__file__).parent / "captured"
CASES = sorted(p.parent for p in CAPTURED.glob("*/expected.yaml"))
KINDS = {
    "late_loader": "computes",
    "dead_rank": "no_dump",
    "exception": "raised",
    "other_operation": "other_call",
    "fewer_batches": "other_batches",
    "broken_barrier": "barrier",
    "gil_held": "outside",
    "waits_for_file": "outside",
    "group_order": "other_order",
}


def seen(case: Path, knowledge: Database, *parts: str) -> RankPicture:
    noted: list[object] = []
    paths = [case / part for part in parts or ("fr", "stacks", "job.log")]
    given = sources.open_paths([p for p in paths if p.exists()], noted.append)  # no stacks of ranks that ended at once
    analyses = analyze_sources(given, knowledge, noted.append)
    found = rank_picture(analyses, {r.name: list(r.events) for r in analyses}, knowledge)
    assert found is not None
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_the_rank_its_kind_and_its_line(case: Path, knowledge: Database) -> None:
    expected = yaml.safe_load((case / "expected.yaml").read_text())
    (odd,) = seen(case, knowledge).odd
    assert (odd.rank, odd.kind) == (expected["rank"], KINDS[expected["kind"]])
    if expected["kind"] != "dead_rank":  # it was killed, and nothing of it is left
        assert odd.place is not None
        assert odd.place.line == expected["line"]
    assert odd.others is not None and odd.others.file.endswith(("hung_ranks.py", "crossed_ranks.py"))
    assert odd.proofs and all(p.text for p in odd.proofs)


def test_without_stacks_the_rank_is_known_and_not_what_it_does(knowledge: Database) -> None:
    (odd,) = seen(CAPTURED / "late_loader_averaging_4", knowledge, "fr").odd
    assert (odd.rank, odd.kind, odd.waiting) == (2, "elsewhere", (0, 1, 3))


def test_a_missing_dump_is_evidence(knowledge: Database) -> None:
    found = seen(CAPTURED / "gil_held_averaging_4", knowledge)
    assert found.missing == (2,)
    assert [(o.rank, o.place and o.place.function) for o in found.odd] == [(2, "instead")]


def test_the_report_names_the_rank_and_why(knowledge: Database) -> None:
    case = CAPTURED / "late_loader_averaging_4"
    report = analyze_paths([case], case.name, knowledge)
    first = report.causes[0]
    assert (report.verdict, first.id) == ("crash", "distributed.timeout")
    assert first.facts["culprit_rank"] == 2
    assert "Shards.decode (hung_ranks.py:71)" in str(first.facts["culprit_reason"])
    assert any(p.source.endswith("stacks/30956.txt") and p.line == 6 for p in first.evidence)
    assert not [w for w in report.warnings if w.kind == "binary"]


def test_dumps_alone_are_a_report_too(knowledge: Database) -> None:
    case = CAPTURED / "fewer_batches_averaging_4" / "fr"
    report = analyze_paths([case], case.name, knowledge)
    assert report.causes[0].facts["culprit_rank"] == 2
    assert "broadcast Float[4] as no. 34" in str(report.causes[0].facts["culprit_reason"])
    assert {s.format for s in report.sources} == {"flight recorder"}


def test_dumps_add_to_what_the_log_tells_of_a_rank_that_was_killed(knowledge: Database) -> None:
    """The log alone takes the lost connections for it; the rank without a dump is the one that was killed."""
    case = CAPTURED / "dead_rank_grid_4"
    alone = analyze_paths([case / "job.log"], case.name, knowledge)
    report = analyze_paths([case], case.name, knowledge)
    first = report.causes[0]
    assert (report.verdict, first.id, first.facts["rank"], first.facts["culprit_rank"]) == ("crash", "process.worker_died", 1, 1)
    assert first.probability >= alone.causes[0].probability
    dumps = analyze_paths([case / "fr"], case.name, knowledge)  # without a connection that was lost, it may as well hang
    assert (dumps.causes[0].id, dumps.causes[0].facts["culprit_rank"]) == ("distributed.timeout", 1)


def test_a_rank_that_raised_is_told_by_its_exception(knowledge: Database) -> None:
    case = CAPTURED / "exception_averaging_4"
    report = analyze_paths([case], case.name, knowledge)
    assert report.causes[0].id == "code.exception"


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("case", "place", "remedy"),
    [
        ("hang_fewer_batches", "hung_ranks.py:159", r"as many batches .* at evaluate \(hung_ranks\.py:159\), after"),
        ("hang_late_loader", "hung_ranks.py:73", r"wait less at Shards\.decode \(hung_ranks\.py:73\)"),
        ("hang_sleeping_hook", "hung_ranks.py:90", r"what rank 1 waits for at on_gradient \(hung_ranks\.py:90\)"),
    ],
)
def test_the_odd_ranks_line_is_the_place_and_in_the_first_remedy(case: str, place: str, remedy: str, knowledge: Database) -> None:
    first = sample(case, knowledge).causes[0]
    assert place in first.where
    assert re.search(remedy, first.remediations[0].action)


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("case", "cause", "told"),
    [
        (
            "hang_frozen_disk",
            "host_os.lockup",
            r"at Shards\.remember \(hung_ranks\.py:88\), since its last call at 2026-11-29T09:0",
        ),
        (
            "hang_lost_disk",
            "storage.io_error",
            r"at Shards\.read_patiently \(hung_ranks\.py:\d+\), since its last call at 2026-11-29T",
        ),
        ("hang_out_of_memory", "host_memory.oom_cgroup", r"it left no dump"),
    ],
)
def test_the_kernels_reason_and_the_rank_stand_side_by_side(case: str, cause: str, told: str, knowledge: Database) -> None:
    report = sample(case, knowledge)
    assert report.causes[0].id == cause
    said = what_happened(report)
    assert re.search(rf"Rank 1 \(pid \d+( on node-1)?\) kept the others waiting: .*{told}", said)
    assert "2 ranks (0, 2) wait for it in all_reduce no. 23 of group default_pg (0) at averaging (hung_ranks.py:146)" in said


def test_a_rank_that_ended_well_while_others_went_on_is_told_as_such(knowledge: Database) -> None:
    case = CAPTURED.parent / "captured_ends" / "ended_well_3"
    report = analyze_paths([case], case.name, knowledge)
    first = report.causes[0]
    assert (report.verdict, first.id, first.facts["culprit_rank"]) == ("crash", "distributed.peer_lost", 1)
    assert "it ended well (exit status 0) while others went on; 2 ranks (0, 2) wait for it" in first.summary
    assert first.remediations[0].action.startswith("Give rank 1 as many steps as the others have")
    assert "ranks.py" not in first.where  # that is the line of the ranks that lost it
