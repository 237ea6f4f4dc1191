"""Every claim of a summary stands on a fact of its case.

A sentence with {fields} is told only where all of them are known. A sentence without any is told of every case of its cause, so it
may claim nothing that only some cases show: those are listed in gold/clauses.txt, which is read and agreed to (`--update`).
"""

import re
from pathlib import Path

import pytest

from forensics.advice.wording import fields_of, summary, tell
from forensics.database import Database
from tests.report.samples import CASES, sample

GOLD = Path(__file__).parents[1] / "gold" / "clauses.txt"
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")


def test_no_sentence_is_told_with_a_field_that_is_not_known(knowledge: Database) -> None:
    for cause in knowledge.causes.values():
        needed = {n for alternatives in cause.summary for text in alternatives for n in fields_of(text)}
        for missing in needed:
            facts = {n: f"<{n}>" for n in needed - {missing}}
            told = summary(cause, facts)
            assert f"{{{missing}}}" not in told
            for alternatives in cause.summary:
                chosen = next((t for t in alternatives if set(fields_of(t)) <= facts.keys()), None)
                unchosen = [t for t in alternatives if missing in fields_of(t)]
                assert chosen is None or chosen not in unchosen


def test_what_is_said_of_every_case_was_agreed_to(knowledge: Database, pytestconfig: pytest.Config) -> None:
    """The clauses that no fact of a case backs: they must hold for the cause itself."""
    clauses = [
        f"{cause.id}: {text}"
        for cause in sorted(knowledge.causes.values(), key=lambda c: c.id)
        for alternatives in cause.summary
        for text in alternatives
        if not fields_of(text)
    ]
    text = "\n".join(clauses) + "\n"
    if pytestconfig.getoption("--update"):
        GOLD.write_text(text)
    assert text == GOLD.read_text()


@pytest.mark.parametrize("name", CASES)
def test_every_number_of_a_summary_is_one_of_its_facts(name: str, knowledge: Database) -> None:
    for cause in sample(name, knowledge).causes:
        constant = " ".join(t for alternatives in knowledge.causes[cause.id].summary for t in alternatives) + cause.title
        backed = " ".join(tell(n, v) for n, v in cause.facts.items()) + " " + constant + knowledge.causes[cause.id].means
        for number in NUMBER.findall(cause.summary):
            assert number in backed, (cause.id, number)
