"""A module that is missing after the environment could not be activated: the activation is what to mend."""

from collections.abc import Callable

import pytest

from forensics.model import Report

MISSING = [
    "Traceback (most recent call last):",
    '  File "/job/train.py", line 3, in <module>',
    "    import optuna",
    "ModuleNotFoundError: No module named 'optuna'",
]
STEPS = ["loading the data from /job/data", "building the model", *(f"step {i} loss 0.{i}1" for i in range(9))]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "/var/spool/slurmd/job48211/slurm_script: line 15: envs/a/bin/activate: No such file or directory",
            "line 15: envs/a/bin/activate: No such file or directory",
        ),
        ("/var/spool/slurmd/job48211/slurm_script: line 9: conda: command not found", "line 9: conda: command not found"),
        ("EnvironmentNameNotFound: Could not find conda environment: torch2", "Could not find conda environment: torch2"),
        (
            "CommandNotFoundError: Your shell has not been properly configured to use 'conda activate'.",
            "Your shell has not been properly configured to use 'conda activate'",
        ),
        ("CondaError: Run 'conda init' before 'conda activate'", "Run 'conda init' before 'conda activate'"),
    ],
)
def test_the_activation_that_failed_is_told_and_mended(analyze: Callable[..., Report], line: str, said: str) -> None:
    report = analyze(job="\n".join([line, *MISSING]))
    first = report.causes[0]
    assert first.id == "code.import"
    assert first.facts["activation"] == said
    assert said in first.summary
    assert first.remediations[0].action.endswith(said)
    assert not any("install" in a.action.lower() for a in first.remediations)
    assert not any(said in n.text for n in report.notices)


def test_the_activation_of_another_attempt_is_not_told(analyze: Callable[..., Report]) -> None:
    failed = "/var/spool/slurmd/job48211/slurm_script: line 9: conda: command not found"
    report = analyze(job="\n".join([failed, *STEPS, *MISSING, *STEPS, *MISSING]))
    assert "activation" not in report.causes[0].facts
    assert "activation" not in analyze(job="\n".join([*STEPS, *MISSING, failed])).causes[0].facts


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Lmod has detected the following error: The following module(s) are unknown:", "The following module(s) are unknown"),
        ("ERROR: Unable to locate a modulefile for 'cuda/99'", "Unable to locate a modulefile for 'cuda/99'"),
        ("/var/spool/slurmd/job7/slurm_script: line 4: module: command not found", "line 4: module: command not found"),
    ],
)
def test_a_module_that_could_not_be_loaded_is_why_a_program_is_not_found(
    analyze: Callable[..., Report], line: str, said: str
) -> None:
    missing = "/var/spool/slurmd/job7/slurm_script: line 17: nvcc: command not found"
    first = analyze(job="\n".join([line, "", *STEPS, missing])).causes[0]
    assert first.remediations[0].action == (
        f"Load the module that brings nvcc by a name that this cluster has, and let the script end if that fails - before it: {said}"
    )
    assert "module that brings" not in analyze(job="\n".join([*STEPS, missing])).causes[0].remediations[0].action
