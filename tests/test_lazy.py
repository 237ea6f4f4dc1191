"""Patterns that are compiled when they are first used."""

import gc
import importlib
import pkgutil
import re
import subprocess
import sys

import pytest

import forensics
from forensics.core import lazy


def test_a_lazy_pattern_does_what_the_compiled_one_does() -> None:
    later = lazy.regex(r"(?P<word>[a-z]+) (\d+)", re.IGNORECASE)
    now = re.compile(r"(?P<word>[a-z]+) (\d+)", re.IGNORECASE)
    for text in ("Rank 7", "rank x", "on rank 12 and RANK 13"):
        assert [m.groups() for m in later.finditer(text)] == [m.groups() for m in now.finditer(text)]
        assert bool(later.match(text)) is bool(now.match(text))
        assert later.sub("-", text) == now.sub("-", text)
    assert (later.pattern, later.flags, later.groups, dict(later.groupindex)) == (now.pattern, now.flags, 2, {"word": 1})


def test_what_patterns_do_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        lazy.regex("a").no_such_method()  # type: ignore[attr-defined]
    assert lazy.regex(rb"\x00").search(b"a\x00b")


@pytest.mark.seconds
def test_every_pattern_of_the_package_compiles() -> None:
    for module in pkgutil.walk_packages(forensics.__path__, "forensics."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as error:  # of what an adapter is for, which need not be installed
                assert module.name.startswith("forensics.adapters.")
                assert not str(error.name).startswith("forensics")
    waiting = [o for o in gc.get_objects() if type(o).__name__ == "_Regex"]
    assert len(waiting) > 100
    for pattern in waiting:
        assert re.compile(pattern.pattern, pattern.flags)


@pytest.mark.seconds
def test_nothing_is_compiled_by_importing_the_pipeline() -> None:
    counted = (
        "import re, regex, hyperscan, typing; n = []; old = re.compile\n"
        "def counting(*a): n.append(a); return old(*a)\n"
        "re.compile = counting\nimport forensics.pipeline, forensics.cli.analyze\n"
        "print(len(n))"
    )
    printed = subprocess.run([sys.executable, "-c", counted], capture_output=True, text=True, check=True).stdout
    assert int(printed) < 80  # what other packages compile


MAX_MODULES = 380  # 370 of the package are loaded for a short log with numbers on standard input; each takes half a millisecond
HEAVY = {
    *("typer", "rich", "numpy", "pandas", "pickle", "statistics", "hashlib", "platformdirs", "shlex", "traceback"),
    *("inspect", "typing_extensions"),
    *("forensics.ranks", "forensics.readers.programs.habits"),
}


@pytest.mark.seconds
def test_a_short_log_on_standard_input_loads_no_more_than_it_needs() -> None:
    code = (
        "import atexit, sys; sys.argv = ['forensics', 'stdin']\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "from forensics.cli import main; main()"
    )
    log = "step 1 loss 0.5\nstep 2 loss 0.4\nRuntimeError: CUDA out of memory\n"
    run = subprocess.run([sys.executable, "-c", code], input=log, capture_output=True, text=True, check=True)
    assert "gpu_memory" in run.stdout
    loaded = run.stderr.split()
    assert not HEAVY.intersection(loaded)
    assert 100 < sum(name.startswith("forensics.") for name in loaded) <= MAX_MODULES


def test_importing_a_module_of_the_package_reads_no_metadata_of_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes 0.2 s, and the import system asks for each name before it looks for a module."""
    monkeypatch.setattr("forensics.version.others", lambda: pytest.fail("other packages were looked at"))
    with pytest.raises(AttributeError, match="no attribute 'pipeline'"):
        forensics.__getattr__("pipeline")
