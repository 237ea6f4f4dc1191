"""What an examination knows of records, and that the built-in templates ask for no more fields than are given."""

from pathlib import Path

import pytest

from forensics.core.errors import UsageError
from forensics.database import builtin_folder, read_folders
from forensics.signature_lint.lint import fact_names_of_groups, folders_of, lint, record_fields, record_outcomes, unfilled_fields
from tests.database.test_causefiles import GOOD, write


def test_fields_of_records_are_read_off_their_code() -> None:
    fields = record_fields()
    assert {"pid", "task", "anon_rss_bytes", "limit_bytes", "xid", "pci", "exc_type", "line_no", "host", "rank"} <= fields
    assert {"nobody", "limit_size", "no_such_field"}.isdisjoint(fields)


def test_groups_become_facts_by_their_unit() -> None:
    assert fact_names_of_groups(["limit_kb", "wait_ms", "task"]) == {"limit_bytes", "wait_s", "task"}


@pytest.mark.seconds
def test_built_in_templates_ask_for_fields_that_are_given() -> None:
    causes, _ = read_folders([builtin_folder()])
    lacking = {
        (c.id, f.what.strip("{").split("}")[0].split(" ")[0].rstrip(":"))
        for c in causes
        for f in unfilled_fields(c, record_fields(), fact_names_of_groups, record_outcomes())
    }
    assert lacking == set()


def test_a_folder_lies_over_the_built_in_ones_unless_alone(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    assert folders_of(tmp_path) == [builtin_folder(), tmp_path]
    assert folders_of(tmp_path, alone=True) == [tmp_path]
    assert folders_of(builtin_folder()) == [builtin_folder()]
    with pytest.raises(UsageError, match="no cause files"):
        folders_of(tmp_path / "family")


@pytest.mark.seconds
def test_only_the_folder_that_was_given_is_examined(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    for alone in (True, False):
        found = lint(tmp_path, alone)
        assert (found.causes, found.signatures, found.faults) == (1, 1, ())
