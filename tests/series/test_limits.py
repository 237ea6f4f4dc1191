"""Growth in one file, the limit in another; lines made here."""

import re
from collections.abc import Callable

from forensics import series
from forensics.database import Database
from forensics.model import Observation, Report, Scan

GROWS = "".join(f"2026-03-01 10:00:{i:02d} step {10 * i} loss 2.1 rss {1000 + 20 * i} MiB\n" for i in range(40))
KERNEL = """[Sun Mar  1 10:00:41 2026] python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
[Sun Mar  1 10:00:41 2026] memory: usage {limit}kB, limit {limit}kB, failcnt 302
[Sun Mar  1 10:00:41 2026] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/train,task_memcg=/train,task=python,pid=24768,uid=1000
[Sun Mar  1 10:00:41 2026] Memory cgroup out of memory: Killed process 24768 (python) total-vm:4094000kB, anon-rss:1800000kB, file-rss:0kB
"""


def test_the_step_of_the_limit_is_told_across_files(analyze: Callable[..., Report]) -> None:
    cause = analyze(train_log=GROWS, dmesg_log=KERNEL.format(limit=1800 << 10)).causes[0]
    assert cause.id == "host_memory.leak"
    assert (cause.facts["limit_bytes"], cause.facts["limit_step"], cause.facts["last_step"]) == (1800 << 20, 400, 390)
    assert (
        "At 2 MiB a step it would have reached its limit of 1.76 GiB by step 400; its last reading is of step 390."
        in cause.summary
    )


def test_a_limit_below_the_readings_is_of_something_else(analyze: Callable[..., Report]) -> None:
    found = analyze(train_log=GROWS, dmesg_log=KERNEL.format(limit=900 << 10)).causes
    assert "limit_step" not in next(c for c in found if c.id == "host_memory.leak").facts


def test_two_limits_name_none(scanned: Callable[[str], Scan], knowledge: Database) -> None:
    def limited(limit: int) -> Observation:
        return Observation("x", "host_memory.oom_cgroup", "proof", "dmesg", 1, 1, (), {"limit_bytes": limit})

    growth = series.read(scanned(GROWS), knowledge)
    one = series.with_limit_steps({"a": growth, "b": [limited(1800 << 20)]}, knowledge)["a"]
    two = series.with_limit_steps({"a": growth, "b": [limited(1800 << 20), limited(1900 << 20)]}, knowledge)["a"]
    assert [e.fields.get("limit_step") for e in (*one, *two)] == [400, None]


def test_the_limit_of_a_control_group_in_the_same_log(told: Callable[[str], list[Observation]]) -> None:
    (event,) = told(GROWS + "memory.max: 1887436800\n")
    assert (event.fields["limit_bytes"], event.fields["limit_step"]) == (1800 << 20, 400)


def test_from_and_to_are_told_only_where_they_differ(told: Callable[[str], list[Observation]]) -> None:
    text = "".join(
        f"torch.cuda.memory_reserved(0) 608000000\nnvidia-smi GPU-0 memory (MB) {2796 + 2 * i}\nIter {i}\n"
        "torch.cuda.memory_reserved(0) 608000000\n"
        for i in range(3)
    )
    (event,) = told(text)
    assert "first_bytes" not in event.fields
    assert event.fields["growth_bytes"] == 2 << 20


def test_what_stood_before_nan_is_told(analyze: Callable[..., Report]) -> None:
    loss = [2.0] * 30 + [9.0, 70.0]
    text = "".join(f"step {i} loss {v} grad_norm {v / 2} loss_scale 1024\n" for i, v in enumerate(loss))
    text += "".join(f"step {32 + i} loss nan grad_norm nan loss_scale 512\n" for i in range(10))
    summary = analyze(train_log=text).causes[0].summary
    assert "at step 32" in summary
    assert re.search(r"the loss stood at 70, 35 times the usual, with a gradient norm of 35 and a loss scale of \d+", summary)
