"""In which phase of a run the traceback of the evidence ended: loading weights, an evaluation, a generation, or a training step.

  ... train > _inner_training_loop > evaluate > evaluation_loop > prediction_step > forward  -> evaluating "prediction_step"
  ... train_epoch > training_step > forward                                                  -> nothing: the training itself
  ... main > to > _apply > convert                                                           -> loading_weights "convert"

The functions above the model's first call are read, the innermost first: a training calls its evaluation, and a model may name
its own layers as it likes. Without a traceback, a heading just above the message tells (`***** Running Evaluation *****`).
Names: Trainer of transformers, Lightning's loops, Keras, fairseq, and what programs call their own.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from forensics.data_files.named_parts import patterns_of
from forensics.model import Value
from forensics.readers.python.failing_code import quoted_code
from forensics.readers.python.near_tracebacks import tracebacks_near
from forensics.readers.words import words, words_of_name

PHASE_FACTS = EVALUATING, EVALUATION_FILE, GENERATING, GATHERING, LOADING = (
    "evaluating",
    "evaluation_file",
    "generating",
    "gathering",
    "loading_weights",
)
PATTERNS = patterns_of("phase")
MODEL_CALLS = {"forward", "_call_impl", "_wrapped_call_impl", "call"}
GRADIENT_FUNCTIONS = {"backward", "run_backward", "_engine_run_backward", "optimizer_step"}
SHARDS_LOADED = "Loading checkpoint shards"
MAX_HEADING_LINES = 4  # chosen by hand: between the heading of an evaluation and a message without a traceback
NO_GRADIENT_WRAPPER = "decorate_context"  # of torch.no_grad and torch.inference_mode; PyTorch's optimizers use it, too
OPTIMIZER_FUNCTIONS = {"step", "closure"}
Frame = tuple[str, str]  # function, file


def phase_facts(lines: Sequence[str], at: int) -> dict[str, Value]:
    """The facts of the traceback that belongs to line `at`; none of one that ended in the training itself."""
    frames = list(_frames(lines, at))
    if not frames:
        headed = any(PATTERNS.heading.search(text) for text in lines[max(0, at - MAX_HEADING_LINES) : at])
        shards = any(SHARDS_LOADED in text for text in lines[max(0, at - MAX_HEADING_LINES) : at + 1])
        return {EVALUATING: "an evaluation"} if headed else {LOADING: SHARDS_LOADED} if shards else {}
    if loading := _loading(lines, at, frames):
        return {LOADING: loading}
    if any(_trains(name) for name, _ in frames):
        return {}
    called = (i for i, (name, file) in enumerate(frames) if name in MODEL_CALLS and not PATTERNS.pipeline.search(file))
    calls = next(called, len(frames))
    for name, file in reversed(frames[:calls]):
        named = words_of_name(name)
        if named & words("generation_names"):
            return {GENERATING: name}
        if _evaluates(named):
            gathered = next((n for n, _ in frames if PATTERNS.gathering.match(n)), None)
            found: dict[str, Value] = {EVALUATING: name, EVALUATION_FILE: file}
            return found | ({GATHERING: gathered} if gathered else {})
    return _without_gradients(frames[:calls]) if calls < len(frames) else {}


def _loading(lines: Sequence[str], at: int, frames: Sequence[Frame]) -> str:
    """The function or the statement that puts weights into memory, where the traceback ended in one and calls no model."""
    if any(name in MODEL_CALLS or name in GRADIENT_FUNCTIONS for name, _ in frames):
        return ""
    named = next((name for name, _ in reversed(frames) if PATTERNS.loading.fullmatch(name)), "")
    codes = (quoted_code(lines, place)[0] for place in next(iter(tracebacks_near(lines, at)), [])[-1:])
    return named or next((code for code in codes if PATTERNS.moved_model.search(code)), "")


def _frames(lines: Sequence[str], at: int) -> Iterator[Frame]:
    """The frames of the nearest traceback, the outermost first."""
    for number, file, _ in next(iter(tracebacks_near(lines, at)), []):
        if found := PATTERNS.function.search(lines[number]):
            yield found["function"], file


def _trains(name: str) -> bool:
    named = words_of_name(name)
    return name in GRADIENT_FUNCTIONS or bool(named & words("training_names") and named & words("step_names"))


def _evaluates(named: set[str]) -> bool:
    if named & (words("training_names") | words("checked_names")):  # `train_and_evaluate` tells nothing
        return False
    short = words("short_evaluation_names")
    return bool(named & words("evaluation_names")) or bool(
        named & short and named - short <= words("short_evaluation_companions")
    )


def _without_gradients(frames: Sequence[Frame]) -> dict[str, Value]:
    """The innermost function that torch.no_grad or torch.inference_mode decorates, if it calls the model."""
    wrapped = [after for (name, _), after in pairwise(frames) if name == NO_GRADIENT_WRAPPER]
    if not wrapped or wrapped[-1][0].startswith("__") or any(name in OPTIMIZER_FUNCTIONS for name, _ in wrapped):
        return {}
    return {EVALUATING: wrapped[-1][0], EVALUATION_FILE: wrapped[-1][1]}
