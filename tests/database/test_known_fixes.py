"""Tests of the fixes that people confirmed: the table itself, and which remedy a message gets."""

import pytest
from msgspec.structs import replace

from forensics.advice.remedies import applies, fitting_remedies
from forensics.database import Database
from forensics.database.effects import begins_with_harm, effects_of
from forensics.database.entries import Cause, Remedy
from forensics.database.known_fixes import (
    KnownFix,
    Row,
    first_steps,
    known_fixes,
    known_fixes_in,
    other_ways,
)
from scripts.lint.builtin import known_fix_faults

BARE = Cause(id="of.no_other_way", title="", means="", signatures=(), remedies=())


def test_the_table_has_no_faults() -> None:
    assert known_fix_faults() == []


@pytest.mark.parametrize("fix", known_fixes(), ids=lambda fix: fix.words[0])
def test_each_row_is_found_in_its_example(fix: KnownFix) -> None:
    assert fix.remedy in known_fixes_in(fix.example)


@pytest.mark.parametrize("fix", known_fixes(), ids=lambda fix: fix.words[0])
def test_no_row_takes_the_message_of_another(fix: KnownFix) -> None:
    """The first row that speaks on an example is its own, wherever the row asks for nothing but the words."""
    told = {"evidence": fix.example, "around": fix.example}
    first = next((r for r in known_fixes_in(fix.example) if applies(r, told, {})), None)
    assert first == fix.remedy or any(not c.startswith(("evidence~", "around~")) for c in fix.remedy.when)


def test_rows_that_more_people_confirmed_come_first() -> None:
    numbers = [fix.remedy.confirmed for fix in known_fixes()]
    assert numbers == sorted(numbers, reverse=True) and numbers[0] > 1


def test_every_effect_of_a_command_is_marked() -> None:
    for fix in known_fixes():
        assert {e.kind for c in fix.remedy.commands for e in effects_of(c)} <= set(fix.remedy.effects)


def test_a_message_gets_its_remedy_whatever_the_cause_with_the_number_of_people() -> None:
    message = "ImportError: cannot import name 'cached_download' from 'huggingface_hub'"
    first = fitting_remedies(BARE, {"evidence": message})[0]
    assert "huggingface_hub" in first.action and first.confirmed >= 2


def test_what_a_group_finds_stands_in_the_remedy() -> None:
    message = "AttributeError: `np.Inf` was removed in the NumPy 2.0 release. Use `np.inf` instead."
    assert "np.inf in place of np.Inf" in fitting_remedies(BARE, {"evidence": message})[0].action


def test_a_message_that_is_not_there_gets_none() -> None:
    assert known_fixes_in("ImportError: cannot import name 'fit' from 'mine'") == ()
    assert fitting_remedies(BARE, {}) == ()


def test_other_ways_are_for_causes_that_there_are_and_destroy_nothing(knowledge: Database) -> None:
    families = {name.partition(".")[0] for name in knowledge.causes}
    for way in other_ways():
        assert all(name in knowledge.causes or name in families for name in way.causes)
        assert not way.remedy.effects and "<" not in way.remedy.do


def test_a_fact_that_contradicts_hides_a_row() -> None:
    asked = {"evidence": "AssertionError: Torch not compiled with CUDA enabled"}
    on_mac = fitting_remedies(BARE, asked, {"system": {"macos"}})
    assert on_mac and all("build of the framework" not in a.action for a in on_mac)
    assert "build of the framework" in fitting_remedies(BARE, asked)[0].action


