"""What one remedy of a list has said, the next ones do not say again."""

from collections.abc import Sequence

import pytest

from forensics import pipeline
from forensics.advice.alternatives import without_repeats
from forensics.advice.wording import fill_command
from forensics.model import Advice, Report
from forensics.report import render
from forensics.report.phrases import prompt
from tests.conftest import text_source

CODE = "The line there is `x = y[7]`."
WORKER = """\
epoch 0 step 8 loss 0.1
Traceback (most recent call last):
  File "/run/ld.py", line 17, in <module>
    for step, batch in enumerate(loader):
KeyError: Caught KeyError in DataLoader worker process 1.
Original Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/site-packages/torch/utils/data/_utils/worker.py", line 349, in _worker_loop
    data = fetcher.fetch(index)
  File "/run/ld.py", line 10, in __getitem__
    return {"text": 1}["label"]
KeyError: 'label'
"""


def advice(action: str, why: str = "", commands: Sequence[str] = (), reference: str | None = None) -> Advice:
    return Advice(1, "user", action, why, tuple(commands), reference)


def test_a_command_a_reference_and_a_quoted_line_are_told_once() -> None:
    first = advice("Do it at a.py:3", f"Why. {CODE}", ["python -X faulthandler a.py", "free -h"], "https://a")
    second = advice("Or else", f"So. {CODE}", ["A=1 python -X faulthandler a.py   # again", "ls"], "https://a")
    one, two = without_repeats([first, second], CODE, "a.py:3")
    assert one == first and (two.why, two.commands, two.reference) == ("So.", ("ls",), None)


def test_a_line_that_the_action_quotes_is_not_quoted_again() -> None:
    (one,) = without_repeats([advice("Mend `x = y[7]` at a.py:3", f"Why. {CODE}")], CODE, "a.py:3")
    assert one.why == "Why."


@pytest.mark.parametrize(("third", "kept"), [(("", ()), 2), (("", ("ls",)), 3)])
def test_behind_the_second_another_word_for_the_same_place_is_left_out(third: tuple[str, Sequence[str]], kept: int) -> None:
    told = [advice("Do it at a.py:3"), advice("Debug a.py:3"), advice("Look at a.py:3", *third)]
    assert len([*without_repeats(told, "", "a.py:3")]) == kept


def analysed(text: str, name: str = "job.log") -> Report:
    return pipeline.analyze([text_source(name, text)], "case", pipeline.database())


def test_of_a_workers_exception_the_remedies_do_not_repeat_each_other() -> None:
    told = analysed(WORKER).causes[0].remediations
    assert len(told) == 2 and sum("return" in a.action + a.why for a in told) == 1
    assert not any("LOOKED_UP_IN" in c for a in told for c in a.commands)


def test_a_number_of_people_belongs_to_remedies_of_the_very_message() -> None:
    crash = analysed("step 1\nrun.sh: line 2: 3666 Segmentation fault      python fit.py\n")
    assert [a.confirmed for a in crash.causes[0].remediations] == [0] * len(crash.causes[0].remediations)
    told = [c for a in crash.causes[0].remediations for c in a.commands]
    assert "PYTHONFAULTHANDLER=1 python -X faulthandler fit.py" in told and not any("train.py" in c for c in told)


@pytest.mark.parametrize(("facts", "said"), [({"own_program": "fit.py"}, "python fit.py -v"), ({}, "python YOUR_SCRIPT.py -v")])
def test_a_command_starts_the_script_of_the_case(facts: dict[str, str], said: str) -> None:
    assert fill_command("python train.py -v", facts) == said


def test_statements_of_python_have_pythons_prompt() -> None:
    text = render(
        analysed("RuntimeError: stack expects each tensor to be equal size, but got [8] at entry 0 and [9] at entry 1\n"), "text"
    )
    assert '\n           >>> Image.open(path).convert("RGB")\n' in text and "$ Image" not in text
    assert [prompt(c) for c in ("for p in $(pgrep -f x); do py-spy dump --pid $p; done", "for x in y: print(x)")] == [
        "$ ",
        ">>> ",
    ]


def test_how_the_lines_of_a_program_begin_is_not_told() -> None:
    text = render(analysed(WORKER.replace("epoch 0 step 8", "2026-11-30 10:00:00 INFO step 8")), "text")
    assert text.endswith("\n  job.log  11 lines\n")


def test_the_script_of_a_traceback_is_the_one_to_start() -> None:
    commands = [c for a in analysed(WORKER).causes[0].remediations for c in a.commands]
    assert any(c.startswith("python -m pdb -c continue /run/ld.py") for c in commands)
