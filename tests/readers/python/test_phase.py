"""The phase of a run in which a traceback ended, and the advice that follows from it."""

import pytest

from forensics import pipeline
from forensics.database import Database
from forensics.model import Finding
from forensics.readers.python.phase import phase_facts
from tests.conftest import text_source

SITE = "/env/lib/python3.11/site-packages"
MESSAGE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.15 GiB is "
    "free. Including non-PyTorch memory, this process has 22.40 GiB memory in use. Of the allocated memory 21.90 GiB is allocated by "
    "PyTorch, and 120.00 MiB is reserved by PyTorch but unallocated."
)
HEAD = "using transformers\n{'loss': 1.214, 'grad_norm': 0.9, 'learning_rate': 1.5e-05, 'epoch': 0.21}\n"


def traceback(*frames: str) -> str:
    """`train.py main` -> a frame of that file and function. The last one is the innermost."""
    rows = (f'  File "{file}", line 12, in {name}\n    run(x)\n' for file, name in (f.split(" ") for f in frames))
    return "Traceback (most recent call last):\n" + "".join(rows)


TRAINER = f"{SITE}/transformers/trainer.py"
MODULE = f"{SITE}/torch/nn/modules/module.py"
EVALUATION = ("run.py <module>", f"{TRAINER} train", f"{TRAINER} _maybe_log_save_evaluate", f"{TRAINER} evaluate")


@pytest.mark.parametrize(
    ("frames", "facts"),
    [
        (  # transformers, in a training
            (*EVALUATION, f"{TRAINER} evaluation_loop", f"{TRAINER} prediction_step", f"{MODULE} _call_impl", "model.py forward"),
            {"evaluating": "prediction_step", "evaluation_file": TRAINER},
        ),
        (  # the predictions of all batches are joined
            (*EVALUATION, f"{TRAINER} evaluation_loop", f"{SITE}/transformers/trainer_pt_utils.py nested_concat"),
            {"evaluating": "evaluation_loop", "evaluation_file": TRAINER, "gathering": "nested_concat"},
        ),
        (  # a training step, although the model names a layer like an evaluation
            ("run.py <module>", f"{TRAINER} train", f"{TRAINER} training_step", f"{MODULE} _call_impl", "model.py predict_boxes"),
            {},
        ),
        (("run.py <module>", "run.py train_epoch", "model.py forward", "model.py predict_boxes"), {}),
        (("run.py main", f"{MODULE} to", f"{MODULE} _apply", f"{MODULE} convert"), {"loading_weights": "convert"}),
        (("run.py main", f"{MODULE} _call_impl", "model.py forward", f"{MODULE} _apply"), {}),
        (("run.py <module>", "run.py train_and_evaluate", "model.py forward"), {}),
        (("run.py <module>", "loader.py validate_environment"), {"evaluating": None}),  # of a library, before it loads a model
        (("test_model.py test_training_runs", "model.py forward"), {}),
        (("run.py <module>", "run.py train_epoch", "run.py val_epoch", "model.py forward"), {"evaluating": "val_epoch"}),
        (  # Lightning calls the training through the optimizer, which has no gradients of its own
            (
                "run.py fit",
                f"{SITE}/torch/utils/_contextlib.py decorate_context",
                "run.py closure",
                "run.py training_step",
                "m.py forward",
            ),
            {},
        ),
        (
            (
                "run.py <module>",
                f"{SITE}/torch/utils/_contextlib.py decorate_context",
                "run.py embed_all",
                f"{MODULE} _call_impl",
            ),
            {"evaluating": "embed_all"},
        ),
        (
            ("run.py <module>", f"{SITE}/transformers/generation/utils.py generate", f"{MODULE} _call_impl", "m.py forward"),
            {"generating": "generate"},
        ),
    ],
)
def test_the_phase_is_that_of_the_innermost_function_above_the_model(
    frames: tuple[str, ...], facts: dict[str, str | None]
) -> None:
    lines = (traceback(*frames) + MESSAGE).split("\n")
    found = phase_facts(lines, len(lines) - 1)
    assert {name: found.get(name) for name in facts} == facts
    assert facts or not found


def test_frames_of_notebooks_name_their_functions_alike() -> None:
    lines = ["Traceback (most recent call last)", "Cell In[4], line 2", "----> 2 evaluate(model)"]
    lines += [f"File {SITE}/eval/loops.py:40, in Loop.evaluate(self, data)", "---> 40 y = model(x)", MESSAGE]
    assert phase_facts(lines, 5)["evaluating"] == "evaluate"


def first_cause(knowledge: Database, text: str) -> Finding:
    first = pipeline.analyze([text_source("train.log", text + MESSAGE + "\n")], "case", knowledge).causes[0]
    assert first.id == "gpu_memory.capacity"
    return first


TRAINING_ADVICE = ("gradient accumulation", "gradients of two", "optimizer", "checkpointing", "Train ")


def test_an_evaluation_gets_no_advice_for_training(knowledge: Database) -> None:
    frames = traceback(
        *EVALUATION, f"{TRAINER} evaluation_loop", f"{TRAINER} prediction_step", f"{MODULE} _call_impl", "model.py forward"
    )
    settings = "Namespace(per_device_train_batch_size=64, per_device_eval_batch_size=16)\n"
    for text, batch in ((frames, "a smaller batch -"), (settings + frames, "a smaller batch than 16 (train.log:")):
        actions = [r.action for r in first_cause(knowledge, HEAD + text).remediations]
        assert actions[0].startswith("Evaluate with " + batch)
        assert not any(words in action for words in TRAINING_ADVICE for action in actions)


def test_joined_predictions_are_moved_to_main_memory_first(knowledge: Database) -> None:
    frames = traceback(*EVALUATION, f"{TRAINER} evaluation_loop", f"{SITE}/transformers/trainer_pt_utils.py nested_concat")
    first = first_cause(knowledge, HEAD + frames).remediations[0]
    assert first.action.startswith("Move the predictions to main memory")
    assert any("eval_accumulation_steps" in command for command in first.commands)


def test_a_generation_is_told_what_grows_in_it(knowledge: Database) -> None:
    frames = traceback(
        "run.py <module>", f"{SITE}/transformers/generation/utils.py generate", f"{MODULE} _call_impl", "m.py forward"
    )
    actions = [r.action for r in first_cause(knowledge, HEAD + frames).remediations]
    assert actions[0].startswith("Generate for fewer prompts at a time")
    assert not any(words in action for words in TRAINING_ADVICE for action in actions)


def test_a_training_step_keeps_its_advice(knowledge: Database) -> None:
    frames = traceback(
        "run.py <module>", f"{TRAINER} train", f"{TRAINER} training_step", f"{MODULE} _call_impl", "model.py forward"
    )
    heading = "***** Running Evaluation *****\n  Num examples = 900\n  Batch size = 512\n"
    first = first_cause(knowledge, heading + HEAD + frames)
    assert any("gradient accumulation" in r.action for r in first.remediations)
    assert not any("512" in r.action for r in first.remediations)


def test_without_a_traceback_the_heading_tells(knowledge: Database) -> None:
    heading = "***** Running Evaluation *****\n  Num examples = 900\n  Batch size = 32\n"
    assert "than 32 (train.log:" in first_cause(knowledge, HEAD + heading).remediations[0].action
    assert not phase_facts([*heading.split("\n"), *HEAD.split("\n"), MESSAGE], 6)
