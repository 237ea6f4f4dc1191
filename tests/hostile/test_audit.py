"""The audit of dependencies says what it could find out, and fails for nothing else than a vulnerability."""

import json
import subprocess
import sys
from typing import Any

import pytest

from scripts import audit

CLEAN = {"name": "a", "version": "1", "vulns": []}
BAD = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-0", "fix_versions": ["3"]}]}
UNKNOWN = {"name": "c", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("packages", "said", "status"),
    [
        ([CLEAN, UNKNOWN], "1 packages looked up, 1 could not be, no known", 0),
        ([CLEAN, BAD], "b 2: PYSEC-0, mended in 3", 1),
        ([UNKNOWN], "skipped", 0),
        ([], "skipped", 0),
    ],
)
def test_each_known_vulnerability_is_told_and_decides_the_status(packages: list[dict[str, Any]], said: str, status: int) -> None:
    lines, found = audit.judged({"dependencies": packages})
    assert said in "\n".join(lines) and found == status


@pytest.mark.parametrize("printed", [b"", b"requests.exceptions.ConnectionError", b"[1"])
def test_a_list_that_cannot_be_reached_is_told(
    printed: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_a, **_k: subprocess.CompletedProcess([], 1, printed))
    with pytest.raises(SystemExit) as left:
        audit.main()
    assert left.value.code == 0 and "skipped" in capsys.readouterr().out


def test_a_vulnerability_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    told = json.dumps({"dependencies": [BAD]}).encode()
    monkeypatch.setattr(subprocess, "run", lambda *_a, **_k: subprocess.CompletedProcess([sys.executable], 1, told))
    with pytest.raises(SystemExit) as left:
        audit.main()
    assert left.value.code == 1


def test_every_dependency_has_an_upper_bound() -> None:
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    named = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    named += [d for extra in project["project"]["optional-dependencies"].values() for d in extra]
    assert len(named) > 20
    assert [d for d in named if "<" not in d] == []
