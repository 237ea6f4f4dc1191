"""Which remedies are told: those that the case shows the need of, and a few that need nothing."""

import pytest
from msgspec.structs import replace

from forensics.advice.alternatives import looks
from forensics.advice.remedies import fitting_remedies
from forensics.advice.wording import fields_of
from forensics.database import Cause, Database
from forensics.database.conditions import needs_of
from forensics.database.effects import begins_with_harm
from forensics.database.entries import Remedy
from forensics.signature_lint.lint import unfilled_fields, unshown


def remedy(do: str, *when: str, unless: tuple[str, ...] = ()) -> Remedy:
    return Remedy(do=do, who="user", why="", when=when, unless=unless)


def cause(*remedies: Remedy) -> Cause:
    return Cause(id="process.x", title="", means="", signatures=(), remedies=remedies)


def told(given: Cause, **environment: str) -> list[str]:
    return [a.action for a in fitting_remedies(given, {}, {k: {v} for k, v in environment.items()})]


def test_what_nothing_tells_of_is_not_told() -> None:
    both = cause(remedy("Use fewer loader workers", "loader=workers"), remedy("Look at the core dump"))
    assert told(both) == ["Look at the core dump"]
    assert told(both, loader="workers") == ["Use fewer loader workers", "Look at the core dump"]


def test_behind_the_reason_stands_the_code_there_and_how_to_see_that_it_worked() -> None:
    mend = Remedy(do="Mend {file}:{line_no}", who="user", why="It failed.", check="it ends", cost="time")
    place = {"file": "a.py", "line_no": 3, "code_line": "run(x)", "caller_place": "b.py:9"}
    assert fitting_remedies(cause(mend), place)[0].why == (
        "It failed. The line there is `run(x)`, and b.py:9 leads to it. It worked when it ends. It costs time."
    )
    quotes = replace(mend, do="Mend {file}:{line_no}, `{code_line}`", check="", cost="")
    assert fitting_remedies(cause(quotes), place)[0].why == "It failed."


def test_where_every_remedy_lacks_its_tools_the_first_is_told_without_commands() -> None:
    debug = Remedy(do="Read the traceback", who="user", why="", commands=("python -m pdb train.py",))
    ask = Remedy(do="Print the versions", who="user", why="", commands=("python -m pip list",))
    found = fitting_remedies(cause(debug, ask), {}, {"language": {"julia"}})
    assert [(a.action, a.commands) for a in found] == [("Read the traceback", ())]
    assert [a.action for a in fitting_remedies(cause(debug, ask, remedy("Look")), {}, {"language": {"julia"}})] == ["Look"]


def test_what_the_case_excludes_is_not_told() -> None:
    assert told(cause(remedy("Ask the pod", "scheduler=kubernetes")), scheduler="slurm") == []


GENERAL = [
    remedy(f"{verb} the {what}") for verb, what in (("Clean", "fans"), ("Paint", "walls"), ("Sort", "tools"), ("Water", "roses"))
]


def test_what_the_case_shows_is_told_always_and_others_behind_it_up_to_a_number() -> None:
    shown = [remedy(f"Shown {i}", "loader=workers") for i in range(5)]
    assert told(cause(*GENERAL, remedy("Sell all clocks"))) == [r.do for r in GENERAL]
    assert told(cause(*shown, *GENERAL), loader="workers") == [f"Shown {i}" for i in range(5)]
    assert told(cause(*GENERAL, *shown[:1]), loader="workers") == [
        "Clean the fans",
        "Paint the walls",
        "Shown 0",
        "Sort the tools",
    ]


def test_a_last_resort_stands_behind_and_changes_stand_before_what_only_looks() -> None:
    look, change = (remedy(do, unless=("earlier_remedy",)) for do in ("Look at the walls", "Clean all fans"))
    given = cause(remedy("Own", "exit_code"), look, change)
    assert [a.action for a in fitting_remedies(given, {"exit_code": 1})] == ["Own", "Clean all fans"]
    assert told(given) == ["Look at the walls", "Clean all fans"]


def test_what_says_the_same_as_one_above_it_is_told_once() -> None:
    again = remedy("Clean the dusty fans first", unless=("earlier_remedy",))
    assert told(cause(remedy("Clean the dusty fans"), again)) == ["Clean the dusty fans"]


def test_of_two_that_were_made_for_the_case_and_say_the_same_the_first_is_told() -> None:
    first = remedy("Let nas export that folder to this machine, mounted with options that the server offers", "loader=workers")
    again = remedy("Let the server export that folder to this machine, mounted with options that it asks for", "loader=workers")
    other = remedy("Let the client of this machine speak the version of the protocol that the server knows", "loader=workers")
    assert told(cause(first, again, other), loader="workers") == [first.do, other.do]


