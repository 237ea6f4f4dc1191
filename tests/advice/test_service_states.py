"""The table of states that services report: each row holds for its own example, and the report tells it in its words."""

import re
from collections.abc import Callable

import pytest

from forensics.advice.service_states import OR, told_state
from forensics.advice.wording import fields_of
from forensics.database import Database, read_rows
from forensics.database.message import wordings
from forensics.model import Proof, Report

ROWS = read_rows("service_states")
CONTEXT = {
    "answered_s",
    "pod",
    "namespace",
    "container",
    "exit_code",
    "limit_bytes",
    "pod_limit_bytes",
    "pods",
    "nodes_named",
    "runtime_says",
    "probe_says",
    "service",
    "job",
}


def proof(text: str) -> Proof:
    return Proof("kubelet.log", 1, text, "test", "strong")


@pytest.mark.parametrize("row", ROWS, ids=[r["state"] for r in ROWS])
def test_each_row_tells_its_example(row: dict[str, str], knowledge: Database) -> None:
    for cause in row["cause"].split():
        assert cause in knowledge.causes
        told = told_state(cause, {}, [proof(row["example"])])
        assert told is not None and told.headline == row["headline"]
        assert (told.remedy is not None) == bool(row["do"])
        assert row["source"].startswith("https://")


@pytest.mark.parametrize("row", ROWS, ids=[r["state"] for r in ROWS])
def test_texts_name_only_what_a_message_or_the_case_gives(row: dict[str, str]) -> None:
    named = {n for column in ("says", "do", "why", "commands") for n in fields_of(row[column])}
    groups = {n for w in wordings(row["message"].split(OR)) for n in re.compile(w).groupindex}
    assert named <= groups | CONTEXT


def test_commands_are_filled_with_pod_namespace_and_container() -> None:
    line = 'skipping: failed to "StartContainer" with CrashLoopBackOff: "back-off 5m0s restarting failed container=fit pod=fit-0_ml(0a1b)"'
    told = told_state("code.exception", {}, [proof(line)])
    assert told and told.remedy
    assert told.remedy.commands[0] == "kubectl -n ml logs fit-0 -c fit --previous"
    assert told.where == {"pod": "ml/fit-0"}


def test_several_pods_in_one_state_are_named_together() -> None:
    line = "back-off 5m0s restarting failed container=fit pod={}_ml(0a1b)"
    told = told_state("code.exception", {}, [proof(line.format("fit-0")), proof(line.format("load-1"))])
    assert told and told.says.startswith("Containers of the pods fit-0, load-1 end")


def test_a_state_of_another_cause_is_not_told() -> None:
    assert told_state("host_memory.oom_global", {}, [proof(ROWS[0]["example"])]) is None
    assert told_state("code.exception", {}, [proof("KeyError: 'image'")]) is None


def test_a_fix_that_belongs_to_the_very_message_stands_in_front_of_the_remedy_of_its_state(
    analyze: Callable[..., Report],
) -> None:
    waits = "  Warning  FailedScheduling  9s  default-scheduler  0/5 nodes are available: 5 node(s) had volume node affinity conflict."
    told = told_state("code.config", {}, [proof(waits)])
    cause = analyze(events_txt=waits + "\n").causes[0]
    first, second = cause.remediations
    assert told and told.remedy and cause.title == told.headline
    assert "volume" in first.action and second.action == told.remedy.action and second.rank == 2
