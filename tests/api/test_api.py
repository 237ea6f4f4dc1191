"""The Python API as a program and a notebook use it."""

import doctest
import importlib.util
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

import forensics
from forensics.api import ipython
from tests.report import made

ROOT = Path(__file__).parents[2]
CASE = "sample_logs/jupyter_oom"
PUBLIC = [getattr(forensics, name) for name in forensics.__all__ if name != "__version__"]
METHODS = [
    value
    for kind in (forensics.Report, forensics.Knowledge)
    for name, value in vars(kind).items()
    if not name.startswith("_") and (inspect.isroutine(value) or isinstance(value, property)) and getattr(value, "__doc__", None)
]


@pytest.fixture(autouse=True)
def _in_the_projects_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="module")
def report(_own_cache: None) -> Iterator[forensics.Report]:
    before = Path.cwd()
    os.chdir(ROOT)
    yield forensics.analyze(CASE)
    os.chdir(before)


def test_the_names_are_those_of_the_document(report: forensics.Report) -> None:
    document = report.to_dict()
    for name in document.keys() - {"schema"}:
        assert hasattr(report, name), name
    cause = document["causes"][0]
    for name in cause:
        assert hasattr(report.causes[0], name), name
    for name in cause["evidence"][0]:
        assert hasattr(report.causes[0].evidence[0], name), name
    for name in cause["remediations"][0]:
        assert hasattr(report.causes[0].remediations[0], name), name


@pytest.mark.seconds
def test_it_writes_itself_in_every_form(report: forensics.Report) -> None:
    schema = json.loads((ROOT / "forensics/report/schema.json").read_text())
    jsonschema.validate(report.to_dict(), schema)
    assert json.loads(report.to_json()) == json.loads(json.dumps(report.to_dict()))
    assert report.to_html().startswith("<!DOCTYPE html>")
    assert "host_memory.oom_cgroup" in report.to_markdown() and "host_memory.oom_cgroup" in report.to_text()
    assert repr(report) == str(report) == "<forensics.Report jupyter_oom: crash, host_memory.oom_cgroup 89 %>"
    assert report.to_text(60) != report.to_text()
    assert forensics.Report.from_dict(report.to_dict()).to_json() == report.to_json()


@pytest.mark.seconds
def test_what_it_writes_has_no_secrets() -> None:
    token = "hf_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x"
    found = forensics.Report.of(made.report(f"token {token} was refused"))
    told = [found.to_json(), found.to_html(), found.to_markdown(), found.to_text(), found._repr_html_(), str(found.to_dict())]
    told += [
        str(found.to_frame(t).values) for t in ("evidence", "incidents", "causes", "notices", "sources", "timeline", "series")
    ]
    assert not [t for t in told if token in t]
    assert "10.4.0.17" not in forensics.Report.of(made.report("peer 10.4.0.17 is gone")).redacted().to_json()


@pytest.mark.seconds
@pytest.mark.parametrize("table", ["evidence", "incidents", "series", "causes", "timeline", "notices", "sources"])
def test_tables_have_a_row_for_each_thing(table: str) -> None:
    import pandas as pd

    found = forensics.Report.of(made.report())
    rows = {"evidence": 3, "incidents": 2, "series": 39, "causes": 2, "timeline": 3, "notices": 2, "sources": 3}
    frame = found.to_frame(table)
    assert len(frame) == rows[table]
    for name in {"time", "start", "end"} & set(frame.columns):
        assert isinstance(frame[name].dtype, pd.DatetimeTZDtype)


def test_a_table_that_is_none_says_which_there_are(report: forensics.Report) -> None:
    with pytest.raises(forensics.ForensicsError, match="choose one of evidence, incidents, series"):
        report.to_frame("proofs")


def test_knowledge_is_loaded_once_and_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    from forensics import pipeline

    knowledge = forensics.Knowledge()
    forensics.analyze(CASE)
    monkeypatch.setattr(pipeline, "database", lambda *_: pytest.fail("loaded again"))
    assert forensics.analyze(CASE).tool["signatures"] == knowledge.hash
    assert forensics.analyze(CASE, knowledge=knowledge).causes[0].id == "host_memory.oom_cgroup"


def test_arguments_are_those_of_the_command(tmp_path: Path) -> None:
    late = forensics.analyze(CASE, since=datetime(2027, 1, 1, tzinfo=UTC))
    assert late.verdict == "undetermined" and "2027" in late.missing[0].what
    other = forensics.analyze([f"{CASE}/dmesg.log"], workers=1, pid=1)
    assert any(w.kind == "choice" for w in other.warnings)
    folder = tmp_path / "mine" / "code"
    folder.mkdir(parents=True)
    with pytest.raises(forensics.ForensicsError, match="both given"):
        forensics.analyze(CASE, signatures=[folder], knowledge=forensics.Knowledge())
    with pytest.raises(forensics.ForensicsError, match="no path"):
        forensics.analyze([])
    with pytest.raises(forensics.ForensicsError, match="no such"):
        forensics.analyze(tmp_path / "nothing.log")


