"""Shared fixtures: the built-in database, a cache of its own, and a way to analyse a text."""

import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forensics import pipeline
from forensics.database import Database
from forensics.model import Report, Source
from forensics.sources.blob import BLOCK_BYTES

ROOT = Path(__file__).parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the expected answers of sample_logs/ from what is said now")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = os.environ.get("FORENSICS_CACHE")
    os.environ["FORENSICS_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    os.environ["FORENSICS_CONFIG"] = os.devnull  # nobody's own signatures
    os.environ.pop("FORENSICS_SIGNATURES", None)
    os.environ["FORENSICS_DEBUG"] = "1"  # a fault of the program fails the test, where a user would get a warning
    yield
    if before is None:
        del os.environ["FORENSICS_CACHE"]
    else:
        os.environ["FORENSICS_CACHE"] = before


@pytest.fixture(scope="module")
def little_memory() -> Iterator[None]:
    """4 GiB of addresses, so that a number of a log that becomes a size fails its test and not the machine."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.fixture(scope="session")
def knowledge(_own_cache: None) -> Database:
    return pipeline.database()


def text_source(name: str, text: str | bytes) -> Source:
    """A source of `text`, in blocks as a file gives them."""
    data = text.encode() if isinstance(text, str) else text
    return Source(name=name, blocks=lambda _warn: (data[i : i + BLOCK_BYTES] for i in range(0, len(data) or 1, BLOCK_BYTES)))


@pytest.fixture
def analyze(knowledge: Database) -> Callable[..., Report]:
    def run(**texts: str) -> Report:
        sources = [text_source(name.replace("_", "."), text) for name, text in texts.items()]
        return pipeline.analyze(sources, "case", knowledge)

    return run
