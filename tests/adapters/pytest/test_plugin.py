"""`pytest --forensics` in sessions of their own: workers and sessions that really crash."""

import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree

import pytest
from junitparser import JUnitXml

pytestmark = [pytest.mark.seconds, pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")]
CRASH = """
import ctypes, os, time
def test_good(): pass
def test_bad(): assert 1 == 2
def test_crash(): {crash}
def test_after(): pass
"""
SEGFAULT = "ctypes.string_at(0)"


def session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, *arguments: str, before: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_some.py").write_text(text)
    known = entry_points(group="pytest11", name="forensics")  # an older installation that is edited in place does not name it
    plugin = [] if known else ["-p", "forensics.adapters.pytest"]
    command = [*before, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugin, *arguments]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)


def bundles(tmp_path: Path) -> list[Path]:
    """Those that are kept: what watches needs a moment to remove one behind a good end."""
    folder, until = tmp_path / "state" / "forensics", time.monotonic() + 200
    while any(not (kept / "report.json").exists() for kept in folder.glob("*")) and time.monotonic() < until:
        time.sleep(0.05)
    return list(folder.glob("*"))


def test_a_killed_session_is_explained_in_the_terminal_and_in_junit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = session(tmp_path, monkeypatch, CRASH.format(crash=SEGFAULT), "--forensics", "--junitxml=out.xml")
    assert done.returncode == 128 + 11
    told = done.stdout.split(" forensics ")[1]
    assert "the test session was ended by signal 11 (SIGSEGV) while test_some.py::test_crash ran" in told
    assert "process.segfault" in told
    assert "Current thread" in told
    (suite,) = JUnitXml.fromfile(str(tmp_path / "out.xml"))
    assert {p.name: p.value for p in suite.properties()}["forensics.cause"] == "process.segfault"
    assert [(c.name, c.classname, [type(r).__name__ for r in c.result]) for c in suite] == [
        ("test_good", "test_some", []),
        ("test_bad", "test_some", ["Failure"]),
        ("test_crash", "test_some", ["Error"]),
    ]
    assert (suite.tests, suite.errors, suite.failures) == (3, 1, 1)


def test_a_crashed_worker_is_explained_in_the_summary_and_in_its_tests_properties(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("xdist", reason="needs pytest-xdist")
    text = CRASH.format(crash="os.kill(os.getpid(), 9)")
    done = session(tmp_path, monkeypatch, text, "--forensics", "--junitxml=out.xml", "-n1")
    assert done.returncode == 1
    told = done.stdout.split(" forensics ")[1]
    assert "worker gw0 crashed while test_some.py::test_crash ran" in told
    assert "SIGKILL" in told
    cases = ElementTree.parse(tmp_path / "out.xml").getroot().iter("testcase")
    properties = {case.get("name"): {p.get("name"): p.get("value") for p in case.iter("property")} for case in cases}
    assert properties["test_crash"]["forensics.cause"] == "code.exception"
    assert properties["test_after"] == {}
    assert [p.name for p in bundles(tmp_path)] == [Path(properties["test_crash"]["forensics.bundle"]).name]


@pytest.mark.parametrize("end", ["passes", "fails", "usage", "workers"])
def test_a_session_that_ends_by_itself_says_nothing_more(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def test_good(): pass\n" + ("def test_bad(): assert 0\n" if end == "fails" else "")
    more = {"usage": ["--no-such-option"], "workers": ["-n1"]}.get(end, [])
    done = session(tmp_path, monkeypatch, text, "--forensics", *more)
    assert done.returncode == {"fails": 1, "usage": 4}.get(end, 0)
    assert " forensics " not in done.stdout
    assert not bundles(tmp_path)


def test_a_session_whose_parent_ignores_its_children_ends_with_its_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While SIGCHLD is ignored, which is inherited, the system tells nobody of the end of a child."""
    ignore = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    ignoring = (sys.executable, "-c", ignore)
    assert session(tmp_path, monkeypatch, "def test_bad(): assert 0\n", "--forensics", before=ignoring).returncode == 1


def test_without_the_option_only_the_plugin_itself_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import sys\ndef test_it(): print('\\n', *sorted(m for m in sys.modules if m.startswith('forensics')))\n"
    done = session(tmp_path, monkeypatch, text, "-s")
    loaded = next(line for line in done.stdout.splitlines() if line.startswith(" forensics"))
    assert loaded.split()[:4] == ["forensics", "forensics.adapters", "forensics.adapters.pytest", "forensics.version"]


def test_a_killed_session_shows_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    text = f"""
import os, pytest
def test_bad(): raise ValueError("login with {secret} failed")
@pytest.mark.parametrize("token", ["{secret}"])
def test_crash(token): os.abort()
"""
    done = session(tmp_path, monkeypatch, text, "--forensics", "--junitxml=out.xml", "-q", "--tb=no", "-p", "no:terminalreporter")
    told = done.stdout.split(" forensics ")[1]
    assert "test_crash[[REDACTED:github-token]]" in told and secret not in told
    report = (tmp_path / "out.xml").read_text()
    assert "login with [REDACTED:github-token] failed" in report and secret not in report
