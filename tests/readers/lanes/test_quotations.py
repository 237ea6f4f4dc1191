"""Blocks that a log only quotes prove nothing, and what stands outside of them does. The forms are git's and those of trainings that
print what their model writes."""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
SAID = "RuntimeError: CUDA error: an illegal memory access was encountered\n"
KILLED = "Segmentation fault (core dumped)\n"
STEPS = "".join(f"step {n} loss {3 / (n + 1):.3f}\n" for n in range(9))
PATCH = (
    "diff --git a/train.py b/train.py\nindex 83db48f..bf2a0c1 100644\n--- a/train.py\n+++ b/train.py\n@@ -88,2 +88,3 @@ def step(b):\n"
    '-    raise RuntimeError("CUDA out of memory")\n+    log.error("RuntimeError: CUDA error: device-side assert triggered")\n'
    "     return loss\n+    # Killed\n"
)
COMMIT = (
    "commit 8fe21c0a7b6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f\nAuthor: Ana <ana@example.org>\nDate:   Fri Oct 2 17:21:09 2026 +0200\n\n"
    f"    fix RuntimeError: CUDA out of memory in eval loop\n\n    {KILLED}"
)


@pytest.mark.seconds
@pytest.mark.parametrize(
    "quoted",
    [
        f"=== samples ===\nUser: what now?\nAssistant: The message\n\n    {SAID}\nmeans a lot.\n=== end of samples ===\n",
        f"---- generated samples, epoch 3 ----\n{KILLED}---- end of generated samples ----\n",
        f"sample completion:\n```\nTraceback (most recent call last):\n{SAID}```\n",
        PATCH,
        COMMIT,
        COMMIT + "\n" + COMMIT.replace("8fe21c0", "1ab21c0") + "\n" + PATCH,
    ],
)
def test_a_quoted_block_proves_nothing(analyze: Analyze, quoted: str) -> None:
    assert analyze(train_log=quoted).verdict == "no_crash"
    assert analyze(train_log=quoted + STEPS + "Training complete\n").verdict == "no_crash"
    assert analyze(train_log=quoted + STEPS + KILLED).causes[0].id == "process.segfault"
    assert analyze(train_log=quoted + KILLED).causes[0].id == "process.segfault"


@pytest.mark.seconds
@pytest.mark.parametrize(
    "log",
    [
        f"{STEPS}=== samples ===\n{SAID}",  # it died while it wrote them
        f"{STEPS}sample completion:\n```\n{SAID}",
        f"{STEPS}```\n{SAID}```\n",  # the fence of somebody who quotes the whole log
        f"commit 8fe21c0a7b6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f\n{SAID}",
    ],
)
def test_a_block_without_its_form_is_none(analyze: Analyze, log: str) -> None:
    assert analyze(train_log=log).causes[0].id == "gpu_program.illegal_access"


@pytest.mark.seconds
@pytest.mark.parametrize(
    "said", [SAID, KILLED, f'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\n{SAID}']
)
@pytest.mark.parametrize(
    ("question", "answer", "farewell"),
    [
        (">>> How do I fix this?\n", "It says:\n\n{}\nand you lower the batch size.\n\n", ">>> /bye\nBye!\n"),
        ("USER: my run died, why\n", "ASSISTANT: The log says\n{}", "USER: \nexit...\n"),
        ("<user>: my run died\n\n", "<assistant>:\n{}\n", "<user>: !exit\n"),
    ],
    ids=["prompt", "labels", "labels in brackets"],
)
def test_a_turn_of_a_chat_proves_nothing_before_the_next_question(
    analyze: Analyze, question: str, answer: str, farewell: str, said: str
) -> None:
    turn = question + answer.replace("{}", said)
    assert analyze(chat_log=turn + farewell).verdict == "no_crash"
    assert analyze(chat_log=turn).verdict == "crash"  # it died while it answered


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("before", "behind"),
    [
        (">>> import torch\n>>> train(10)\n", ">>> exit()\n"),
        ("User: ana\nHost: node1\n", "User: bo\n"),
        (">>> done with compiling and loading fused kernels\n", ">>> done with dataset index builder\n"),
    ],
    ids=["Python", "a table", "a program"],
)
def test_what_is_no_chat_is_the_programs_own(analyze: Analyze, before: str, behind: str) -> None:
    assert analyze(train_log=before + SAID + behind).causes[0].id == "gpu_program.illegal_access"