def test_what_the_case_contradicts_is_not_told_behind_the_first() -> None:
    kept_back = [
        remedy(do, unless=("earlier_remedy",)) for do in ("Call tf.reset for Keras", "Set torch_threads=1", "Clean fans")
    ]
    facts = {"around": "started with torch_threads = 1"}
    found = fitting_remedies(cause(remedy("Look"), *kept_back), facts, {"framework": {"torch"}})
    assert [a.action for a in found] == ["Look", "Clean fans"]


def test_the_remedy_of_another_explanation_is_told_with_its_title() -> None:
    other = Cause(id="process.y", title="The disk is full", means="", signatures=(), remedies=(remedy("Empty it"),))
    found = fitting_remedies(cause(remedy("Look")), {}, others=[(other, {})])
    assert [(a.rank, a.action) for a in found] == [(1, "Look"), (2, "If instead the disk is full: Empty it")]
    assert [a.action for a in fitting_remedies(cause(remedy("Empty it")), {}, others=[(other, {})])] == ["Empty it"]


def test_another_way_that_people_confirmed_stands_behind_the_own_remedy_and_before_a_mere_look() -> None:
    message = {"evidence": "ImportError: cannot import name 'fit' from 'mine'", "around": "x"}
    bare = Cause(id="code.import", title="", means="", signatures=(), remedies=(remedy("Own", "evidence"),))
    found = fitting_remedies(bare, message)
    assert found[0].action == "Own" and found[1].confirmed >= found[2].confirmed > 0
    looks = replace(bare, remedies=(remedy("See the walls", unless=("earlier_remedy",)),))
    assert fitting_remedies(looks, message)[0].confirmed > 0


def test_a_remedy_for_signatures_needs_one_of_them_in_the_evidence() -> None:
    given = cause(remedy("Own", "signature=ena|efa"))
    assert [a.action for a in fitting_remedies(given, {"signature": "host_hardware.nic\nefa"})] == ["Own"]
    assert not fitting_remedies(given, {"signature": "enable"})
    assert not fitting_remedies(given, {})


def test_a_condition_names_signatures_that_the_cause_has() -> None:
    faults = unfilled_fields(cause(remedy("Own", "signature=ena|kernel_oom")), (), set, ("kernel_oom",))
    assert [f.what for f in faults] == ["signature=ena|kernel_oom under when or unless: process.x has no signature ena"]


def test_of_a_cause_that_is_not_sure_the_line_comes_first_and_only_what_the_case_shows_follows() -> None:
    given = replace(
        cause(remedy("General"), remedy("Shown", "exit_code"), remedy("Use fewer loader workers", "loader=workers")),
        title="No peer",
    )
    bare = fitting_remedies(given, {}, {}, "build.log:12")
    assert [a.action for a in bare] == ["Read build.log:12 and the lines around it. If no peer: General"]
    shown = fitting_remedies(given, {"exit_code": 1}, {}, "build.log:12")
    assert [a.action for a in shown] == ["Read build.log:12 and the lines around it. If no peer: Shown"]


def test_a_command_of_a_scheduler_that_nothing_shows_names_it() -> None:
    again = Remedy(do="Start it again", who="user", why="", commands=("sbatch --requeue job.sh",))
    assert [a.commands for a in fitting_remedies(cause(again), {}, {})] == [("sbatch --requeue job.sh   # under Slurm",)]
    assert [a.commands for a in fitting_remedies(cause(again), {}, {"scheduler": {"pbs"}})] == [()]
    assert [a.commands for a in fitting_remedies(cause(again), {}, {"scheduler": {"slurm"}})] == [again.commands]


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


def test_what_stops_or_overwrites_is_not_first_where_another_remedy_fits() -> None:
    end = Remedy(do="End the job", who="user", why="", commands=("scancel 12",), effects=("stops",))
    look = Remedy(do="Look at the queue", who="user", why="", commands=("squeue",))
    advice = fitting_remedies(cause(end, look), {}, {"scheduler": {"slurm"}})
    assert [a.action.partition(".")[0] for a in advice] == ["Look at the queue", "End the job"]
    assert advice[1].commands == ("scancel 12   # ends the job",)
    assert fitting_remedies(cause(end), {}, {"scheduler": {"slurm"}})[0].action.startswith("End the job")


def test_of_all_remedies_of_a_cause_none_that_ends_or_restarts_something_is_first(knowledge: Database) -> None:
    assert told(cause(remedy("Reset the GPU, before anything else"), remedy("Clean the fans"))) == [
        "Clean the fans",
        "Reset the GPU, before anything else. It ends every program on the GPU, other users' as well: `nvidia-smi` lists them",
    ]
    for known in knowledge.causes.values():
        facts: dict[str, str | int] = {n: "x" for r in known.remedies for n in fields_of(r.do)}
        every = tuple(replace(r, when=(), unless=(), commands=(), effects=()) for r in known.remedies)
        mild = [r for r in every if looks(r.do) or not begins_with_harm(r.do)]
        first = fitting_remedies(replace(known, id="none.x", remedies=every), facts, {"language": {"python"}})[:1]
        assert not mild or not first or looks(first[0].action) or not begins_with_harm(first[0].action), known.id
