"""action.yml and the GitLab template: against the public schemas, and their shell steps run where a runner's environment is faked."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
GITLAB = yaml.safe_load((ROOT / "ci/gitlab.yml").read_text())
LOG = """step 1 loss 2.3
::error file=forged.py::this is a line of the log
Traceback (most recent call last):
  File "train.py", line 7, in <module>
    run(config["learning_rate"])
KeyError: 'learning_rate'
"""


def schema(name: str) -> dict[str, Any]:
    pytest.importorskip("check_jsonschema")
    found: dict[str, Any] = json.loads((resources.files("check_jsonschema.builtin_schemas.vendor") / name).read_text())
    return found


def test_the_action_keeps_to_githubs_schema() -> None:
    jsonschema.validate(ACTION, schema("github-actions.json"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({k: v for k, v in ACTION.items() if k != "runs"}, schema("github-actions.json"))


def test_the_template_keeps_to_gitlabs_schema() -> None:
    job = {"train": {"extends": ".forensics", "script": ["python train.py"]}}
    jsonschema.validate(GITLAB | job, schema("gitlab-ci.json"))


def test_no_input_of_the_action_is_put_into_a_script() -> None:
    """An input that stands in a script is run: `${{ }}` belongs into `env`."""
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    assert scripts
    assert not any("${{" in script for script in scripts)
    given = {m for step in ACTION["runs"]["steps"] for m in re.findall(r"inputs\.([\w-]+)", json.dumps(step))}
    assert given == set(ACTION["inputs"])


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A checked-out repository with a log, beside it what a runner has."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "train.log").write_text(LOG)
    tools = tmp_path / "temp/forensics/bin"
    tools.mkdir(parents=True)
    for name, words in (("forensics", "-P -m forensics "), ("python", "")):
        (tools / name).write_text(f'#!/bin/sh\nexec {sys.executable} {words}"$@"\n')
        (tools / name).chmod(0o755)
    (tmp_path / "bin").mkdir()
    sudo = tmp_path / "bin/sudo"
    sudo.write_text("#!/bin/sh\nexit 1\n")
    sudo.chmod(0o755)
    return folder


def github(work: Path, **env: str) -> "subprocess.CompletedProcess[str]":
    """The step `Analyze` as the runner starts it; the install step has nothing to do."""
    top = work.parent
    step = next(s for s in ACTION["runs"]["steps"] if s.get("id") == "analyze")
    asked = {"PATHS": "train.log", "BASELINE": "", "KERNEL_LOG": "true", "REDACT": "false", "FAIL": "false"}
    assert set(asked) == set(step["env"])
    files = {"GITHUB_STEP_SUMMARY": str(top / "summary.md"), "GITHUB_OUTPUT": str(top / "output")}
    runner = {"GITHUB_ACTION_PATH": str(ROOT), "RUNNER_TEMP": str(top / "temp"), "GITHUB_WORKSPACE": str(work), "HOME": str(top)}
    path = f"{top / 'bin'}{os.pathsep}{os.environ['PATH']}"
    full = {"PATH": path, "FORENSICS_CACHE": os.environ.get("FORENSICS_CACHE", ""), **runner, **files, **asked, **env}
    install = next(s["run"] for s in ACTION["runs"]["steps"] if s["name"] == "Install forensics")
    script = f"({install})\n{step['run']}"
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]  # as the runner calls bash
    return subprocess.run(shell, cwd=work, env=full, capture_output=True, text=True, check=False)


@pytest.mark.seconds
def test_a_failed_step_gets_annotations_a_summary_outputs_and_a_folder(work: Path) -> None:
    done = github(work)
    assert not done.returncode, done.stderr
    commands = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert commands[0].startswith("::error file=train.log,line=6,title=The program stopped with an error")
    assert not any(line.startswith("::error file=forged.py") for line in done.stdout.splitlines())
    assert "code.exception" in (work.parent / "summary.md").read_text()
    outputs = dict(line.split("=", 1) for line in (work.parent / "output").read_text().splitlines())
    assert (outputs["verdict"], outputs["cause"]) == ("crash", "code.exception")
    assert sorted(p.name for p in Path(outputs["report"]).iterdir()) == ["report.html", "report.json", "report.md"]


@pytest.mark.seconds
def test_a_log_that_breaks_off_names_no_cause(work: Path) -> None:
    (work / "job.log").write_text("".join(f"epoch {n}/100 loss {3 - n / 50:.2f}\n" for n in range(1, 9)))
    done = github(work, PATHS="job.log", KERNEL_LOG="false")
    assert not done.returncode, done.stderr
    outputs = dict(line.split("=", 1) for line in (work.parent / "output").read_text().splitlines())
    assert (outputs["verdict"], outputs["cause"]) == ("undetermined", "")


@pytest.mark.seconds
@pytest.mark.skipif(not shutil.which("jq"), reason="no jq here")
@pytest.mark.parametrize(("log", "status"), [("job.log", 3), ("stop.log", 75)])
def test_the_script_of_the_page_tries_again_only_what_is_proven_to_be_no_fault_of_the_program(
    log: str, status: int, work: Path
) -> None:
    (work / "job.log").write_text("".join(f"epoch {n}/100 loss {3 - n / 50:.2f}\n" for n in range(1, 9)))
    (work / "stop.log").write_text(
        "slurmstepd: error: *** JOB 4712 ON gpu07 CANCELLED AT 2026-11-30T23:00:08 DUE TO TIME LIMIT ***\n"
    )
    script = next(part for part in (ROOT / "docs/ci.md").read_text().split("```") if part.startswith("sh\nset -o pipefail"))
    script = script.removeprefix("sh\n").replace("python train.py", f"(cat {log}; exit 3)")
    path = f"{work.parent / 'temp/forensics/bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", script], cwd=work, env={**os.environ, "PATH": path}, check=False, capture_output=True)
    assert done.returncode == status, done.stderr


@pytest.mark.seconds
def test_the_kernels_log_of_the_runner_is_read_and_not_kept(work: Path) -> None:
    kernel = ROOT / "sample_logs/oom_kernel_log_only/dmesg.log"
    kernel = kernel if kernel.exists() else next((ROOT / "sample_logs/oom_kernel_log_only").glob("*.*g"))
    (work.parent / "bin/sudo").write_text(f"#!/bin/sh\ncat {kernel}\n")
    (work / "job.log").write_text("step 1\nstep 2\n/home/runner/work/_temp/x.sh: line 1: 25915 Killed  python train.py\n")
    done = github(work, PATHS="job.log\r\n\n")
    assert "kernel.log" in done.stdout
    assert not (work.parent / "temp/forensics-report/kernel.log").exists()
    assert "kernel.log" not in github(work, PATHS="job.log", KERNEL_LOG="false").stdout


@pytest.mark.seconds
def test_unusual_paths_are_read_and_missing_ones_are_a_warning(work: Path) -> None:
    odd = "$(touch hacked) --output=x.log"
    (work / odd).write_text(LOG)
    done = github(work, PATHS=f"{odd}\nabsent.log\n--help")
    assert "::warning title=forensics::absent.log is not there" in done.stdout
    assert "::error file=$(touch hacked) --output=x.log,line=6" in done.stdout
    assert not (work / "hacked").exists()
    none = github(work, PATHS="absent.log")
    assert not none.returncode
    assert "no log to analyse" in none.stdout


@pytest.mark.seconds
def test_only_where_it_was_asked_for_a_crash_fails_the_step(work: Path) -> None:
    assert github(work, FAIL="true").returncode == 1


def gitlab(work: Path, **env: str) -> "subprocess.CompletedProcess[str]":
    """The after_script as GitLab's shell starts it."""
    template = GITLAB[".forensics"]
    tools = f"{work.parent / 'temp/forensics/bin'}{os.pathsep}{os.environ['PATH']}"
    ci = {"CI_JOB_STATUS": "failed", "CI_PROJECT_DIR": str(work), "HOME": str(work.parent), "PATH": tools}
    given = (
        template["variables"] | {"FORENSICS_PATHS": "train.log"} | ci | {"FORENSICS_CACHE": os.environ.get("FORENSICS_CACHE", "")}
    )
    script = "\n".join(template["after_script"])
    return subprocess.run(["sh", "-e", "-c", script], cwd=work, env=given | env, capture_output=True, text=True, check=False)


