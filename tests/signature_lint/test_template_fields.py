"""Fields that nothing gives are told with their place."""

from pathlib import Path

from forensics.database import read_folders
from forensics.signature_lint.lint import fact_names_of_groups, unfilled_fields
from tests.database.test_causefiles import GOOD, write

MORE = """\
summary:
  - ['{task} held {limit_bytes}', 'it broke']
  - '{nobody} knows'
missing:
  - {what: the size, why: It tells., command: 'ps -p {pid}; echo ${HOME} {{.State}}', unless: [someone]}
"""


def test_fields_of_signatures_and_records_are_known_and_others_told(tmp_path: Path) -> None:
    text = GOOD.replace("broke (?P<task>", "broke (?P<limit_kb>x)?(?P<task>") + MORE
    path = write(tmp_path, text)
    (cause,), faults = read_folders([tmp_path])
    assert faults == []
    found = [(f.path, f.line, f.what.split(":")[0]) for f in unfilled_fields(cause, {"pid"}, fact_names_of_groups)]
    line = next(i for i, x in enumerate(text.splitlines(), 1) if "the size" in x)
    assert found == [(str(path), 1, "{nobody}"), (str(path), line, "someone under when or unless")]
    assert len(unfilled_fields(cause, set(), fact_names_of_groups)) == 3
