"""Every claim of a summary stands on a fact of its case.

A sentence with {fields} is told only where all of them are known. Names of fields are shared, so gold/clauses.txt names for each
sentence the signatures of whose examples it is told, with and without fields.
"""

import re
from pathlib import Path

import pytest

from forensics.advice.case import UNEXPLAINED
from forensics.advice.findings import findings
from forensics.advice.wording import fact_text, fields_of, summary
from forensics.database import Cause, Database, builtin_folder, read_folders
from forensics.database.confirm import Confirmer
from forensics.model.verdicts import Candidate, Diagnosis, Outcome
from forensics.readers.base import typed_fields
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


def told_of(cause: Cause) -> dict[str, set[str]]:
    """Each clause of a cause with the signatures of whose examples it is told."""
    found: dict[str, set[str]] = {text: set() for alternatives in cause.summary for text in alternatives}
    for signature in cause.signatures:
        confirmer = Confirmer(signature)
        for example in signature.match:
            facts = typed_fields(confirmer.fields(example.text) or {}) | {UNEXPLAINED: "the given logs do not say why"}
            for alternatives in cause.summary:
                chosen = next((t for t in alternatives if set(fields_of(t)) <= facts.keys()), None)
                if chosen is not None:
                    found[chosen].add(signature.name)
    return found


@pytest.mark.seconds
def test_every_clause_names_what_allows_it(pytestconfig: pytest.Config) -> None:
    """The facts of a clause allow it, as the signatures give them of whose examples it is told: `path` of one may be another
    thing than `path` of the next. One without facts must hold for each of those signatures.

    All of them stand in gold/clauses.txt, which is read and agreed to: a new clause, or a signature that comes to tell an old
    one, shows there (`--update`).
    """
    lines = []
    causes, faults = read_folders([builtin_folder()])  # with their examples, which a compiled database lacks
    assert not faults
    for cause in sorted(causes, key=lambda c: c.id):
        lines.append(f"== {cause.id}")
        for text, signatures in told_of(cause).items():
            facts = dict.fromkeys(fields_of(text))
            allowed = f"{'by ' + ', '.join(facts) + ' ' if facts else ''}of {', '.join(sorted(signatures)) or 'records'}"
            lines.append(f"{text}\n    {allowed}")
    told = "\n".join(lines) + "\n"
    if pytestconfig.getoption("--update"):
        GOLD.write_text(told)
    assert told == GOLD.read_text()


def test_that_nothing_says_why_is_told_of_the_first_cause_alone(knowledge: Database) -> None:
    cause = knowledge.causes["notebook.kernel_died"]
    first = Candidate(cause.id, (), {}, 0.9)
    diagnosis = Diagnosis("crash", Outcome("failed", 0.9, ""), (first, first), ())
    assert ["do not say why" in f.summary for f in findings(diagnosis, knowledge)] == [True, False]


def test_only_the_fact_that_stands_for_it_says_that_nothing_is_given(knowledge: Database) -> None:
    texts = [t for c in knowledge.causes.values() for alternatives in c.summary for t in alternatives]
    assert not [t for t in texts if "do not say why" in t.lower() or "nothing here says" in t.lower()]


@pytest.mark.seconds
@pytest.mark.parametrize("name", CASES)
def test_every_number_of_a_summary_is_one_of_its_facts(name: str, knowledge: Database) -> None:
    for cause in sample(name, knowledge).causes:
        constant = " ".join(t for alternatives in knowledge.causes[cause.id].summary for t in alternatives) + cause.title
        backed = " ".join(fact_text(n, v) for n, v in cause.facts.items()) + " " + constant + knowledge.causes[cause.id].means
        for number in NUMBER.findall(cause.summary):
            assert number in backed, (cause.id, number)
