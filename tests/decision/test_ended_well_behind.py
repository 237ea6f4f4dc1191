"""Trouble that is told and ended nothing: the program worked on and finished, or the text is only quoted. Each made log has a twin
with the same trouble that did end it."""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
STEPS = "".join(f"step {n} loss {3 / (n + 1):.3f}\n" for n in range(20))
MORE = "".join(f"step {n} loss {3 / (n + 1):.3f}\n" for n in range(20, 40))
TRACEBACK = (
    'Traceback (most recent call last):\n  File "/home/u/eval.py", line 21, in run\n    loss = model(batch).loss\n'
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
)
TRIAL = "[I 2026-10-03 08:0{0}:00,123] Trial {0} finished with value: 0.3{0} and parameters: {{'bs': 16}}. Best is trial 0.\n"
FAILED_TRIAL = "[W 2026-10-03 08:01:00,123] Trial 1 failed with parameters: {'bs': 256} because of the following error: OutOfMemoryError('CUDA out of memory. Tried to allocate 4.00 GiB.').\n"
KILLED_SAMPLE = "sample: 'bash: line 1: 4711 Killed python train.py'\ntraining finished\n"
INFO, ERROR = "2026-10-03 08:04:45 INFO train: {}\n", "2026-10-03 08:04:41 ERROR eval: {}\n"


@pytest.mark.seconds
@pytest.mark.parametrize(
    "log",
    [
        STEPS + "sample: 'The server said: Segmentation fault (core dumped)'\n" + MORE + KILLED_SAMPLE,
        STEPS + KILLED_SAMPLE,
        STEPS + 'Prompt 3: "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB." -> scored\n',
        STEPS + "generated text = 'RuntimeError: CUDA error: an illegal memory access was encountered'\n" + "saved\n",
        STEPS + '{"role": "user", "content": "why Bus error (core dumped)?"}\n' + "training finished\n",
    ],
)
def test_a_text_that_a_model_reads_or_writes_is_not_the_programs_own(analyze: Analyze, log: str) -> None:
    assert analyze(train_log=log).verdict == "no_crash"


@pytest.mark.seconds
@pytest.mark.parametrize(
    "last",
    [
        "Segmentation fault (core dumped)\n",
        "error on sample 'a.jpg': RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB.\n",
        '{"level": "error", "message": "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB."}\n',
        "sample: 'a cat'\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB.\n",
    ],
)
def test_beside_a_quoted_text_the_program_speaks_for_itself(analyze: Analyze, last: str) -> None:
    assert analyze(train_log=STEPS + last).verdict == "crash"


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("behind", "verdict"),
    [
        ("step 50 loss nan\nstep 51 loss 0.50\nstep 100 loss 0.41\nTraining done.\n", "no_crash"),
        ("step 50 loss inf\nstep 51 loss 0.50\nstep 52 loss 0.48\nstep 53 loss 0.41\nTraining done.\n", "no_crash"),
        (
            "step 50 loss=nan lr=0.1\nstep 51 loss=nan lr=0.1\nstep 52 loss=0.4 lr=0.1\nstep 53 loss=0.3 lr=0.1\nDone\n",
            "no_crash",
        ),
        ("step 50 loss nan\nstep 51 loss nan\nstep 52 loss nan\nTraining done.\n", "crash"),
        ("step 50 loss nan\nstep 51 loss 0.50\nstep 52 loss nan\nTraining done.\n", "crash"),
        ("step 50 loss nan\nstep 51 loss 0.0\nstep 52 loss 0.0\nTraining done.\n", "crash"),
    ],
)
def test_a_loss_that_is_a_number_again_was_not_lost(analyze: Analyze, behind: str, verdict: str) -> None:
    assert analyze(train_log="step 48 loss 0.52\nstep 49 loss 0.51\n" + behind).verdict == verdict


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("log", "verdict"),
    [
        (TRIAL.format(0) + FAILED_TRIAL + TRACEBACK + TRIAL.format(2) + TRIAL.format(3) + "Best trial: 2\n", "no_crash"),
        (TRIAL.format(0) + FAILED_TRIAL + TRACEBACK + TRIAL.format(2) + TRIAL.format(3) + "Study finished, 3 of 4\n", "no_crash"),
        (TRIAL.format(0) + TRIAL.format(2) + TRIAL.format(3) + FAILED_TRIAL + TRACEBACK, "crash"),
        (
            INFO.format("epoch 4/4 step 39/40 loss 0.5")
            + ERROR.format("evaluation of the long split failed, skipping it")
            + TRACEBACK
            + INFO.format("remaining splits: mmlu 0.412 gsm8k 0.233")
            + INFO.format("Training complete. Best val loss 0.5132 at epoch 4"),
            "no_crash",
        ),
        (INFO.format("epoch 4/4 step 39/40 loss 0.5") + ERROR.format("evaluation failed") + TRACEBACK, "crash"),
    ],
)
def test_a_failure_behind_which_the_program_worked_on_and_finished(analyze: Analyze, log: str, verdict: str) -> None:
    assert analyze(train_log=log).verdict == verdict


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("last", "verdict"),
    [
        ("============================== 2 passed in 4.71s ===============================\n", "no_crash"),
        ("INFO mlflow: run finished with status FINISHED\n", "no_crash"),
        ("[INFO] BUILD SUCCESS\n", "no_crash"),
        ("..\n----------------------------------\nRan 2 tests in 0.013s\n\nOK\n", "no_crash"),
        (".F\n----------------------------------\nRan 2 tests in 0.013s\n\nFAILED (failures=1)\n", "crash"),
        ("==================== 1 failed, 1 passed in 4.71s ====================\n", "crash"),
        ("INFO mlflow: run finished with status FAILED\n", "crash"),
        ("=============== 2 passed in 4.71s ===============\nSegmentation fault (core dumped)\n", "crash"),
    ],
)
def test_a_runner_that_counts_what_failed_has_the_last_word(analyze: Analyze, last: str, verdict: str) -> None:
    log = "ERROR    trainer.ckpt:ckpt.py:91 could not write checkpoint: [Errno 28] No space left on device\n" + last
    assert analyze(train_log=log).verdict == verdict


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("last", "verdict"),
    [
        ("============================== 2 passed in 4.71s ===============================\n", "crash"),
        ("Ran 2 tests in 0.013s\n\nOK\n", "crash"),
        ("INFO mlflow: run finished with status FINISHED\n", "no_crash"),
    ],
)
def test_tests_that_passed_prove_nothing_of_a_training_before_them(analyze: Analyze, last: str, verdict: str) -> None:
    assert analyze(train_log=STEPS + "RuntimeError: CUDA error: device-side assert triggered\n" + last).verdict == verdict
