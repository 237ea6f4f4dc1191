"""Words that name no cause get the likeliest ones of their setting, each with what tells it from the others."""

import re

import pytest

from forensics.database import Database, read_rows
from forensics.explain import differential_of, explain

FOUNDING = (
    "Why does the kernel crash during model training?",
    "Why does the kernel crash when fitting a CNN?",
    "What causes kernel errors during CNN model training?",
    "Why does the Jupyter kernel crash during training in Anaconda on Ubuntu?",
    "How to resolve a dead kernel during TensorFlow fit?",
)


@pytest.mark.parametrize(
    ("question", "setting"),
    [
        ("why does my jupyter notebook crash", "notebook"),
        ("the job fails on two nodes of our slurm cluster", "cluster"),
        ("my pod fails and I do not know why", "container"),
        ("training stops", "machine"),
    ],
)
def test_the_words_choose_the_setting(question: str, setting: str) -> None:
    assert differential_of(question).setting == setting


@pytest.mark.parametrize("question", FOUNDING)
def test_a_question_about_a_symptom_gets_a_differential(question: str, knowledge: Database) -> None:
    found = explain(question, knowledge)
    assert found.differential is not None and found.differential.setting == "notebook"
    causes = {c for p in found.differential.possibilities for c in p.causes}
    assert {"host_memory.oom_cgroup", "gpu_memory.capacity", "code.exception", "process.segfault"} <= causes


def test_a_question_that_names_its_cause_gets_none(knowledge: Database) -> None:
    assert explain("CUDA out of memory", knowledge).differential is None


def test_each_row_is_whole(knowledge: Database) -> None:
    for row in read_rows("differential"):
        assert set(row["causes"].split()) <= knowledge.causes.keys()
        assert row["sign"] and row["first"]
        assert bool(row["share"]) == bool(row["source"])


def test_each_term_says_what_to_do_first() -> None:
    assert [row["term"] for row in read_rows("words") if not row["first"]] == ["no cause named"]


@pytest.mark.parametrize(
    "words",
    [
        *("training hangs", "CrashLoopBackOff", "pending forever", "exit code -11", "loss goes up", "the loss is constant"),
        "gpu memory full although nothing runs",
    ],
)
def test_what_a_practitioner_would_say_first_is_said(words: str, knowledge: Database) -> None:
    found = explain(words, knowledge)
    first = found.terms[0].first if found.terms else found.codes[0].action
    assert re.search("stacks|printed before it ended|reason|faulthandler|learning rate|one batch|processes that hold", first)


@pytest.mark.seconds
def test_no_page_has_a_placeholder(knowledge: Database) -> None:
    for cause in knowledge.causes:
        for advice in explain(cause, knowledge).causes[0].advice:
            assert not re.search(r"<[a-z ]+>|\{\w+\}", f"{advice.action} {advice.why} {advice.commands}"), advice
    tables = "words", "xid", "sxid", "cuda_error", "nccl_result", "exit_code", "ntstatus"
    told = [(row.get("first", ""), row.get("commands", ""), row.get("action", "")) for name in tables for row in read_rows(name)]
    assert [row for row in told if re.search(r"<[a-z ]+>|\{\w+\}", " ".join(row))] == []


def test_a_place_where_nothing_was_found_is_not_to_be_searched_first(knowledge: Database) -> None:
    assert not any("dmesg" in command for command in explain("no OOM in dmesg", knowledge).terms[0].commands)


@pytest.mark.seconds
def test_each_cause_keeps_a_remedy_that_needs_no_case(knowledge: Database) -> None:
    without = [c for c in knowledge.causes if c != "none.healthy" and not explain(c, knowledge).causes[0].advice]
    assert without == []
