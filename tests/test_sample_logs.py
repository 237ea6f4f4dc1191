"""The captured cases of sample_logs/: each is answered with its cause, its symptoms and its evidence; healthy ones stay silent.

`pytest --update` rewrites what may change with the wording of a signature (the evidence lines); causes are never rewritten.
"""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from forensics.database import HEALTHY, Database
from forensics.report.document import document
from forensics.sources.rank_dumps import is_flight_recorder, read_flight_recorder
from tests.report.samples import sample

FOLDER = Path(__file__).parents[1] / "sample_logs"
CASES = sorted(p.parent for p in FOLDER.glob("*/expected.yaml"))


def answer(case: Path, knowledge: Database) -> dict[str, Any]:
    return document(sample(case.name, knowledge))


def test_there_are_cases() -> None:
    assert len(CASES) >= 14
    assert sum(c.name.startswith("healthy") for c in CASES) >= 3


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_a_case_is_answered_as_it_happened(case: Path, knowledge: Database) -> None:
    expected = yaml.safe_load((case / "expected.yaml").read_text())
    said = answer(case, knowledge)
    first = said["causes"][0]
    assert first["id"] in {expected["cause"], *expected.get("accept", [])}
    if expected["cause"] == HEALTHY:
        assert said["verdict"] == "no_crash"
        assert [c["id"] for c in said["causes"] if c["probability"] > 0.4] == [HEALTHY]
        return
    assert said["verdict"] == expected.get("verdict", "crash")
    assert first["role"] == "root"
    roles = {c["id"]: c["role"] for c in said["causes"]}
    assert {s: roles.get(s) for s in expected.get("symptoms", [])} == dict.fromkeys(expected.get("symptoms", []), "symptom")
    told = [(Path(e["source"]).name, e["text"]) for e in first["evidence"]]
    for wanted in expected["evidence"]:
        assert any(name == wanted["file"] and wanted["text"] in text for name, text in told), wanted
    if "rank" in expected:  # that keeps the others waiting, by the dumps
        assert first["facts"]["culprit_rank"] == expected["rank"]


def lines(path: Path) -> list[bytes]:
    """The lines of a file; of a dump those that show it."""
    data = path.read_bytes()
    if is_flight_recorder(data[:4096]):
        return [line.encode() for line in read_flight_recorder(data, path.name).text]
    return data.split(b"\n")


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_evidence_stands_where_it_is_said_to_stand(case: Path, knowledge: Database) -> None:
    for cause in answer(case, knowledge)["causes"]:
        for line in cause["evidence"]:
            if line["source"].endswith(".ipynb") and line["text"].startswith("In ["):
                continue  # the heading of a cell, and how it ended: made of fields of the document
            raw = lines(FOLDER.parent / line["source"])[line["line"] - 1].decode("utf-8", "replace")
            raw = re.sub(r"\\u001b\[[\d;]*m", "", raw)  # a notebook writes a traceback's colours as JSON escapes
            plain = "".join(c for c in line["text"].rstrip("…") if c.isalnum())
            assert plain[:200] in "".join(c for c in raw if c.isalnum()) or "\\x" in line["text"]