@pytest.mark.parametrize(("message", "told", "not_told"), [
    ("/usr/bin/ld: cannot find -lcudart", "libcudart.so on LIBRARY_PATH", "libcuda.so"),
    ("ld: cannot find -lcuda: No such file or directory", "libcuda.so", "keyword"),
    ("ValueError: Tokenizer class LLaMATokenizer does not exist or is not currently imported.", "LLaMATokenizer in tok", "knows this model"),
    ("The detected CUDA version (11.2) mismatches the version that was used to compile\nPyTorch (10.2).", "toolkit of CUDA 10.2", "11.2 toolkit"),
    ("AttributeError: module 'torch' has no attribute 'compile'", "Update PyTorch", "Look which"),
    ("AttributeError: module 'torch' has no attribute 'nn'", "Look which torch", "Update PyTorch"),
    ("ImportError: cannot import name 'Tensor' from 'torch' (unknown location)", "Look where torch", "Update PyTorch"),
    ("ImportError: cannot import name 'main' from 'mypart' (/srv/run/mypart.py)", "", "reinstall"),
    ("ImportError: cannot import name 'fit' from 'typing' (/usr/lib/python3.11/typing.py)", "", "Run it with Python"),
    ("KeyError: 'local_rank'", "", "torchrun"),
    ("KeyError: 'accuracy'", "", "history"),
    ("RuntimeError: CUDA error: device-side assert triggered", "labels and token ids", "probabilities"),
    ("Assertion `input_val >= zero && input_val <= one` failed.\nCUDA error: device-side assert triggered", "", "labels and token ids"),
    ("RuntimeError: CUDA error: no kernel image is available for execution on the device", "", "Compile"),
    ("Could not load library libcudnn_ops_infer.so.8: cannot open shared object file", "Install cuDNN 8", "LD_LIBRARY_PATH for this"),
    ("expected input[8, 1, 224, 224] to have 3 channels, but got 1 channels instead", "", "permute"),
    ("Target size (torch.Size([16])) must be the same as input size (torch.Size([16, 10]))", "", "unsqueeze"),
    ("Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same", "Move the input", "Move the model"),
    ("OSError: Can't load tokenizer for './weights/base'", "Put all files", "gated"),
    ("OSError: Can't load tokenizer for 'acme/base-7b'", "gated", "Put all files"),
    ("TypeError: 'weights_only' is an invalid keyword argument for Unpickler()", "1.13", "safetensors"),
    ("TypeError: f() takes 1 positional argument but 2 positional arguments (and 1 keyword-only argument) were given", "by name", "mel"),
])  # fmt: skip
def test_a_row_takes_its_own_message_and_not_that_of_a_sibling(message: str, told: str, not_told: str) -> None:
    actions = " ".join(a.action for a in fitting_remedies(BARE, {"evidence": message, "around": message}))
    assert told in actions and not_told not in actions and bool(actions) is bool(told)


@pytest.mark.parametrize("step", first_steps(), ids=lambda step: step.place.line)
def test_a_first_step_is_told_in_front_of_what_only_says_to_read_on_and_behind_what_the_cause_knows(step: Row) -> None:
    read_on = Remedy(do="Find the first error above the last line", who="user", why="", unless=("earlier_remedy",))
    own = Remedy(do="Mend the very thing", who="user", why="", when=("own_fact",))
    given = {c: "given" for c in step.remedy.when if "~" not in c}
    message = step.example.partition(": ")[2]
    facts = {"evidence": step.example, "around": step.example, "whole_message": step.example, "exc_message": message, **given}
    asked = {"own_fact": "there", **facts}
    first = fitting_remedies(replace(BARE, remedies=(read_on,)), facts)[0].action
    assert first != read_on.do
    assert fitting_remedies(replace(BARE, remedies=(own, read_on)), asked)[0].action == own.do


def test_every_command_of_a_first_step_that_destroys_is_marked_and_never_first() -> None:
    for step in first_steps():
        harms = [bool(effects_of(c)) for c in step.remedy.commands]
        assert not any(harms[:1]), step.example


@pytest.mark.parametrize("step", first_steps(), ids=lambda step: step.place.line)
def test_a_first_step_ends_deletes_and_overwrites_nothing(step: Row) -> None:
    """It stands before all else, for whatever program said so."""
    assert not begins_with_harm(step.remedy.do)
    assert not step.remedy.effects
