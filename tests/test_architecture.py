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
    "data_files": {"core"},
    "database": {"line_formats", "data_files", "model", "core"},
    "config": {"data_files", "database", "core"},
    # bytes to observations
    "sources": {"line_formats", "model", "core"},
    "line_formats": {"data_files", "model", "core"},
    "scan": {"database", "model", "core"},
    "readers": {"data_files", "line_formats", "database", "model", "core"},
    "ranks": {"capture", "readers", "line_formats", "database", "model", "core"},
    "series": {"readers", "line_formats", "database", "model", "core"},
    # what ended, what belongs together and whose it is, why
    "outcome": {"readers", "line_formats", "database", "model", "core"},
    "correlation": {"outcome", "readers", "line_formats", "database", "model", "core"},
    "decision": {"readers", "core", "outcome", "database", "data_files", "model"},
    # what to do, what to tell
    "estimate": {"data_files", "readers", "model", "core"},
    "advice": {"estimate", "series", "readers", "database", "model", "core"},
    "report": {"model", "core"},
    # the stages in order
    "pipeline": {
        *("advice", "config", "core", "correlation", "database", "decision", "line_formats", "model", "outcome"),
        *("ranks", "readers", "scan", "series", "sources", "version"),
    },
    # at the death: what watches a job imports nothing of what analyses it
    "capture": set(),
    # again
    "history": {"readers", "config", "report", "model", "core"},
    "fleet": {"history", "pipeline", "database", "report", "model", "core"},
    # who asks
    "signature_lint": {"data_files", "advice", "config", "database", "ranks", "model", "readers", "series", "core"},
    "signature_export": {"database"},
    "sinks": {"report", "model", "core"},
    "explain": {"advice", "database", "readers", "scan", "model"},
    "cli": {
        *(
            "adapters",
            "advice",
            "capture",
            "config",
            "core",
            "correlation",
            "data_files",
            "database",
            "decision",
            "estimate",
            "explain",
        ),
        *(
            "fleet",
            "history",
            "line_formats",
            "model",
            "outcome",
            "pipeline",
            "ranks",
            "readers",
            "report",
            "scan",
            "series",
            "signature_export",
            "sinks",
            "signature_lint",
        ),
        *("sources", "version"),
    },
    "api": {"pipeline", "capture", "config", "correlation", "database", "report", "model", "core"},
    "adapters": {"api", "capture", "history", "report", "model", "core", "version"},
    "__init__": {"api", "capture", "core", "version"},
    "__main__": {"cli"},
}
PAGE = ROOT.parent / "docs" / "architecture.md"
PICTURE = PAGE.with_name("rooms.svg")
# Behind the readers nobody parses a line of a log. These patterns are of other texts; the reason stands beside each.
BEHIND_READERS = (
    *("advice", "correlation", "decision", "estimate", "explain", "history", "outcome", "pipeline"),
    *("ranks", "report", "series"),
)
OF_OTHER_TEXTS = {
    "advice/alternatives.py": "texts of remedies: their words",
    "advice/contradicted.py": "texts of remedies: the settings that they name",
    "advice/case.py": "the name of a device",
    "estimate/activations.py": "names of a model's layers",
    "advice/remedies.py": "commands of remedies, and the names of facts in them",
    "advice/service_states.py": "the table of states, whose messages are compiled as they stand in it",
    "advice/whereabouts.py": "values of facts: the owner of a process, the name of a session's device",
    "advice/wording.py": "templates of sentences and values of facts",
    "advice/attempt_changes.py": "the number in a message that two attempts share",
    "advice/curves.py": "the scope of a series",
    "correlation/entities.py": "the name of a file, and of a host",
    "correlation/filters.py": "what the user typed: a span of time, the pid or the job that lines must name",
    "explain/__init__.py": "what the user typed: the id of a cause",
    "explain/words.py": "what the user typed: a question, and the settings that remedies name",
    "history/jobs.py": "rows of sacct, and host lists in them; the command line of a captured run",
    "history/fingerprint.py": "names that differ in each run, in a line that was reduced to its template; paths and the name of a step among the facts",
    "correlation/runs.py": "names of files",
    "pipeline/incident_entries.py": "the times in commands of remedies",
    "ranks/waits.py": "the operation of a call between two ranks, in a dump",
    "report/brief/sections.py": "numbers in lines that are equal but for them",
    "report/brief/voices.py": "words of a name, which may be a sentence; pieces of any text",
    "report/escape.py": "signs that Markdown and terminals act on",
    "report/formats/issue.py": "signs that Jira acts on",
    "report/subjects.py": "names of entities; names of subjects",
    "report/index.py": "names of cases",
    "report/page/parts.py": "addresses, and names of files with folders",
    "report/phrases.py": "sentences of the report",
    "report/redaction/lines.py": "secrets below their names",
    "report/redaction/rules.py": "values of secrets; encodings of any text, how random it is; how tables of rules are written",
    "report/redaction/secrets.py": "secrets in any text, shapes of tokens",
    "report/redaction/names.py": "names of persons and hosts, and places of them",
    "series/silence.py": "the scope of a series; digits that differ in a heartbeat",
    "pipeline/reported_subject.py": "the name of a job",
}
# What a reader knows once: texts that only a pattern of it has, and the modules that may have one.
ONE_DEFINITION = {
    "a frame of Python": (
        r'File [\\"?]*(?:\(\?P<file>|\.\{)',
        {"readers/python/frames.py", "readers/lanes/line_classes.py"},  # the second: stacks of any language, in one pattern
    ),
    "a frame of IPython": (r"ipython-input-(?:\(|\[)", {"readers/python/frames.py"}),
    "is this a library's file": (r"dist\)?-packages", {"readers/python/library_files.py"}),
    "the kernel's table of processes": (r"\\\[\\s\*pid", {"readers/kernel/process_table.py"}),
    "the bar of tqdm": (r"\\d\\d\(\?:\[\^\\\]", {"readers/progress/counters.py"}),
}
KNOW_NO_CAUSE = ("readers", "ranks", "series", "correlation", "outcome", "decision", "history", "fleet")
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
    assert files == {"__init__.py", "__main__.py", "version.py"}, "move the other file into the room of its purpose"


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
        large += [name] if text.count("\n") > 500 else []
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


