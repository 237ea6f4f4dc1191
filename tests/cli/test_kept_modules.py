"""Modules that are kept in one file are the same as those that are imported, and what changed or is damaged is imported."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import forensics.core.text as plain
from forensics.cli import kept_modules
from forensics.cli.kept_modules import KeptLoader, KeptModules

NAME, FOLDER = plain.__name__, [f"{kept_modules.ROOT}/core"]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file with the modules that this process loaded."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "kept_code.pyc"
    modules = KeptModules(str(path))
    modules.before.clear()
    modules.keep()
    return path


def read(path: Path) -> KeptModules:
    modules = KeptModules(str(path))
    modules.read()
    return modules


def test_a_kept_module_is_the_one_that_is_imported(kept: Path) -> None:
    spec = read(kept).find_spec(NAME, FOLDER)
    assert isinstance(spec.loader, KeptLoader)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    assert made is not plain and made.__file__ == plain.__file__ and made.__package__ == plain.__package__
    assert made.format_size(3 << 20) == "3 MiB" and made.format_size.__code__ == plain.format_size.__code__
    package = read(kept).find_spec("forensics.core", [kept_modules.ROOT])
    assert package.submodule_search_locations == FOLDER and package.origin == f"{FOLDER[0]}/__init__.py"


def test_a_module_that_changed_is_imported_and_kept_again(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    true = kept_modules._state
    monkeypatch.setattr(kept_modules, "_state", lambda source: [1, 2] if source == plain.__file__ else true(source))
    modules = read(kept)
    assert modules.find_spec(NAME, FOLDER) is None
    assert modules.find_spec("forensics.core.errors", FOLDER) is not None
    modules.before -= {NAME}  # as if it had been imported since
    modules.keep()
    again = read(kept)
    assert again.find_spec(NAME, FOLDER) is not None and again.places.keys() == modules.places.keys()


@pytest.mark.parametrize("damage", [lambda data: data[:99], lambda data: data[:99] + b"?" + data[100:], lambda _: b""])
def test_of_a_damaged_file_all_are_imported(kept: Path, damage: object) -> None:
    kept.write_bytes(damage(kept.read_bytes()))  # type: ignore[operator]
    assert read(kept).find_spec(NAME, FOLDER) is None


def test_of_a_file_that_ends_early_what_is_left_is_used(kept: Path) -> None:
    kept.write_bytes(kept.read_bytes()[:-1])
    modules = read(kept)
    left = [n for n, place in modules.places.items() if n.startswith("forensics.core.") and modules.find_spec(n, FOLDER)]
    assert len(left) > 0 and len(modules.changed) <= 1


def test_a_package_that_was_moved_is_imported(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_modules, "ROOT", "/elsewhere/forensics")
    assert read(kept).find_spec(NAME, FOLDER) is None


def test_nothing_is_written_where_python_shall_write_nothing(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.unlink()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    modules = KeptModules(str(kept))
    modules.before.clear()
    modules.keep()
    assert not kept.exists()


SHOWN = """
import os, sys
end = os._exit
def shown(status):
    loader = type(sys.modules["forensics.pipeline"].__spec__.loader).__name__
    os.write(2, loader.encode())
    end(status)
os._exit = shown
sys.argv = ["forensics", "stdin"]
from forensics.cli import command
command()
"""


@pytest.mark.seconds
def test_the_second_run_takes_its_modules_from_the_file(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    runs = [
        subprocess.run([sys.executable, "-c", SHOWN], input="Killed\n", capture_output=True, text=True, check=True, env=env)
        for _ in range(2)
    ]
    assert [run.stderr.splitlines()[-1] for run in runs] == ["SourceFileLoader", "KeptLoader"]
    assert runs[0].stdout == runs[1].stdout


def test_the_file_is_one_that_a_package_manager_deletes_with_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """pip deletes of each source file what `cache_from_source` names, and uv the folder."""
    made: list[KeptModules] = []
    monkeypatch.setattr(KeptModules, "read", lambda self: made.append(self))
    monkeypatch.setattr(kept_modules.atexit, "register", lambda _: None)
    monkeypatch.setattr(sys, "meta_path", [])
    kept_modules.use()
    source = f"{kept_modules.ROOT}/cli/kept_code.py"
    assert Path(source).exists() and [m.path for m in made] == [importlib.util.cache_from_source(source)]
