"""A text to what the series of it tell, through the real scanner."""

from collections.abc import Callable

import pytest

from forensics import series
from forensics.database import Database
from forensics.model import Observation, Scan, Source
from forensics.scan import scan
from forensics.series import Series


@pytest.fixture
def scanned(knowledge: Database) -> Callable[[str], Scan]:
    def run(text: str) -> Scan:
        return scan(Source("train.log", lambda _warn: iter([text.encode()])), knowledge, lambda _w: None)

    return run


@pytest.fixture
def series_of(scanned: Callable[[str], Scan]) -> Callable[[str], dict[str, Series]]:
    def run(text: str) -> dict[str, Series]:
        return {f"{s.name} {s.scope}".strip(): s for s in series.series_of(scanned(text))}

    return run


@pytest.fixture
def told(scanned: Callable[[str], Scan], knowledge: Database) -> Callable[[str], list[Observation]]:
    return lambda text: series.read(scanned(text), knowledge)
