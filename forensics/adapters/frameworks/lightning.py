"""For Lightning: `Trainer(callbacks=[ForensicsCallback()])`; with `lightning`, or with `pytorch_lightning` if only that
exists."""

from __future__ import annotations

from typing import Any

import forensics

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    from pytorch_lightning.callbacks import Callback


class ForensicsCallback(Callback):  # type: ignore[misc]
    """Another process watches each rank while the Trainer runs; exceptions and kills are recorded. `options`: those of
    forensics.guard(), for example stall_s=600 or name="my model"."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.guard: Any = None

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Begin to watch."""
        if self.guard is None:
            self.guard = forensics.guard(**self.options).__enter__()
            self.guard.note(framework="lightning", stage=stage, rank=trainer.global_rank, world_size=trainer.world_size)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Note the epoch."""
        if self.guard is not None:
            self.guard.note(epoch=trainer.current_epoch, step=trainer.global_step)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """End the watch with the exception that ends the Trainer."""
        self._end(exception)

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """End the watch: the Trainer has finished."""
        self._end(None)

    def _end(self, error: BaseException | None) -> None:
        guard, self.guard = self.guard, None
        if guard is not None:
            guard.__exit__(type(error) if error else None, error, error.__traceback__ if error else None)
