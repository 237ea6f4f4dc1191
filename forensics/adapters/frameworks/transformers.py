"""For transformers: `Trainer(callbacks=[ForensicsCallback()])`.

Trainer has no hook for exceptions, so an exception that ends the program is taken from sys.excepthook. One that a notebook shows
and survives ends the watch at the next train(). A kill of the process is recorded by the watching process.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

import forensics

if TYPE_CHECKING:
    from types import TracebackType


class ForensicsCallback(TrainerCallback):  # type: ignore[misc]
    """This process is watched from beside while it trains. `options`: those of forensics.guard()."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.guard: Any = None
        self._hook: Any = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Begin to watch."""
        self._end(None, None, None)
        self.guard = forensics.guard(**self.options).__enter__()
        self.guard.note(framework="transformers", rank=args.process_index, world_size=args.world_size)
        self._hook, sys.excepthook = sys.excepthook, self._raised

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Note the step reached."""
        if self.guard is not None:
            self.guard.note(epoch=state.epoch, step=state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Training is done."""
        self._end(None, None, None)

    def _raised(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        hook = self._hook
        self._end(kind, error, trace)
        hook(kind, error, trace)

    def _end(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        guard, self.guard = self.guard, None
        if guard is None:
            return
        if sys.excepthook == self._raised:
            sys.excepthook = self._hook
        guard.__exit__(kind, error, trace)
