"""Templates to sentences and commands: this case's numbers, nothing invented, nothing that a log could make act."""

import re

import pytest
from msgspec.structs import replace

from forensics.advice.remedies import fitting_questions, fitting_remedies
from forensics.advice.wording import fact_text, fill_command, fill_template, summary
from forensics.core.text import format_size
from forensics.database import Cause, Database, Missing, Remedy

CAUSE = Cause(
    id="family.thing",
    title="A thing",
    means="It happened.",
    signatures=(),
    remedies=(
        Remedy(
            "Raise the limit above {limit_bytes}", "admin", "It was {limit_bytes}.", ("set {limit_bytes}",), when=("limit_bytes",)
        ),
        Remedy("Hold less", "user", "It is too much. It was {limit_bytes}.", ("kill {pid}",), source="https://example.org"),
        Remedy("Only without a pid", "user", "No pid.", unless=("pid",)),
    ),
    summary=(("{task} was killed at {limit_bytes}.", "{task} was killed.", "Something was killed."), ("It had pid {pid}.",)),
    missing=(Missing("the limit", "it helps", ("cat {path}",), unless=("limit_bytes",)),),
)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (444796 << 10, "434 MiB"),
        (400 << 20, "400 MiB"),
        (int(1.5 * 2**30), "1.5 GiB"),
        ((1 << 20) - 1, "1 MiB"),
    ],
)
def test_sizes_for_people(count: int, text: str) -> None:
    assert format_size(count) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("driver_cuda", "11040", "11.4"),
        ("driver_cuda", "12.2", "12.2"),
        (
            "file",
            "/opt/conda/envs/train/lib/python3.11/site-packages/torch/serialization.py",
            "…/site-packages/torch/serialization.py",
        ),
        ("file", "/home/u/run/train.py", "/home/u/run/train.py"),
        ("timeout_s", 600.0, "10 min"),
        ("timeout_s", 7200.0, "2 h"),
        ("idle_s", 0.5, "0.5 s"),
        ("pid", 12, "12"),
    ],
)
def test_facts_for_people(name: str, value: float | str, text: str) -> None:
    assert fact_text(name, value) == text


def test_the_first_sentence_whose_fields_are_known_is_told() -> None:
    assert summary(CAUSE, {"task": "python", "limit_bytes": 400 << 20, "pid": 7}) == "python was killed at 400 MiB. It had pid 7."
    assert summary(CAUSE, {"task": "python"}) == "python was killed."
    assert summary(CAUSE, {}) == "Something was killed."


def test_remedies_are_this_cases_own() -> None:
    told = fitting_remedies(CAUSE, {"limit_bytes": 400 << 20, "pid": 7})
    actions = [(a.rank, a.who, a.action.partition(".")[0]) for a in told]
    assert actions == [(1, "admin", "Raise the limit above 400 MiB"), (2, "user", "Hold less")]
    assert told[0].commands == ("set 419430400",)
    bare = fitting_remedies(CAUSE, {})
    assert [a.action.partition(".")[0] for a in bare] == ["Hold less", "Only without a pid"]
    assert bare[0].commands == ("kill PID   # ends the process",)
    assert bare[0].why == "It is too much."


def test_what_is_missing_is_asked_for_once_it_is_missing() -> None:
    assert [m.what for m in fitting_questions(CAUSE.missing, {}, {})] == ["the limit"]
    assert fitting_questions(CAUSE.missing, {"limit_bytes": 1}, {}) == ()


@pytest.mark.parametrize("hostile", ["$(reboot)", "`id`", "; rm -rf /", "a b", "x\nrm", "'", '"', "|tee", ">f", "\u202e"])
def test_no_shell_text_of_a_log_gets_into_a_command(hostile: str) -> None:
    assert fill_command("kill {pid}", {"pid": hostile}) == "kill PID"


def test_what_the_reader_fills_in_stands_in_capitals_and_redirects_nothing() -> None:
    assert fill_command("py-spy dump --pid <pid>   # of rank {rank}", {"rank": 3}) == "py-spy dump --pid PID   # of rank 3"
    assert fill_command("kill <pid of the old run>; {job}", {}) == "kill PID_OF_THE_OLD_RUN; JOB"
    assert fill_command('sort < a.txt > b.txt; <cpu mode="x"/>', {}) == 'sort < a.txt > b.txt; <cpu mode="x"/>'


def test_no_command_of_any_cause_has_a_placeholder_in_angle_brackets(knowledge: Database) -> None:
    entries = [entry for cause in knowledge.causes.values() for entry in (*cause.remedies, *cause.missing)]
    told = [fill_command(command, {}) for entry in entries for command in entry.commands]
    assert [command for command in told if re.search(r"<[a-z][^<>\"]*>", command)] == []


def test_braces_that_are_no_fields_stay() -> None:
    assert fill_template("echo ${HOME} {{.State}} {print $1}", {}) == "echo ${HOME} {{.State}} {print $1}"
    assert fill_template("{pid}", {}) is None


@pytest.mark.parametrize(
    ("template", "facts", "said"),
    [
        ("It counted {kills} kill(s).", {"kills": 1}, "It counted 1 kill."),
        ("It counted {kills} kill(s).", {"kills": 12}, "It counted 12 kills."),
        ("Look at rank(s) {ranks} first.", {"ranks": "3"}, "Look at rank 3 first."),
        ("Look at rank(s) {ranks} first.", {"ranks": "3, 4"}, "Look at ranks 3, 4 first."),
        ("Rank(s) {ranks} did not join.", {"ranks": 11}, "Rank 11 did not join."),
    ],
)
def test_a_noun_beside_a_number_is_in_its_form(template: str, facts: dict[str, int | str], said: str) -> None:
    assert fill_template(template, facts) == said


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("Try again.", "It said: Try again. Then it left."),
        ("really?", "It said: really? Then it left."),
        ("no", "It said: no. Then it left."),
    ],
)
def test_a_sentence_that_ends_in_a_quoted_sentence_has_one_full_stop(value: str, told: str) -> None:
    assert fill_template("It said: {message}. Then it left.", {"message": value}) == told
    assert fill_template("{message}.txt is gone.", {"message": "a."}) == "a..txt is gone."


def test_a_cell_is_told_as_people_call_it_and_a_message_ends_its_sentence(knowledge: Database) -> None:
    place = {"file": "Cell In[28]", "line_no": 35}
    assert fill_template("Start at {file}:{line_no}", place) == "Start at cell 28, line 35"
    raised = {"exc_message": "takes 1 positional argument but 2 were given", "function": "fetch", **place}
    said = summary(knowledge.causes["code.config"], raised)
    counted = summary(knowledge.causes["code.config"], {**raised, "exc_message": "2 root error(s) found."})
    assert "root error" not in counted
    assert "The message was: takes 1 positional argument but 2 were given. It came from cell 28, line 35 in fetch." in said


def test_a_cell_is_no_file_to_open() -> None:
    facts = {"python_file": "Cell In[2]", "python_line": 2}
    said = Remedy(
        "Look at {python_file}:{python_line}", "user", "It stood there.", ("sed -n {python_line}p {python_file}", "pip list")
    )
    (advice,) = fitting_remedies(replace(CAUSE, remedies=(said,)), facts, {})
    assert advice.action == "Look at cell 2, line 2"
    assert advice.commands == ("pip list",)
