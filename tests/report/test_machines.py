"""The formats that machines read, each read by a consumer of its own: SARIF, JUnit, GitHub annotations, CSV."""

import csv
import io
import json
import re
from typing import Any

import pytest
from junitparser import Error, Failure, JUnitXml
from msgspec.structs import replace
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as SarifLog

from forensics.database import Database
from forensics.model import Report
from forensics.report import render
from forensics.report.formats import csv as csv_format
from forensics.report.formats import junit, sarif
from forensics.report.style import Style
from tests.report import made
from tests.report.samples import CASES, sample

HOSTILE = ['"]]><x/>', "a,b\n::error::owned\r\n", "=cmd|'/c calc'!A0", "\x00\x1b[2J\ufffe\ud800", "%0A%25::", "../a b%c#d?e.log"]


def sarif_run(text: str) -> dict[str, Any]:
    SarifLog.model_validate_json(text)
    (run,) = json.loads(text)["runs"]
    return dict(run)


def junit_suites(text: str) -> JUnitXml:
    return JUnitXml.fromstring(text.encode())


COMMAND = re.compile(r"::(?P<level>error|warning|notice) (?P<properties>[^:\n\r]*)::(?P<data>[^\n\r]*)")


def annotations(text: str) -> list[tuple[str, dict[str, str], str]]:
    """The commands as the runner reads them: every line is one, properties split at commas, %xx decoded."""
    read = []
    for line in text.splitlines():
        found = COMMAND.fullmatch(line)
        assert found, line
        pairs = (pair.partition("=") for pair in found["properties"].split(",") if pair)
        read.append((found["level"], {k: decoded(v, ":,") for k, _, v in pairs}, decoded(found["data"], "")))
    return read


def decoded(text: str, more: str) -> str:
    for sign in ("\n", "\r", *more):
        text = text.replace(f"%{ord(sign):02X}", sign)
    return text.replace("%25", "%")


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.seconds
def test_every_second_case_is_valid_for_every_consumer(knowledge: Database) -> None:
    for case in CASES[::2]:
        report = sample(case, knowledge)
        bad = report.verdict != "no_crash"
        run = sarif_run(render(report, "sarif"))
        results = [r for r in run["results"] if r["level"] != "note"]
        assert bool(results) == bad
        if bad:
            assert results[0]["ruleId"] == report.causes[0].id
            assert run["tool"]["driver"]["rules"][results[0]["ruleIndex"]]["id"] == report.causes[0].id
        suites = junit_suites(render(report, "junit"))
        assert (suites.failures + suites.errors > 0) == bad
        (level, *_), *_ = annotations(render(report, "github"))
        assert level == {"crash": "error", "undetermined": "warning", "no_crash": "notice"}[report.verdict]
        first = rows(render(report, "csv"))[0]
        assert (first["verdict"], first["cause"]) == (report.verdict, report.causes[0].id)


def test_two_hundred_incidents_are_two_hundred_entries() -> None:
    report = made.many(200)
    assert len([r for r in sarif_run(render(report, "sarif"))["results"] if r["level"] == "error"]) == 200
    suites = junit_suites(render(report, "junit"))
    assert (suites.tests, suites.failures) == (200, 200)
    assert [r["subject"] for r in rows(render(report, "csv"))] == [f"job {4000 + i}" for i in range(200)]
    levels = [level for level, *_ in annotations(render(report, "github"))]
    assert levels.count("error") == 10


@pytest.mark.parametrize("verdict", ["crash", "undetermined", "no_crash"])
def test_the_verdict_decides_the_kind_of_entry(verdict: str) -> None:
    report = replace(made.report(), verdict=verdict, incidents=())
    (case,) = next(iter(junit_suites(render(report, "junit"))))
    kinds = {"crash": [Failure], "undetermined": [Error], "no_crash": []}
    assert [type(r) for r in case.result] == kinds[verdict]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_log_says_stays_text(text: str) -> None:
    report = made.report(text)
    run = sarif_run(render(report, "sarif"))
    harmless = sarif_run(render(made.report("words"), "sarif"))
    assert [r["ruleId"] for r in run["results"]] == [r["ruleId"] for r in harmless["results"]]
    assert junit_suites(render(report, "junit")).tests == 2
    assert [a[0] for a in annotations(render(report, "github"))] == [
        a[0] for a in annotations(render(made.report("words"), "github"))
    ]
    read = rows(render(report, "csv"))
    assert len(read) == 2
    assert not any(value.startswith(("=", "+", "@")) for row in read for value in row.values())


def test_evidence_keeps_its_place() -> None:
    report = made.report()
    proof = report.causes[0].evidence[0]
    result = sarif_run(render(report, "sarif"))["results"][0]
    where = result["locations"][0]["physicalLocation"]
    assert (where["artifactLocation"]["uri"], where["region"]["startLine"]) == (proof.source, proof.line)
    assert where["region"]["snippet"]["text"] == proof.text
    _, properties, data = annotations(render(report, "github"))[0]
    assert (properties["file"], properties["line"]) == (proof.source, str(proof.line))
    assert proof.text in data
    assert rows(render(report, "csv"))[0]["text"] == proof.text


def test_the_same_failure_has_the_same_fingerprint() -> None:
    def print_of(report: Report) -> str:
        return str(sarif_run(render(report, "sarif"))["results"][0]["partialFingerprints"]["incident/v1"])

    assert print_of(made.report("killed 17")) == print_of(made.report("killed 17"))
    assert print_of(made.report("killed it")) != print_of(made.report("stopped it"))


def test_several_reports_are_one_document() -> None:
    several = [made.report(case=f"run{i}") for i in range(3)]
    assert len(json.loads(sarif.render_many(several, Style()))["runs"]) == 3
    assert len(junit_suites(junit.render_many(several, Style()))) == 3
    assert len(rows(csv_format.render_many(several, Style()))) == 6


def test_absolute_names_are_file_addresses() -> None:
    report = made.report()
    first = report.causes[0]
    moved = replace(first, evidence=(replace(first.evidence[0], source="/var/log/my run#1.log"),))
    result = sarif_run(render(replace(report, causes=(moved,)), "sarif"))["results"][0]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///var/log/my%20run%231.log"
