"""No line of the project installs a name that somebody else could register in an index."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from forensics.cli.serve import INSTALL_SERVE
from forensics.fleet.cases import INSTALL_FLEET
from forensics.history.opening import INSTALL_HISTORY, INSTALL_POSTGRES

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAME = PROJECT["name"]
INSTALLS = re.compile(
    rf"(?<!un)(?:install|add|inject|upgrade|--from|--with|PACKAGE:)\s[^\n`]*?(?<![\w/.-])(?:{NAME}|\{{NAME\}}|\{{DISTRIBUTION\}})(?P<rest>[^\n`]*)"
)
PINNED = re.compile(r".* @ ")  # a direct reference: no index is asked for the name
ENVIRONMENTS = tuple(f"inject {name} " for name in (NAME, "{DISTRIBUTION}"))  # pipx asks for packages there, not for the name
SHOWN = {"tests/test_install_lines.py"}
TEXTS = (".md", ".py", ".toml", ".yml", ".yaml", ".sh", ".txt", ".html", "run", "Containerfile")


def unpinned(text: str) -> list[str]:
    found = (m for m in INSTALLS.finditer(text) if not PINNED.match(m["rest"]) and not m[0].startswith(ENVIRONMENTS))
    return [m[0] for m in found if "again from its repository" not in m[0]]


def files() -> list[Path]:
    told = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=False)
    if told.returncode:
        pytest.skip("not a clone")
    return [
        ROOT / n for n in told.stdout.splitlines() if n.endswith(TEXTS) and n not in SHOWN and not n.startswith("sample_logs/")
    ]


def test_no_file_installs_the_name_from_an_index() -> None:
    found = {
        str(p.relative_to(ROOT)): lines for p in files() if p.exists() and (lines := unpinned(p.read_text("utf-8", "replace")))
    }
    assert not found


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("pipx install training-forensics", 1),
        ("pip install 'training-forensics[jupyter]'", 1),
        ("uvx --from training-forensics forensics", 1),
        ("FORENSICS_PACKAGE: training-forensics", 1),
        ('pip install "training-forensics[mcp] @ $FORENSICS"', 0),
        ("pip uninstall training-forensics", 0),
        ("pipx inject training-forensics scipy", 0),
        ("pipx inject scipy training-forensics", 1),
        ("pip install .", 0),
    ],
)
def test_such_a_line_would_be_found(line: str, count: int) -> None:
    assert len(unpinned(line)) == count


def test_the_address_of_the_repository_is_told_in_one_place() -> None:
    pages = {p.name: p.read_text() for p in (ROOT / "docs").glob("*.md")}
    assert [name for name, text in pages.items() if re.search(r"^\s*FORENSICS=", text, re.M)] == ["install.md"]
    users = {name: text for name, text in pages.items() if re.search(r"\$FORENSICS\b(?!_)", text)}
    assert len(users) > 5
    assert [name for name, text in users.items() if name != "install.md" and "install.md" not in text] == []


def test_what_the_readme_says_installs_the_versions_that_were_tested() -> None:
    lines = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("python3 -m venv")]
    assert len(lines) == 2
    assert all(" -c constraints.txt " in line for line in lines)
    tested = (ROOT / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"(?:#.*|[a-z0-9.-]+==\S+(?: ; .+)?)", line) for line in tested)
    names = {line.split("==")[0] for line in tested if line[0] != "#"}
    direct = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]
    assert {re.split(r"[\[><=]", d)[0].lower() for d in direct} <= names


@pytest.mark.parametrize(
    ("extra", "line"),
    [("history", INSTALL_HISTORY), ("fleet", INSTALL_FLEET), ("postgres", INSTALL_POSTGRES), ("serve", INSTALL_SERVE)],
)
def test_what_a_message_says_to_install_is_of_the_extra(extra: str, line: str) -> None:
    packages = {re.split(r"[><=]", p)[0] for p in PROJECT["optional-dependencies"][extra]}
    assert {word.strip("'") for word in line.removeprefix("pip install ").split()} <= packages
