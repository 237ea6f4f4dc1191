"""Patterns are data with examples: each takes the parts of a line, and a wrong row is told at its line."""

import ast
from pathlib import Path

import pytest

from forensics.data_files import cached_data
from forensics.data_files.named_parts import every_value, first_parts, first_row, part_groups, patterns_of
from scripts.lint.data import part_faults

ROOT = Path(__file__).parents[2]
ROWS = """\
pieces: {NUMBER: '\\d{1,4}'}
groups:
  - name: kilns
    means: What burns.
    rows:
      - name: fired
        pattern: 'kiln (?P<kiln>%{NUMBER}) fired(?: at (?P<degrees>%{NUMBER}))?'
        match: ['kiln 7 fired at 900']
        no_match: ['kiln fired']
"""


def test_the_rows_of_the_package_fit_their_examples() -> None:
    assert part_faults() == []


def test_the_first_text_that_a_row_fits_gives_the_parts_and_empty_ones_are_left_out() -> None:
    assert first_parts("pods", ["nothing", "ml  fit-0  0/1  OOMKilled", "fit-1  0/1  OOMKilled"]) == {
        "namespace": "ml",
        "pod": "fit-0",
    }
    assert first_parts("positions", ["3/9 [==>......]"]) == {"step": "3"}
    assert first_parts("positions", ["no step here"]) == {}


def test_the_order_of_the_rows_decides_which_tells() -> None:
    row = first_row("cgroup owners", "/slurm/uid_1/job_77/step_0")
    assert row and row.name == "Slurm step {job}.{step}"
    assert first_row("cgroup owners", "no path") is None


def test_every_place_in_a_line_gives_its_value() -> None:
    text = "Driver Version: 550.54.15   CUDA Version: 12.4"
    assert list(every_value("software", text)) == [("driver", "550.54.15"), ("CUDA", "12.4")]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("'kiln 7 fired at 900'", "'oven 7 fired'", "kilns: its example 'oven 7 fired' is not fitted"),
        ("'kiln fired'", "'kiln 8 fired'", "'kiln 8 fired' is fitted, and must not be"),
        ("%{NUMBER}) fired", "%{COUNT}) fired", "no piece is named COUNT"),
        ("(?P<degrees>", "(?P<degrees", "not a valid pattern"),
        ("match: ['kiln 7", "shows: ['kiln 7", "unknown key shows"),
    ],
)
def test_a_wrong_row_is_told_at_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, told: str) -> None:
    path = tmp_path / "named_parts.yaml"
    monkeypatch.setattr(cached_data, "data_files", lambda _: [path])
    path.write_text(ROWS)
    assert part_faults() == []
    assert old in ROWS
    path.write_text(ROWS.replace(old, new))
    (fault,) = part_faults()
    assert told in fault.what and fault.line == (8 if "key" in told else 6)


def test_a_group_that_is_written_twice_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "named_parts.yaml"
    monkeypatch.setattr(cached_data, "data_files", lambda _: [path])
    path.write_text(ROWS + ROWS.partition("groups:\n")[2])
    (fault,) = part_faults()
    assert "the group kilns is written twice" in fault.what


def test_a_row_that_is_not_there_is_named() -> None:
    with pytest.raises(AttributeError, match="no row 'ferried' in its group 'pods'"):
        patterns_of("pods").ferried.search("fit-0")


def test_each_pattern_that_a_module_asks_for_is_there_and_each_row_that_is_asked_for_by_name_is_used() -> None:
    asked: dict[str, set[str]] = {}
    for path in (ROOT / "forensics").rglob("*.py"):
        tree = ast.parse(path.read_text())
        groups = {
            node.targets[0].id: node.value.args[0].value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "patterns_of"
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in groups:
                asked.setdefault(groups[node.value.id], set()).add(node.attr.replace("_", " "))
    assert len(asked) > 70
    rows = {name: {row.name for row in part_groups().get(name, ())} for name in asked}
    assert {name: wanted - rows[name] for name, wanted in asked.items() if wanted - rows[name]} == {}
    assert {name: rows[name] - wanted for name, wanted in asked.items() if rows[name] - wanted} == {}
