"""Shared fixtures: the built-in database, a cache of its own, and a way to analyse a text. What makes the suite quick."""

import fcntl
import hashlib
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from forensics import pipeline
from forensics.database import Database, read_rows
from forensics.model import Report, Source
from forensics.sources.blob import BLOCK_BYTES

ROOT = Path(__file__).parents[1]
for _library in ("OMP", "OPENBLAS"):  # one thread each: the cores have other workers, and threads that wait for one another spin
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
# Test modules that pytest has rewritten are kept, also where the environment says that no bytecode is: 10 s of each process otherwise.
sys.dont_write_bytecode = os.environ.pop("PYTHONDONTWRITEBYTECODE", None) is None and sys.dont_write_bytecode
# Of a job in a shell's background, SIGINT is ignored, and every process that a test starts would ignore it, too.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
NOT_QUICK = ("slow", "seconds", "browser", "root")

# Machines that test are busy ones: how long an example takes says nothing. The suite tries the same examples each time, so that it
# fails for what was changed and nothing else; `--hypothesis-profile=thorough` and the fuzzer look for others, and for longer.
settings.register_profile(
    "suite",
    max_examples=50,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("thorough", settings.get_profile("suite"), max_examples=2000, derandomize=False)
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the expected answers of sample_logs/ from what is said now")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Files that are named run in this process: to start others takes longer. The whole suite runs on as many cores as there are."""
    return None if config.args_source is not pytest.Config.ArgsSource.ARGS else 0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is not marked as anything that takes long is quick."""
    for item in items:
        if not any(item.get_closest_marker(name) for name in NOT_QUICK):
            item.add_marker("quick")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORENSICS_CONFIG", os.devnull)  # nobody's own signatures
        patch.delenv("FORENSICS_SIGNATURES", raising=False)
        patch.setenv("FORENSICS_DEBUG", "1")  # a fault of the program fails the test, where a user would get a warning
        own = tmp_path_factory.mktemp("cache")
        shutil.copytree(_compiled(pytestconfig, tmp_path_factory, patch), own, dirs_exist_ok=True)
        patch.setenv("FORENSICS_CACHE", str(own))
        yield


def _compiled(config: pytest.Config, temporary: pytest.TempPathFactory, patch: pytest.MonkeyPatch) -> Path:
    """A cache with the built-in database and its tables alone, which the workers of this run and later runs share.

    It lies in pytest's own cache, is compiled by the first who needs it, and anew when the code that compiles it has changed.
    """
    code = hashlib.sha256()
    for path in sorted((ROOT / "forensics" / "database").rglob("*.py")):
        code.update(path.read_bytes())
    kept = config.cache.mkdir("forensics") if hasattr(config, "cache") else temporary.getbasetemp()
    with (kept / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        place = kept / code.hexdigest()[:16]
        for other in kept.glob("*"):
            if other.is_dir() and other != place and hasattr(config, "cache"):
                shutil.rmtree(other)
        patch.setenv("FORENSICS_CACHE", str(place))
        before = {path: path.stat().st_mtime for path in place.glob("*.db")}
        pipeline.database()
        read_rows("kinds")
        for path in (path for path, used in before.items() if path.stat().st_mtime == used):  # of files that changed since
            path.unlink()
    return place


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