@pytest.mark.seconds
def test_a_failed_gitlab_job_tells_why_in_its_log_and_leaves_what_it_names_as_artefacts(work: Path) -> None:
    done = gitlab(work)
    assert not done.returncode, done.stderr
    assert "The program stopped with an error" in done.stdout
    assert done.stdout.count("section_start:") == done.stdout.count("section_end:") == 1
    artefacts = GITLAB[".forensics"]["artifacts"]
    assert (work / artefacts["reports"]["junit"]).exists()
    assert sorted(p.name for p in (work / artefacts["paths"][0]).iterdir()) == ["junit.xml", "report.html", "report.json"]


@pytest.mark.parametrize("env", [{"CI_JOB_STATUS": "success"}, {"FORENSICS_PATHS": ""}])
def test_a_good_gitlab_job_and_one_without_logs_are_left_alone(env: dict[str, str], work: Path) -> None:
    done = gitlab(work, **env)
    assert (done.returncode, done.stdout) == (0, "")
    assert not (work / "forensics-report").exists()


def test_a_gitlab_job_without_the_program_installs_nothing_that_was_not_named(work: Path) -> None:
    assert GITLAB[".forensics"]["variables"]["FORENSICS_PACKAGE"] == ""
    tools = work.parent / "few"
    tools.mkdir()
    for name in ("sh", "mkdir", "date"):
        (tools / name).symlink_to(str(shutil.which(name)))
    done = gitlab(work, PATH=str(tools))
    assert (done.returncode, "set FORENSICS_PACKAGE to" in done.stdout) == (0, True)
    assert not (work / "forensics-report/report.json").exists()


@pytest.mark.slow
@pytest.mark.skipif(
    not (shutil.which("gitlab-ci-local") and shutil.which("rsync")), reason="needs gitlab-ci-local (npm) and rsync"
)
def test_the_template_runs_as_a_pipeline(work: Path) -> None:
    shutil.copy(ROOT / "ci/gitlab.yml", work / "forensics.yml")
    script = ["python3 -c \"raise KeyError('learning_rate')\" 2>&1 | tee train.log; exit 1"]
    pipeline = {"include": [{"local": "forensics.yml"}], "train": {"extends": ".forensics", "script": script}}
    pipeline["train"] |= {"variables": {"FORENSICS_PATHS": "train.log"}}
    (work / ".gitlab-ci.yml").write_text(yaml.safe_dump(pipeline))
    for command in (
        ["git", "init", "-q"],
        ["git", "remote", "add", "origin", "git@example.com:group/project.git"],
        ["git", "add", "-A"],
    ):
        subprocess.run(command, cwd=work, check=True)
    tools = f"{work.parent / 'temp/forensics/bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["gitlab-ci-local", "train"],
        cwd=work,
        env=os.environ | {"PATH": tools},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "The program stopped with an error" in done.stdout + done.stderr
    assert done.returncode
