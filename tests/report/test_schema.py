"""Documents against the schema that comes with the package."""

import copy
import json
from importlib import resources
from typing import Any

import jsonschema
import pytest

from forensics.database import Database
from forensics.report import render
from forensics.report.document import document
from tests.report import made
from tests.report.samples import CASES, sample

SCHEMA = json.loads((resources.files("forensics.report") / "schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("case", CASES)
def test_the_document_of_a_case_fits(case: str, knowledge: Database) -> None:
    VALIDATOR.validate(json.loads(render(sample(case, knowledge), "json")))


def test_a_made_document_with_everything_in_it_fits() -> None:
    said = json.loads(json.dumps(document(made.report())))
    VALIDATOR.validate(said)
    assert all(said[name] for name in SCHEMA["properties"])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "forensics-report/2"),
        (("verdict",), "maybe"),
        (("causes",), []),
        (("causes", 0, "probability"), 1.5),
        (("causes", 0, "id"), "NoDots"),
        (("causes", 0, "evidence", 0, "line"), 0),
        (("causes", 0, "evidence", 0, "time"), "1970-01-01T00:00:00+00:00"),
        (("causes", 0, "evidence", 0, "time"), "2026-03-01T12:00:00"),
        (("causes", 0, "remediations", 0, "who"), "boss"),
        (("timeline", 0, "role"), "villain"),
        (("sources", 0, "clock"), "sundial"),
        (("curves", 0, "points", 0), [1]),
        (("processes", 0, "rss_bytes"), "many"),
    ],
)
def test_what_breaks_the_contract_is_refused(path: tuple[Any, ...], value: object) -> None:
    said = copy.deepcopy(json.loads(json.dumps(document(made.report()))))
    at: Any = said
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(said)


@pytest.mark.parametrize("key", SCHEMA["required"])
def test_no_promised_key_may_be_missing(key: str) -> None:
    said = document(made.report())
    del said[key]
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(said)
