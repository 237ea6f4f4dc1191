"""A constant's name says what it measures, and has one value in the whole package."""

import ast
import functools
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "forensics"
# What each module of a room must be called the same by, because the room looks for it: the interface of its modules.
INTERFACE = {
    "FORMATS": "a module of sources/formats",
    "LINE_FORMATS": "a module of line_formats",
    "OUTCOMES": "what a detector or the series can tell, in the words of signatures/records.yaml",
    "SAMPLE": "the first bytes of what a module of sources/formats reads",
    "STRIPS": "a module of sources/strips",
    "TRIGGER": "what a detector, a series or a reader of context wants the scanner to look for",
    "TRIGGERS": "the same, where there are several",
}
# Words that say no quantity: MAX_POINTS, MIN_LINES, MIN_LOST_SHARE do.
VAGUE = {"FEW", "FEWEST", "LEAST", "LONG", "LONGEST", "MANY", "MOST", "OFTEN", "SHARE", "SLACK", "SURE"}


@functools.cache
def constants() -> dict[str, list[tuple[str, str]]]:
    """Each name that a module gives a value to, with the modules and the values as they are written."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
            for target in targets if value else []:
                pairs = [(target, value)]
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    pairs = list(zip(target.elts, value.elts, strict=True))
                for name, given in pairs:
                    if isinstance(name, ast.Name) and given and re.fullmatch(r"_?[A-Z][A-Z0-9_]+", name.id):
                        found[name.id].append((str(path.relative_to(ROOT)), ast.unparse(given)))
    return found


def test_a_name_has_one_value() -> None:
    found = constants()
    assert len(found) > 1000
    for name, places in sorted(found.items()):
        if name not in INTERFACE and len({value for _, value in places}) > 1:
            files = ", ".join(file for file, _ in places)
            pytest.fail(f"{name} has several values ({files}): give each a name that says what it measures, and its unit")


def test_a_name_says_a_quantity() -> None:
    for name, places in sorted(constants().items()):
        assert name not in VAGUE, f"{name} ({places[0][0]}) does not say of what: MAX_POINTS or MIN_LINES would"


def test_the_names_of_the_interface_are_in_use() -> None:
    assert INTERFACE.keys() <= constants().keys()
