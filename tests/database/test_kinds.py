"""The kind of each cause."""

from forensics.database import HEALTHY, Database
from forensics.database.kinds import kind_of
from forensics.database.tables import read_rows
from forensics.report.index import CAUSE_KINDS


def test_every_cause_has_a_kind_that_the_index_shows(knowledge: Database) -> None:
    assert {kind_of(cause) for cause in knowledge.causes if cause != HEALTHY} == set(CAUSE_KINDS)
    families = {cause.partition(".")[0] for cause in knowledge.causes if cause != HEALTHY}
    assert {row["family"] for row in read_rows("kinds")} == families


def test_no_cause_and_an_unknown_family_have_no_kind() -> None:
    assert [kind_of(cause) for cause in ("", HEALTHY, "own_family.own_cause")] == ["", "", ""]
