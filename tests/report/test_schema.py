"""Documents against the schema that comes with the package."""

import copy
import json
from importlib import resources
from typing import Any, get_args

import jsonschema
import pytest
from msgspec.structs import replace

from forensics.database import Database
from forensics.model import History, NodeCount
from forensics.model.verdicts import OutcomeState, Owner
from forensics.report.document import document
from tests.report import made
from tests.report.samples import CASES, rendered

SCHEMA = json.loads((resources.files("forensics.report") / "schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())


def test_the_published_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.seconds
@pytest.mark.parametrize("case", CASES)
def test_the_document_of_a_case_fits(case: str, knowledge: Database) -> None:
    VALIDATOR.validate(json.loads(rendered(case, "json", knowledge)))


def test_a_made_document_with_everything_in_it_fits() -> None:
    remembered = History("aa11", "bb22", "exact", 7, nodes=(NodeCount("gpu-0412", 5),), node_count=2)
    said = json.loads(json.dumps(document(replace(made.report(), history=remembered))))
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
        (("subject", "outcome"), "dead"),
        (("subject", "attempt"), 0),
        (("subject", "outcome_lines"), [7]),
        (("subject", "ended_badly"), 1.5),
        (("notices", 0, "owner"), "nobody"),
        (("notices", 0, "line"), 0),
        (("causes", 0, "ledger", 0, "log_odds"), "much"),
        (("causes", 0, "ledger", 0, "line"), 0),
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


@pytest.mark.parametrize("path", [("subject",), ("notices", 0), ("causes", 0, "ledger", 0)])
def test_each_promised_field_of_what_it_speaks_of_is_there(path: tuple[Any, ...]) -> None:
    said = json.loads(json.dumps(document(made.report())))
    at: Any = said
    for step in path:
        at = at[step]
    for name in set(at) - {"ended_badly", "ledger", "none_of_these", "status", "silent", "captured"}:
        kept = at.pop(name)
        with pytest.raises(jsonschema.ValidationError):
            VALIDATOR.validate(said)
        at[name] = kept


def test_a_report_of_an_earlier_version_has_no_subject() -> None:
    VALIDATOR.validate(json.loads(json.dumps(document(replace(made.report(), subject=None)))))


def test_every_outcome_that_the_engine_knows_is_in_the_schema() -> None:
    assert SCHEMA["properties"]["subject"]["properties"]["outcome"]["enum"] == list(get_args(OutcomeState))
    assert SCHEMA["properties"]["notices"]["items"]["properties"]["owner"]["enum"] == list(get_args(Owner))
