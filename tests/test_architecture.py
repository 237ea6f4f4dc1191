"""The house stands: every room imports only what lies below it, nothing goes in a circle, files and functions stay small."""

import ast
import functools
import graphlib
import importlib
import re
from pathlib import Path

import pytest

from forensics.database import HEALTHY, builtin_folder, read_folders
from scripts.docs.rooms import drawn

ROOT = Path(__file__).parents[1] / "forensics"
FILES = sorted(ROOT.rglob("*.py"))
# Every room, a folder or a file, with the rooms that it may import.
BELOW: dict[str, set[str]] = {
    # what everybody stands on
    "version": set(),
    "core": set(),
    "model": {"core"},
    # knowledge
    "database": {"model", "core"},
    "config": {"database", "core"},
    # bytes to observations
    "sources": {"model", "core"},
    "parallel": {"sources", "model"},
    "line_formats": {"model", "core"},
    "scan": {"database", "model", "core"},
    "programs": {"model", "core"},
    "readers": {"programs", "line_formats", "database", "model", "core"},
    "series": {"readers", "line_formats", "database", "model", "core"},
    # what belongs together, what ended, whose it is, why
    "correlation": {"readers", "line_formats", "database", "model", "core"},
    "outcome": {"templates", "line_formats", "database", "model", "core"},
    "ownership": {"readers", "outcome", "correlation", "line_formats", "database", "model"},
    "decision": {"core", "outcome", "database", "model"},
    # what to do, what to tell
    "advice": {"readers", "database", "model", "core"},
    "context": {"series", "readers", "programs", "database", "model", "core"},
    "templates": {"line_formats", "model", "core"},
    "report": {"model", "core"},
    # the stages in order
    "source_analysis": {
        *("context", "core", "correlation", "database", "readers", "line_formats", "model", "outcome", "parallel"),
        *("scan", "series", "sources"),
    },
    "summary": {"advice", "correlation", "core", "model", "ownership", "source_analysis"},
    "pipeline": {
        *("advice", "config", "context", "core", "correlation", "database", "decision", "readers", "model", "outcome"),
        *("ownership", "series", "source_analysis", "sources", "summary", "version"),
    },
    # at the death: what watches a job imports nothing of what analyses it
    "capture": set(),
    # again
    "history": {"config", "report", "templates", "model", "core"},
    "fleet": {"history", "pipeline", "database", "report", "model", "core"},
    # who asks
    "train": {"pipeline", "decision", "outcome", "correlation", "sources", "database", "model", "core"},
    "signature_lint": {"advice", "config", "database", "readers", "series", "core"},
    "explain": {"advice", "database", "readers", "scan", "model"},
    "cli": {
        *("adapters", "advice", "capture", "config", "context", "core", "correlation", "database", "decision", "explain"),
        *(
            "fleet",
            "history",
            "model",
            "outcome",
            "pipeline",
            "readers",
            "report",
            "scan",
            "series",
            "signature_lint",
            "source_analysis",
        ),
        *("sources", "templates", "train", "version"),
    },
    "api": {"pipeline", "capture", "config", "correlation", "database", "report", "model", "core"},
    "adapters": {"api", "capture", "history", "report", "model", "core", "version"},
    "__init__": {"api", "capture", "core", "version"},
    "__main__": {"cli"},
}
PAGE = ROOT.parent / "docs" / "architecture.md"
PICTURE = PAGE.with_name("rooms.svg")
KNOW_NO_CAUSE = ("readers", "series", "correlation", "outcome", "ownership", "decision", "train", "history", "fleet")
NOT_CAUSES = {  # names of Dask's, which begin like a family
    *("distributed.nanny", "distributed.worker", "distributed.scheduler"),
    "distributed.batched - INFO - Batched Comm Closed",
    *("distributed.worker.profile.enabled", "distributed.admin.system-monitor.interval", "distributed.admin.tick.interval"),
}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@functools.cache
def imports(path: Path) -> set[str]:
    """The modules of the package that a file imports: `model.answers`."""
    found = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            found |= {str(node.module)} | {f"{node.module}.{a.name}" for a in node.names}
    return {name.removeprefix("forensics.") for name in found if name.startswith("forensics.")}


def literals(path: Path) -> list[str]:
    """The texts that code uses: docstrings are none."""
    tree = parsed(path)
    told = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    nodes = (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in told)
    return [n.value for n in nodes if isinstance(n.value, str)]


def test_every_room_has_a_row() -> None:
    rooms = {room_of(p) for p in FILES}
    for room in sorted(rooms - set(BELOW)):
        pytest.fail(f"forensics/{room} has no row in BELOW ({__file__}): add one that names the rooms it may import")
    for room in sorted(set(BELOW) - rooms):
        pytest.fail(
            f"BELOW ({__file__}) has a row for {room}, and there is no forensics/{room}: delete the row, and its name in others"
        )