def test_a_room_with_a_door_is_entered_by_it() -> None:
    inside = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in FILES
        for name in imports(path)
        if name.startswith("estimate.") and room_of(path) != "estimate" and (ROOT / f"{name.replace('.', '/')}.py").exists()
    ]
    assert not inside, "import it from forensics.estimate"


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


def patterns(path: Path) -> list[int]:
    """The lines of a file that compile or use a regular expression."""
    used = {
        "regex": ("lazy",),
        **dict.fromkeys(("compile", "search", "match", "fullmatch", "findall", "sub", "split"), ("re", "regex")),
    }
    calls = (n.func for n in ast.walk(parsed(path)) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    return [f.lineno for f in calls if isinstance(f.value, ast.Name) and f.value.id in used.get(f.attr, ())]


def test_behind_the_readers_nobody_parses_a_line_of_a_log() -> None:
    with_patterns = {str(p.relative_to(ROOT)) for p in FILES if room_of(p) in BEHIND_READERS and patterns(p)}
    new = sorted(with_patterns - set(OF_OTHER_TEXTS))
    assert not new, (
        "parse lines of a log in forensics/readers; a pattern of another text gets a row with a reason in OF_OTHER_TEXTS"
    )
    gone = sorted(set(OF_OTHER_TEXTS) - with_patterns)
    assert not gone, "no pattern is left there: take its row out of OF_OTHER_TEXTS"


@pytest.mark.parametrize("what", ONE_DEFINITION)
def test_what_several_readers_need_is_defined_once(what: str) -> None:
    pattern, modules = ONE_DEFINITION[what]
    found = {
        str(path.relative_to(ROOT))
        for path in FILES
        if room_of(path) in {"readers", *BEHIND_READERS} and any(re.search(pattern, text) for text in literals(path))
    }
    assert found == modules, f"{what}: ask the module that knows it, or name a better one in ONE_DEFINITION"