@pytest.mark.seconds
def test_public_things_have_a_docstring_with_an_example_that_holds() -> None:
    assert set(forensics.__all__) <= set(dir(forensics))
    examined = [*PUBLIC, *METHODS]
    assert len(examined) > 12
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for thing in examined:
        thing = thing.__func__ if isinstance(thing, classmethod) else thing
        name = getattr(thing, "__qualname__", None) or thing.fget.__qualname__
        if name in ("ForensicsError", "Report.of"):
            continue
        tests = [t for t in finder.find(thing, name, globs={}) if t.examples]
        assert tests, f"{name} has no example"
        for test in tests:
            assert runner.run(test).failed == 0, name


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("text", ["</pre><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "' onclick='x"])
def test_a_notebook_shows_it_and_nothing_of_a_log_acts(text: str) -> None:
    shown, plain = (Tags(forensics.Report.of(made.report(t))._repr_html_()).found for t in (text, "words"))
    assert [tag for tag, _ in shown] == [tag for tag, _ in plain]
    assert not {"script", "img", "iframe", "link", "form"} & {tag for tag, _ in shown}
    assert not [a for _, attributes in shown for a in attributes if a.startswith("on") or a in ("src", "id")]


def shell(**given: Any) -> Any:
    found = SimpleNamespace(magics={}, heard={}, input_transformers_cleanup=[], **given)
    found.events = SimpleNamespace(register=lambda event, hear: found.heard.update({event: hear}))
    found.register_magic_function = lambda function, _kind, name: found.magics.update({name: function})
    return found


def test_the_magic_gives_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    notebook = shell(kernel=object())
    forensics.load_ipython_extension(notebook)
    found = notebook.magics["forensics"](f"{CASE} --job '' --last")
    assert found.causes[0].id == "host_memory.oom_cgroup" and capsys.readouterr().out == ""
    terminal = shell()
    ipython.load_ipython_extension(terminal)
    terminal.magics["forensics"](CASE)
    assert "A memory limit was hit" in capsys.readouterr().out


@pytest.mark.parametrize("line", ["", "no/such.log", "a.log --pid x", "a.log --nothing", "'a.log"])
def test_a_magic_that_goes_wrong_is_one_line(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = shell(kernel=object())
    forensics.load_ipython_extension(found)
    assert found.magics["forensics"](line) is None
    told = capsys.readouterr()
    assert told.err.startswith("forensics: ") and told.err.count("\n") == 1 and told.out == ""
    found.magics["forensics"]("--help")
    assert "--job" in capsys.readouterr().out


def test_ipython_itself_loads_it() -> None:
    if importlib.util.find_spec("IPython") is None:
        pytest.skip("needs IPython, which is not installed")
    from IPython.core.interactiveshell import InteractiveShell

    real = InteractiveShell.instance()
    real.run_line_magic("load_ext", "forensics")
    assert real.run_line_magic("forensics", CASE).verdict == "crash"


@pytest.mark.seconds
def test_a_typed_program_passes_mypy_strict() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "tests/api/program.py"], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout
    assert (ROOT / "forensics/py.typed").exists()


@pytest.mark.seconds
def test_another_package_of_the_name_is_told_apart(tmp_path: Path) -> None:
    other = tmp_path / "forensics"
    other.mkdir()
    (other / "__init__.py").write_text("")
    command = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.path.append({str(ROOT)!r}); import training_forensics as t; t.main()"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert str(other) in done.stderr and "pip install" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.seconds
def test_a_name_that_is_not_there_says_whose_package_this_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AttributeError, match=r"^module 'forensics' has no attribute 'Case'$"):
        _ = forensics.Case  # type: ignore[attr-defined]
    monkeypatch.setattr("forensics.version.others", lambda: ["forensics 0.1.1"])
    with pytest.raises(
        AttributeError, match=r"this is training-forensics .* and forensics 0\.1\.1 brings an import of that name"
    ):
        _ = forensics.Case  # type: ignore[attr-defined]


@pytest.mark.seconds
def test_why_tells_of_the_last_death_of_this_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("JPY_SESSION_NAME", "/work/train.ipynb")
    notebook = shell()
    forensics.load_ipython_extension(notebook)
    assert notebook.magics["why"]("") is None
    assert capsys.readouterr().err.startswith("forensics: /work/train.ipynb: no captured death")
    monkeypatch.setenv("JPY_SESSION_NAME", "")
    monkeypatch.setattr("sys.argv", ["/lib/ipykernel_launcher.py"])
    assert notebook.magics["why"]("") is None
    assert capsys.readouterr().err.startswith("forensics: no captured death; %%guard")
    monkeypatch.setenv("JPY_SESSION_NAME", "/work/train.ipynb")

    def guarded(error: Exception | None) -> str:
        """What is shown of a guarded cell that ends by `error`."""
        result = SimpleNamespace(info=object(), error_in_exec=error)
        notebook.heard["pre_run_cell"](result.info)
        notebook.magics["guard"]("", "\n")
        notebook.heard["post_run_cell"](result)
        return capsys.readouterr().out

    assert "ZeroDivisionError" in guarded(ZeroDivisionError("division by zero"))
    (bundle,) = (tmp_path / "forensics").iterdir()
    assert "ZeroDivisionError: division by zero" in (bundle / "job.log").read_text()
    assert notebook.magics["why"]("").case == bundle.name
    capsys.readouterr()
    assert guarded(None) == ""
