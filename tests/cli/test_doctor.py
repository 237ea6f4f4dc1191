"""`forensics doctor`: each thing that is missing has what reports lack and one command; it is bounded in time and never fails."""

import json
import sys
import time
from pathlib import Path

import pytest

from forensics.cli import doctor
from tests.commandline import in_text


def test_each_check_says_what_is_found_and_what_mends_it() -> None:
    told = in_text("doctor", "--json")
    found = json.loads(told.stdout)
    assert told.returncode == 0
    assert {"versions", "kernel log", "cgroup", "ptrace", "py-spy", "clock", "extras", "cache", "captured runs"} <= {
        f["name"] for f in found
    }
    for check in found:
        assert check["state"] in ("ok", "limited", "missing", "absent") and check["found"], check
        assert bool(check["lacks"]) == (check["state"] in ("limited", "missing")), check
        assert not check["mend"] or "\n" not in check["mend"]
        assert check["state"] != "missing" or check["mend"], check


def test_a_machine_on_which_nothing_is_allowed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Programs that refuse, a check that fails: each is told in its row, and the command ends with 0."""
    for name in ("dmesg", "journalctl", "sacct", "kubectl", "nvidia-smi"):
        (tmp_path / name).write_text("#!/bin/sh\necho not permitted >&2; exit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(doctor, "find_spec", lambda name: name == "pip" or None)
    monkeypatch.setattr(doctor, "EXTRA_MODULES", {"x": ("something", "a b"), "y": ("more", "b pytest c")})

    def refused(*_: object) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("forensics.cli.doctor.os.open", refused)
    monkeypatch.setattr("forensics.cli.doctor.shutil.disk_usage", refused)
    told = in_text("doctor").stdout
    rows = {c["name"]: c for c in json.loads(in_text("doctor", "--json").stdout)}
    assert {rows[name]["state"] for name in ("kernel log", "journal", "kubectl", "nvidia-smi", "slurm")} == {"missing"}
    assert rows["kernel log"]["mend"].endswith("sysctl -w kernel.dmesg_restrict=0") and rows["kernel log"]["mend"] in told
    assert rows["extras"]["state"] == "absent"  # who calls none of those commands needs none
    assert rows["extras"]["found"] == "only for something (a b); more (b c)"  # pytest is there already
    assert rows["extras"]["mend"] == f"{sys.executable} -m pip install PACKAGE"
    assert rows["captured runs"]["state"] == "limited"


@pytest.mark.parametrize(
    ("contexts", "state", "mend"), [("", "absent", ""), ("lab\n", "missing", "kubectl config use-context lab")]
)
def test_kubectl_without_a_cluster_lacks_nothing(
    contexts: str, state: str, mend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = f"""#!/bin/sh
case $2 in
  get-contexts) printf '{contexts}' ;;
  *) echo 'error: current-context is not set' >&2; exit 1 ;;
esac
"""
    (tmp_path / "kubectl").write_text(script)
    (tmp_path / "kubectl").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = next(c for c in doctor.checked() if c.name == "kubectl")
    assert (found.state, found.mend) == (state, mend)


def test_the_package_for_gpus_is_missing_only_where_one_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(doctor, "find_spec", lambda name: name == "pip" or None)
    assert next(c for c in doctor.checked() if c.name == "extras").state == "absent"
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho GPU 0\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    found = next(c for c in doctor.checked() if c.name == "extras")
    assert (found.state, found.mend) == ("missing", f"{sys.executable} -m pip install nvidia-ml-py")
    assert "GPUs" in found.lacks


def test_a_program_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sacct").write_text("#!/bin/sh\nexec /bin/sleep 30\n")
    (tmp_path / "sacct").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(doctor, "ASK_S", 0.1)
    start = time.monotonic()
    assert "no answer" in next(c for c in doctor.checked() if c.name == "slurm").found
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    ("prefix", "pip", "command"),
    [
        ("/home/me/.local/share/pipx/venvs/training-forensics", True, "pipx inject training-forensics a b"),
        ("/home/me/my venv", True, "'/home/me/my venv/bin/python' -m pip install a b"),
        ("/home/me/.local/share/uv/tools/x", False, "uv pip install --python /home/me/.local/share/uv/tools/x/bin/python a b"),
    ],
)
def test_packages_are_installed_where_the_program_is(
    monkeypatch: pytest.MonkeyPatch, prefix: str, pip: bool, command: str
) -> None:
    monkeypatch.setattr(sys, "prefix", prefix)
    monkeypatch.setattr(sys, "executable", f"{prefix}/bin/python")
    monkeypatch.setattr(doctor, "find_spec", lambda name: pip if name == "pip" else None)
    assert doctor.install_command("a b") == command
