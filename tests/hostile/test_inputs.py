"""Each hostile input gets an answer: the log beside it is still read, what was skipped is told, every format can be written.

Those that unpack to more than they are: test_packed.py.
"""

import json
import re
import time
from pathlib import Path

import pytest

from forensics import pipeline
from forensics.database import Database
from forensics.report import formats, render
from forensics.report.style import Style
from tests.hostile.inputs import CAUSE, Row, lay
from tests.hostile.packed import PACKED, ROWS

pytestmark = pytest.mark.seconds
LIMIT_S = 60
NEVER_WRITTEN = re.compile("[\x00-\x08\x0b-\x1f\u202e\u2066\x9b\x7f]")


@pytest.mark.parametrize("row", [pytest.param(r, id=r.name, marks=[pytest.mark.slow] * r.slow) for r in ROWS if r not in PACKED])
def test_an_input_gets_an_answer(row: Row, tmp_path: Path, knowledge: Database) -> None:
    folder = lay(row, tmp_path / "case")
    start = time.monotonic()
    report = pipeline.analyze_paths([folder], "case", knowledge)
    texts = {form: render(report, form, Style()) for form in formats()}
    assert time.monotonic() - start < LIMIT_S
    others = {n.cause for n in report.notices if n.owner == "others"}  # a kill long behind the last line of the input
    assert CAUSE in {c.id for c in report.causes} | others
    kinds = {w.kind for w in report.warnings}
    assert "internal" not in kinds
    assert row.warning is None or row.warning in kinds, kinds
    said = json.loads(texts["json"])
    assert not any(str(m["time"]).startswith("1970") for m in said["timeline"])
    assert not list(Path("/tmp").glob("hostile-out*")), "a member was written to disk"
    for form, text in texts.items():
        assert not NEVER_WRITTEN.search(text), form


def test_an_input_that_is_nothing_but_hostile_is_one_line(tmp_path: Path, knowledge: Database) -> None:
    from forensics.core.errors import SourceError

    (tmp_path / "x.bin").write_bytes(bytes(range(256)) * 40)
    with pytest.raises(SourceError, match="nothing readable"):
        pipeline.analyze_paths([tmp_path], "case", knowledge)
