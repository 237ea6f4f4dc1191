"""Do all formats of a report say the same? python -m tests.report.agreement FOLDER_WITH_CASES... [--first 60]

Each case is rendered in every format; each is read by a consumer of its own, and what it says of the first cause - its name, its
probability and the place of its first evidence - is compared with the document in JSON.
"""

import html
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from junitparser import Error, Failure

from forensics import pipeline
from forensics.database import Database
from forensics.model import Report
from forensics.report import formats, render
from forensics.report.formats.text import is_short
from forensics.report.phrases import percent_text
from tests.report.test_machines import annotations, junit_suites, rows, sarif_run
from tests.report.test_schema import VALIDATOR


def disagreements(report: Report) -> list[str]:
    """What a format says differently from the document, or in a form that its consumer does not read."""
    said = json.loads(render(report, "json"))
    faults = [f"json: {e.message[:100]}" for e in VALIDATOR.iter_errors(said)]
    for form in formats():
        text = render(report, form)
        if form in FORMS and not (form == "text" and is_short(report)):
            faults += [f"{form}: {fault}" for fault in FORMS[form](text, said)]
    return faults


def _people(text: str, said: dict[str, Any]) -> Iterator[str]:
    """Of the formats that people read: text, Markdown and HTML."""
    first = said["causes"][0]
    flat = re.sub(r"\s+", "", re.sub(r"[│\u200b\u00ad]", "", html.unescape(re.sub(r"<[a-zA-Z/!][^>]*>", "", text))))
    percent = percent_text(first["probability"])
    if percent.replace(" ", "") not in flat and said["verdict"] != "no_crash":
        yield f"{percent} is not there"
    if re.sub(r"[\s*_`\\]", "", first["title"]) not in re.sub(r"[*_`\\]", "", flat):
        yield f"the title {first['title']!r} is not there"
    for proof in first["evidence"][:1]:
        if f":{proof['line']}" not in flat:
            yield f"line {proof['line']} of the evidence is not there"


def _sarif(text: str, said: dict[str, Any]) -> Iterator[str]:
    first, results = said["causes"][0], sarif_run(text)["results"]
    if said["verdict"] == "no_crash":
        yield from (f"{r['level']} of a run without a crash" for r in results if r["level"] in ("error", "warning"))
    elif results[0]["ruleId"] != first["id"] or abs(results[0]["rank"] - first["probability"] * 100) > 0.1:
        yield f"{results[0]['ruleId']} {results[0]['rank']} for {first['id']} {first['probability']}"
    else:
        yield from _line(results[0]["locations"][0]["physicalLocation"].get("region", {}).get("startLine"), first)


def _junit(text: str, said: dict[str, Any]) -> Iterator[str]:
    suites = junit_suites(text)
    if (suites.failures + suites.errors == 0) != (said["verdict"] == "no_crash"):
        yield f"{suites.failures} failures and {suites.errors} errors for {said['verdict']}"
    found = [(r.type, r.message) for suite in suites for case in suite for r in case.result if isinstance(r, Failure | Error)]
    first = said["causes"][0]
    if said["verdict"] == "crash" and found[0] != (first["id"], f"{first['title']} ({percent_text(first['probability'])})"):
        yield f"{found[0]} for {first['id']} {first['probability']}"


def _github(text: str, said: dict[str, Any]) -> Iterator[str]:
    title, read = said["causes"][0]["title"], annotations(text)
    level, properties, _ = next((a for a in read if title in a[1]["title"]), read[0])  # errors stand in front of warnings
    if level != {"crash": "error", "undetermined": "warning", "no_crash": "notice"}[said["verdict"]]:
        yield f"{level} for {said['verdict']}"
    elif said["verdict"] != "no_crash":
        first = said["causes"][0]
        if said["verdict"] == "crash" and properties["title"] != f"{first['title']} ({percent_text(first['probability'])})":
            yield f"{properties['title']!r} for {first['title']!r}"
        yield from _line(properties.get("line"), first)


def _csv(text: str, said: dict[str, Any]) -> Iterator[str]:
    row, first = rows(text)[0], said["causes"][0]
    if (row["verdict"], row["cause"]) != (said["verdict"], first["id"]) or float(row["probability"]) != first["probability"]:
        yield f"{row['verdict']} {row['cause']} {row['probability']} for {said['verdict']} {first['id']} {first['probability']}"
    yield from _line(row["line"], first)


def _line(line: object, first: dict[str, Any]) -> Iterator[str]:
    lines = {str(p["line"]) for p in first["evidence"]} or {"", "1", "None"}
    if str(line) not in lines:
        yield f"line {line} is none of the evidence"


FORMS = {
    "text": _people,
    "brief": _people,
    "markdown": _people,
    "html": _people,
    "sarif": _sarif,
    "junit": _junit,
    "github": _github,
    "csv": _csv,
}


def reports(folders: list[str], first: int, known: Database) -> Iterator[tuple[str, Report]]:
    """The report on each case of some folders; what a case should say (`expected.yaml`) is no part of it."""
    for folder in folders:
        for case in sorted(p for p in Path(folder).resolve().iterdir() if p.is_dir())[:first]:
            os.chdir(case.parent)
            logs = sorted(p for p in Path(case.name).rglob("*") if p.is_file() and p.name != "expected.yaml")
            yield case.name, pipeline.analyze_paths(logs, case.name, known)


def main() -> None:
    """Print what disagrees, case by case."""
    given, _, count = " ".join(sys.argv[1:]).partition("--first")
    made = bad = 0
    for case, report in reports(given.split(), int(count or 10**6), pipeline.database()):
        faults = disagreements(report)
        made, bad = made + 1, bad + bool(faults)
        for fault in faults:
            print(f"{case}: {fault}")
    print(f"{made} cases in {len(formats())} formats; {bad} say or show something else")


if __name__ == "__main__":
    main()
