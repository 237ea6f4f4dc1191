"""Does a thread run a hook: a function of the program that a library calls in between, whatever the program calls it?

Pace.on_layer (pace.py:21) < Module._call_impl.<locals>.inner (torch/nn/modules/module.py:1845)    -> a hook of a module
Overlap.ready (overlap.py:29) < _engine_run_backward (torch/autograd/graph.py:979)                -> a hook of the backward pass
Trainer.on_batch (callbacks.py:7) < Trainer.step (train.py:31)                                   -> by its name a callback
"""

from collections.abc import Collection, Sequence
from itertools import pairwise

from forensics.model.dumps import Frame
from forensics.readers.words import words, words_of_name

# By file and functions that call hooks: what it is, and the names of functions that they call as well, which are no hooks.
CALLERS: tuple[tuple[str, Collection[str], str, Collection[str]], ...] = (
    ("torch/nn/modules/module.py", ("inner", "_call_impl", "_wrapped_call_impl", "state_dict"), "of a module", ("forward",)),
    ("torch/autograd/graph.py", ("_engine_run_backward",), "of the backward pass", ()),
    ("torch/utils/hooks.py", (), "of the backward pass", ()),
    ("torch/optim/optimizer.py", ("wrapper",), "of the optimizer", ("step",)),
    ("torch/futures/__init__.py", (), "of a call that ended", ()),
    ("ddp_comm_hooks/", (), "of gradients that are exchanged", ()),
    ("accelerate/hooks.py", (), "of a module", ("forward",)),
    ("pytorch/trainer/call.py", ("_call_callback_hooks",), "of the trainer", ()),
    ("pytorch_lightning/trainer/call.py", ("_call_callback_hooks",), "of the trainer", ()),
    ("transformers/trainer_callback.py", (), "of the trainer", ()),
    ("keras/src/callbacks/", (), "of the trainer", ()),
    ("ignite/engine/engine.py", ("_fire_event",), "of the trainer", ()),
    ("composer/core/engine.py", (), "of the trainer", ()),
    ("fastai/callback/core.py", (), "of the trainer", ()),
    ("mmengine/runner/runner.py", ("call_hook",), "of the trainer", ()),
)
WRAPPER_FILES = ("torch/_dynamo/", "torch/utils/_contextlib.py", "contextlib.py", "functools.py")  # files of wrappers
BY_NAME = "what by its name is a callback"
STARTS_CALLBACK = "on_"
NAMED_FRAMES = 3  # the innermost ones of the program, whose names tell; chosen by hand


def hook_of(frames: Sequence[Frame], own: Sequence[Frame]) -> str:
    """What kind of hook the innermost frames are of, and its function where that calls another one; empty where they are of none.
    `frames`: of the thread, innermost first; `own`: those of them that are of the program."""
    known = set(own)
    python = [f for f in frames if f.file.endswith(".py") and not any(part in f.file for part in WRAPPER_FILES)]
    for frame, caller in pairwise(python):
        if frame in known and (told := _called_by(frame, caller)):
            return told if frame is own[0] else f"{told} ({frame.function}, {frame.place})"
    return BY_NAME if any(map(_is_named_so, own[:NAMED_FRAMES])) else ""


def _called_by(frame: Frame, caller: Frame) -> str:
    name, function = _last(frame), _last(caller)
    rows = (row for row in CALLERS if row[0] in caller.file and (not row[1] or function in row[1]))
    return next((f"a hook {what}" for _, _, what, others in rows if name not in others), "")


def _is_named_so(frame: Frame) -> bool:
    named = words_of_name(frame.function) | words_of_name(frame.file.rpartition("/")[2])
    return _last(frame).startswith(STARTS_CALLBACK) or bool(named & words("callback_names"))


def _last(frame: Frame) -> str:
    return frame.function.rpartition(".")[2]
