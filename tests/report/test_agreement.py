"""Every format of a report says the same of the first cause; `agreement.py` does so for any folder of cases."""

import pytest

from forensics.database import Database
from tests.report.agreement import disagreements
from tests.report.samples import CASES, sample, sixth


@pytest.mark.seconds
@pytest.mark.parametrize("case", sixth(CASES, 1))
def test_every_format_says_the_same(case: str, knowledge: Database) -> None:
    assert disagreements(sample(case, knowledge)) == []
