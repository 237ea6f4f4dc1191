"""`forensics help --man` and `--markdown`: all commands and options, in a form that man and Markdown readers take; completions."""

import re
import shlex
import shutil
import subprocess
from itertools import takewhile

import pytest
import typer

from forensics.cli import help
from forensics.cli.app import build
from tests.commandline import in_text


@pytest.fixture(scope="module")
def page() -> str:
    return in_text("help", "--man").stdout


def test_every_command_and_option_stands_in_both(page: str) -> None:
    top = typer.main.get_command(build())
    found = list(help.commands(top.context_class(top, info_name="forensics")))
    assert {"forensics analyze", "forensics history list"} <= {c.name for c in found}
    written = in_text("help", "--markdown").stdout
    for command in found[1:]:
        assert f"\n.SS {command.name}\n" in page
        assert f"\n## {command.name}\n" in written
        for form, _ in command.options:
            assert form.replace("-", "\\-") in page
            assert f"`{form}`".replace("|", "\\|") in written


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff here")
def test_man_takes_the_page_without_a_warning(page: str) -> None:
    done = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8"], input=page, text=True, capture_output=True, check=True)
    assert done.stderr == ""


def test_shells_complete_commands_and_options() -> None:
    done = in_text(_FORENSICS_COMPLETE="complete_bash", COMP_WORDS="forensics ana", COMP_CWORD="1")
    assert done.stdout.split() == ["analyze"]
    done = in_text(_FORENSICS_COMPLETE="complete_bash", COMP_WORDS="forensics analyze --red", COMP_CWORD="2")
    assert set(done.stdout.split()) == {"--redact", "--redact-map"}


def test_examples_stand_on_lines_of_their_own() -> None:
    """A paragraph keeps its lines behind click's mark, a backspace; written as two characters it would be printed."""
    written = in_text("help", "--markdown").stdout
    assert "\\b Examples" not in written and "\\b\n" not in written
    assert "Examples: forensics" not in written


def test_each_example_is_a_command_that_its_options_and_arguments_fit() -> None:
    top = typer.main.get_command(build())
    at = top.context_class(top, info_name="forensics")
    lines = [line for c in help.commands(at) for text in c.paragraphs for line in text.splitlines()]
    examples = [found[1] for line in lines if (found := re.search(r"(?:^  |\| |srun )(forensics \w+ .*)", line))]
    assert len(examples) > 60
    for words in (shlex.split(example, comments=True)[1:] for example in examples):
        command, given = top, [*takewhile(lambda word: word not in "|<>", words)]
        while given and given[0] in getattr(command, "commands", {}):
            command = command.commands[given.pop(0)]  # type: ignore[attr-defined]
        if command.name != "slurm":  # its `epilog` takes options of its own
            command.make_context(command.name, given, parent=at)
