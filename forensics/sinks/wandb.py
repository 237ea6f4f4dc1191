"""Weights & Biases: summary, tag and alert of the run that died. `mode: offline` writes files that `wandb sync` sends."""

from collections.abc import Mapping
from typing import Any

from forensics.sinks.message import Message


def send(message: Message, setting: Mapping[str, Any]) -> None:
    """Resume the run, or begin one of its own where the job had none."""
    import wandb

    run = wandb.init(
        id=message.job.get("WANDB_RUN_ID"), project=setting.get("project") or message.job.get("WANDB_PROJECT") or "forensics",
        dir=setting.get("folder") or message.job.get("WANDB_DIR"), mode=setting.get("mode", "online"), resume="allow",
        settings=wandb.Settings(silent=True, console="off"),
    )  # fmt: skip
    run.tags = (*(run.tags or ()), f"died:{message.cause}"[:64])  # W&B takes 64 characters
    run.summary["forensics/cause"] = message.cause
    run.summary["forensics/reason"] = message.text
    run.summary["forensics/probability"] = message.probability
    run.alert(title=f"Died: {message.cause}", text=message.text, level="ERROR")
    run.finish(exit_code=1)
