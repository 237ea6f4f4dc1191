"""For transformers: `Trainer(callbacks=[ForensicsCallback()])`.

Trainer has no hook for exceptions, so an exception that ends the program is taken from sys.excepthook. After an exception that a
notebook survives, the watch ends at the next train(). The watching process records a kill of this process.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

import forensics

if TYPE_CHECKING:
    from types import TracebackType


class ForensicsCallback(TrainerCallback):  # type: ignore[misc]
    """Another process watches this one while it trains. `options`: those of forensics.guard()."""

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
        """Note the step."""
        if self.guard is not None:
            self.guard.note(epoch=state.epoch, step=state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """End the watch: the training has finished."""
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
