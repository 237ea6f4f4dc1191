"""Which command and which name a message gives."""

import pytest

from forensics.readers.python.said import said_ways


def ways(*lines: str, rows: int = 1, above: tuple[str, ...] = ()) -> dict[str, object]:
    found = said_ways(lines[:rows], [*above, *lines], len(above))
    return {name: value for name, value in found.items() if name != "whole_message"}


@pytest.mark.parametrize(
    ("lines", "rows", "command"),
    [
        (
            ("fatal: unsafe repository", "To add an exception, call:", "", "\tgit config --global --add safe.directory /w"),
            2,
            "git config --global --add safe.directory /w",
        ),
        (("mesh is missing. Run `pip install mesh[gpu]` first.",), 1, "pip install mesh[gpu]"),
        (("mesh is missing, try pip install -U mesh.",), 1, "pip install -U mesh"),
    ],
)
def test_the_command_is_the_one_that_the_message_introduces(lines: tuple[str, ...], rows: int, command: str) -> None:
    assert ways(*lines, rows=rows) == {"asked_command": command}


@pytest.mark.parametrize(
    "line",
    [
        "it failed. Run `git clean -fdx` and start again",  # throws changes away
        "error: `pip install mesh` exited with 1",  # tells what was run
        "try rm -rf build",
        "mesh is missing. Run `pip install mesh && rm -rf build` first.",
        "mesh is missing. Run `pip install mesh; scancel -u me` first.",
        "the table is old. Run `airflow db reset` first.",
        "the bucket is full. Run `aws s3 rm s3://b --recursive` first.",
        "the folder is dirty. Run `git submodule deinit --force x` first.",
        "the cache is full. Run `hf cache delete` first.",
        "no right. Run `chmod -R 777 /data` first.",
        "it exists. Run `conda env create --force -n fit` first.",
        "a module is in the way. Run `modprobe -r mesh` first.",
        "a module is in the way. Run `module purge` first.",
    ],
)
def test_a_command_that_destroys_or_was_run_is_no_way_out(line: str) -> None:
    assert ways(line) == {}


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("No such option: --ouput Did you mean --output?", {"meant": "--output", "misspelt": "--ouput"}),
        ("no column 'lable'. Perhaps you meant 'label'?", {"meant": "label", "misspelt": "lable"}),
        ("error: no target of that name, did you mean `fit`?", {"meant": "fit"}),
    ],
)
def test_the_name_that_is_offered_and_the_one_that_was_given(line: str, names: dict[str, str]) -> None:
    assert ways(line) == names


def test_the_nearest_option_of_the_usage_text_is_meant() -> None:
    usage = ("usage: fit.py [-h] [--batch-size N] [--epochs N]",)
    near = ways("fit.py: error: unrecognized arguments: --batchsize 32", above=usage)
    assert near == {"meant": "--batch-size", "misspelt": "--batchsize"}
    assert ways("fit.py: error: unrecognized arguments: --seed 1", above=usage) == {}
