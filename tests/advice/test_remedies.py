"""Which remedies are told: those that the case shows the need of, a few that need nothing, and the rest under a condition."""

import pytest

from forensics.advice.remedies import MAX_GENERAL, MIN_GENERAL, fitting_remedies
from forensics.database import Cause, Database
from forensics.database.conditions import needs, needs_of
from forensics.database.entries import Remedy
from forensics.signature_lint.template_fields import unshown


def remedy(do: str, *when: str, unless: tuple[str, ...] = ()) -> Remedy:
    return Remedy(do=do, who="user", why="", when=when, unless=unless)


def cause(*remedies: Remedy) -> Cause:
    return Cause(id="process.x", title="", means="", signatures=(), remedies=remedies)


def told(given: Cause, **environment: str) -> list[str]:
    return [a.action for a in fitting_remedies(given, {}, {k: {v} for k, v in environment.items()})]


def test_what_nothing_tells_of_is_told_under_a_condition_behind_the_others() -> None:
    both = cause(remedy("Use fewer loader workers", "loader=workers"), remedy("Look at the core dump"))
    assert told(both) == ["Look at the core dump", "If its data loader has workers: use fewer loader workers"]
    assert told(both, loader="workers") == ["Use fewer loader workers", "Look at the core dump"]


def test_where_every_remedy_lacks_its_tools_the_first_is_told_without_commands() -> None:
    debug = Remedy(do="Read the traceback", who="user", why="", commands=("python -m pdb train.py",))
    ask = Remedy(do="Print the versions", who="user", why="", commands=("python -m pip list",))
    found = fitting_remedies(cause(debug, ask), {}, {"language": {"julia"}})
    assert [(a.action, a.commands) for a in found] == [("Read the traceback", ())]
    assert [a.action for a in fitting_remedies(cause(debug, ask, remedy("Look")), {}, {"language": {"julia"}})] == ["Look"]


def test_what_the_case_excludes_is_not_told() -> None:
    assert told(cause(remedy("Ask the pod", "scheduler=kubernetes")), scheduler="slurm") == []


def test_of_remedies_with_the_same_open_condition_the_first_is_told() -> None:
    assert told(cause(remedy("Ask A", "work=training"), remedy("Ask B", "work=training"))) == ["If a training ran there: ask A"]


def test_general_remedies_fill_up_and_shown_ones_are_always_told() -> None:
    general = [remedy(f"General {i}") for i in range(9)]
    shown = [remedy(f"Shown {i}", "loader=workers") for i in range(5)]
    assert len(told(cause(*general))) == MAX_GENERAL
    both = told(cause(*general, *shown), loader="workers")
    assert [t for t in both if t.startswith("Shown")] == [f"Shown {i}" for i in range(5)]
    assert len(both) == MIN_GENERAL + 5


def test_of_a_cause_that_is_not_sure_the_line_comes_first_and_little_follows() -> None:
    given = cause(
        remedy("General 1"),
        remedy("General 2"),
        remedy("Shown", "exit_code"),
        remedy("Use fewer loader workers", "loader=workers"),
    )
    bare = fitting_remedies(given, {}, {}, "build.log:12")
    assert [a.action for a in bare] == ["Read build.log:12 and the lines around it before you try a remedy", "General 1"]
    shown = fitting_remedies(given, {"exit_code": 1}, {}, "build.log:12")
    assert [(a.rank, a.action.split()[0]) for a in shown] == [(1, "Read"), (2, "Shown")]


@pytest.mark.parametrize("text", ["Use fewer loader workers", "Drain it with sbatch", "Ask the pod", "Call torch.load"])
def test_a_remedy_that_speaks_of_what_nothing_shows_is_a_fault(text: str) -> None:
    assert len(unshown(cause(remedy(text)))) == 1
    assert not unshown(cause(remedy(text, "exit_code")))


def test_a_cause_of_gpus_shows_the_gpu_and_an_if_asks_for_nothing() -> None:
    assert needs_of("Reset the GPU", "host_os.panic") == ["GPU"]
    assert needs_of("Reset the GPU", "gpu_hardware.ecc") == []
    assert not unshown(cause(remedy("If it ran in a container, ask that")))


def test_no_remedy_of_the_database_speaks_of_what_nothing_shows(knowledge: Database) -> None:
    assert [f.what for c in knowledge.causes.values() for f in unshown(c)] == []


def test_every_condition_has_words() -> None:
    assert all(n.wording.startswith("If ") for n in needs())