def test_the_top_of_the_package_holds_only_the_ways_in() -> None:
    files = {p.name for p in ROOT.glob("*.py")}
    assert files == {"__init__.py", "__main__.py", "pipeline.py", "version.py"}, (
        "move the other file into the room of its purpose"
    )


def test_the_arrows_between_rooms_go_one_way() -> None:
    try:
        list(graphlib.TopologicalSorter(BELOW).static_order())
    except graphlib.CycleError as error:
        pytest.fail(
            f"these rooms import each other in a circle: {' -> '.join(error.args[1])}; move what they share into a room below"
        )


def test_a_room_imports_only_what_lies_below_it() -> None:
    for path in FILES:
        room = room_of(path)
        for name in sorted(imports(path)):
            above = name.split(".")[0]
            assert above in BELOW[room] | {room}, (
                f"{path.relative_to(ROOT)} imports {name}, and {room} may not import {above}: take what it needs as an argument, or "
                f"move it down; an arrow that goes down may be added to BELOW ({__file__})"
            )


def test_no_module_imports_itself_in_a_circle() -> None:
    modules = {str(p.relative_to(ROOT)).removesuffix(".py").replace("/", ".").removesuffix(".__init__"): p for p in FILES}
    graph = {m: {i for i in imports(p) if i in modules and i != m and not m.startswith(i + ".")} for m, p in modules.items()}
    list(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError


def test_what_finds_places_and_decides_knows_no_cause_and_no_signature_by_name() -> None:
    """What a record proves stands in signatures/records.yaml; what a rule needs to know of a cause is a trait in its file."""
    causes, _ = read_folders([builtin_folder()])
    families = {c.id.split(".")[0] for c in causes}
    named = re.compile(r"(?<![\w.])(?:" + "|".join(re.escape(c.id) for c in causes) + r")(?![\w.])")
    assert named.search(f"{causes[0].id}/x")
    assert HEALTHY in {c.id for c in causes}
    found = [
        (str(path.relative_to(ROOT)), text)
        for room in KNOW_NO_CAUSE
        for path in sorted((ROOT / room).rglob("*.py"))
        for text in literals(path)
        if text not in NOT_CAUSES and (named.search(text) or any(text.startswith(f"{family}.") for family in families))
    ]
    assert not found


def test_files_and_functions_stay_small() -> None:
    large = []
    for path in FILES:
        name, text = str(path.relative_to(ROOT)), path.read_text()
        large += [name] if text.count("\n") > 300 else []
        functions = [n for n in ast.walk(parsed(path)) if isinstance(n, ast.FunctionDef)]
        large += [f"{name}: {f.name}" for f in functions if (f.end_lineno or 0) - f.lineno > 40]
    assert large == []


def test_no_adapter_is_imported_by_another() -> None:
    foreign = {
        (str(path.relative_to(ROOT)), name)
        for path in (ROOT / "adapters").rglob("*.py")
        for name in imports(path)
        if name.startswith("adapters.") and name.split(".")[1] != path.relative_to(ROOT / "adapters").parts[0]
    }
    assert not foreign


def rooms() -> str:
    """A table: each room, and the first sentence of its docstring."""
    rows = ["| room | what it does |", "| --- | --- |"]
    for room in sorted(r for r in BELOW if not r.startswith("__")):
        said = str(importlib.import_module(f"forensics.{room}").__doc__).split("\n\n")[0]
        rows.append(f"| `{room}` | {' '.join(said.split())} |")
    return "\n".join(rows)


def test_the_page_shows_the_rooms_as_they_are(request: pytest.FixtureRequest) -> None:
    begin, end = "<!-- rooms: made by tests/test_architecture.py -->\n", "\n<!-- end of rooms -->"
    text = PAGE.read_text()
    assert text.count(begin) == text.count(end) == 1 and begin in text.partition(end)[0], f"{PAGE} needs the two marks of rooms"
    head, _, rest = text.partition(begin)
    now, _, tail = rest.partition(end)
    picture = drawn({room: below for room, below in BELOW.items() if not room.startswith("__")})
    if request.config.getoption("--update"):
        PAGE.write_text(head + begin + rooms() + end + tail)
        PICTURE.write_text(picture)
    out_of_date = "is out of date: `pytest tests/test_architecture.py --update` writes it anew"
    assert now == rooms() or request.config.getoption("--update"), f"{PAGE.name} {out_of_date}"
    assert PICTURE.read_text() == picture, f"{PICTURE.name} {out_of_date}"


def test_every_function_that_the_page_names_is_there() -> None:
    names = set(re.findall(r"`forensics\.([\w.]+)\.(\w+)`", PAGE.read_text()))
    assert len(names) > 10
    lacking = [f"{m}.{n}" for m, n in sorted(names) if not hasattr(importlib.import_module(f"forensics.{m}"), n)]
    assert not lacking, "docs/architecture.md names what is gone: name what does it now"
