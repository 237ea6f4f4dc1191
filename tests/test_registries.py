"""A module in the right folder is registered; what is wrong with it is said with the names of the modules and what to do."""

from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from forensics import cli, readers
from forensics.cli import app
from forensics.core.errors import RegistrationError
from forensics.core.modules import modules
from forensics.readers.gpu import sxid, xid
from forensics.sources import formats
from forensics.sources.formats import cri, kmsg

READERS = modules(readers.__path__)


@pytest.fixture(autouse=True)
def _caches() -> Iterator[None]:
    formats.all_formats.cache_clear()
    yield
    formats.all_formats.cache_clear()


@pytest.mark.parametrize(
    ("room", "one", "other", "name"),
    [(formats, cri, kmsg, "FORMATS"), (readers, xid, sxid, "TRIGGER")],
)
def test_a_name_used_twice_names_both_modules(
    room: ModuleType, one: ModuleType, other: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one, name, getattr(other, name))
    with pytest.raises(RegistrationError, match=r" and .*: both .*; rename one") as told:
        readers.find_readers(READERS) if room is readers else formats.all_formats()
    assert one.__name__ in str(told.value)
    assert other.__name__ in str(told.value)


@pytest.mark.parametrize(
    ("ask", "module", "name"),
    [
        (lambda: formats.all_formats(), cri, "FORMATS"),
        (lambda: readers.find_readers(READERS), xid, "TRIGGER"),
        (lambda: readers.find_readers(READERS), xid, "read"),
    ],
)
def test_a_module_that_registers_nothing_says_what_it_lacks(
    ask: Callable[[], object], module: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(module, name)
    with pytest.raises(
        RegistrationError, match=rf"{module.__name__}: no .*{name}.*(?:, or name the module in|; add them, or leave OUTCOMES out)"
    ):
        ask()


def test_a_command_without_its_function_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "NOT_COMMANDS", app.NOT_COMMANDS - {"progress"})
    with pytest.raises(
        RegistrationError,
        match=r"forensics\.cli\.progress: no function progress; add it, or register\(app\) for a group, or name the module in",
    ):
        app.build()


@pytest.mark.parametrize(
    ("error", "line", "status"),
    [
        (RegistrationError("no TRIGGER", "forensics.readers.x", "add it"), "forensics.readers.x: no TRIGGER; add it", 2),
        (ModuleNotFoundError("", name="forensics.series"), "the module forensics.series is missing; reinstall the package", 2),
        (ModuleNotFoundError("", name="typing_extensions"), "internal error (ModuleNotFoundError", 3),
    ],
    ids=["a module of a room", "a room that is missing", "a dependency that is missing"],
)
def test_the_command_line_says_in_one_line_what_to_do(
    error: Exception, line: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: str) -> None:
        raise error

    monkeypatch.setattr(app, "build", broken)
    monkeypatch.delenv("FORENSICS_DEBUG", raising=False)
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)
    monkeypatch.setattr(cli.gc, "set_threshold", lambda _: None)
    monkeypatch.setattr(cli.atexit, "register", lambda _: None)
    monkeypatch.setattr(cli.os, "dup2", lambda *_: None)
    with pytest.raises(SystemExit) as exited:
        cli.main()
    err = capsys.readouterr().err
    assert exited.value.code == status
    assert err.startswith(f"forensics: {line}") and err.count("\n") == 1
