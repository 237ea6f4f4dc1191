"""What a log of another job tells, in the same folder, words no remedy of this one."""

from collections.abc import Callable

import pytest

from forensics import Report

STEPS = "".join(f"2026-11-30 {{hour}}:0{n}:00 INFO step {n * 10} loss 0.{9 - n}\n" for n in range(5))
OTHER = STEPS.format(hour=10) + "2026-11-30 10:05:00 INFO saved checkpoint to /runs/a/ckpt-400.pt\n"
LIMIT = "slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2026-11-30T11:05:00 DUE TO TIME LIMIT ***\n"


@pytest.mark.parametrize("names", [("slurm-11_out", "slurm-12_out"), ("resnet_log", "bert_log")], ids=["jobs", "names"])
def test_a_checkpoint_of_another_training_is_not_told_to_start_from(
    analyze: Callable[..., Report], names: tuple[str, str]
) -> None:
    other, own = names
    own_steps = STEPS.format(hour=11)
    assert "/runs/a" not in str(analyze(**{other: OTHER, own: own_steps + LIMIT}).causes[0].remediations)
    saved = "2026-11-30 11:04:30 INFO saved checkpoint to /runs/b/ckpt-40.pt\n"
    assert "/runs/b/ckpt-40.pt" in str(analyze(**{other: OTHER, own: own_steps + saved + LIMIT}).causes[0].remediations[0])


def test_what_ranks_saved_is_told_where_the_launcher_tells_the_end(analyze: Callable[..., Report]) -> None:
    told = analyze(rank0_log=OTHER, launcher_log="2026-11-30 10:00:00 INFO starting 1 rank\n" + LIMIT.replace("11:05", "10:06"))
    assert "/runs/a/ckpt-400.pt" in str(told.causes[0].remediations[0])
