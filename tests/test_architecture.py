"""The house stands: imports go one way and never in a circle, files and functions stay small."""

import ast
import graphlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "forensics"
FILES = sorted(ROOT.rglob("*.py"))
STAGES = ["sources", "layouts", "scan", "records", "series", "timeline", "diagnose", "report"]
# Who may be imported by whom, as the levels of the house; `layouts` is a tool of the stages behind it: a line's wrappers.
EVERYWHERE = {"lazy", "limits"}
BELOW = {
    "lazy": set(),
    "limits": set(),
    "text": set(),
    "version": set(),
    "work": set(),
    "errors": set(),
    "model": {"text", "errors"},
    "database": {"model", "errors", "text"},
    "sources": {"model", "errors", "text"},
    "layouts": {"model", "errors", "text"},
    "identity": {"layouts", "model", "errors", "text"},
    "scan": {"database", "model", "errors", "text"},
    "records": {"identity", "layouts", "database", "model", "errors", "text", "work"},
    "series": {"layouts", "records.units", "model", "errors", "text"},
    "timeline": {"identity", "layouts", "model", "errors", "text"},
    "diagnose": {"identity", "database", "model", "errors", "text", "work"},
    "templates": {"layouts", "diagnose.region", "model", "errors", "text"},
    "report": {"model", "errors", "text"},
}


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{a.name}" for a in node.names}
    return {name.removeprefix("forensics.") for name in found if name.startswith("forensics.")}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_stage_imports_only_what_lies_below_it(path: Path) -> None:
    stage = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if stage not in BELOW:
        return
    for name in imports(path):
        allowed = BELOW[stage] | {stage} | EVERYWHERE
        assert any(name == a or name.startswith(a + ".") for a in allowed), f"{path.name} imports {name}"


def test_no_module_imports_itself_in_a_circle() -> None:
    modules = {str(p.relative_to(ROOT)).removesuffix(".py").replace("/", ".").removesuffix(".__init__"): p for p in FILES}
    graph = {m: {i for i in imports(p) if i in modules and i != m and not m.startswith(i + ".")} for m, p in modules.items()}
    list(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= 300
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.lineno <= 40, node.name
