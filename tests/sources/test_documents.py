"""Notebooks, Kubernetes objects and bug reports: deep documents to the lines a person would look for. Made here in their forms."""

import json
import time
from pathlib import Path

import pytest
import yaml

from forensics.sources.formats.documents import values
from tests.sources.helpers import read_bytes, read_path


def cell(count: int | None, outputs: list[object], **metadata: object) -> dict[str, object]:
    return {
        "cell_type": "code",
        "execution_count": count,
        "metadata": metadata,
        "outputs": outputs,
        "source": ["raise KeyError\n"],
    }


STARTED = {"iopub.execute_input": "2026-08-22T03:00:07.123456Z"}
STREAM = {"name": "stderr", "output_type": "stream", "text": ["loading\n", "Kil", "led\n", "no end"]}
ERROR = {
    "ename": "RuntimeError",
    "evalue": "CUDA out of memory",
    "output_type": "error",
    "traceback": ["\x1b[0;31m------\x1b[0m", "Cell In[3], line 1\n----> 1 train()", "RuntimeError: CUDA out of memory"],
}
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# outputs\n", "Killed\n"]},
        cell(2, [STREAM], execution=STARTED),
        cell(3, [ERROR]),
        cell(4, [{"ename": "KeyError", "evalue": "'x'", "output_type": "error", "traceback": []}]),
        cell(None, []),
    ],
    "metadata": {"kernelspec": {"name": "python3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
LINES = [
    "2026-08-22T03:00:07.123456Z In [2]:",
    "loading",
    "Killed",
    "no end",
    "In [3]:",
    "\x1b[0;31m------\x1b[0m",
    "Cell In[3], line 1",
    "----> 1 train()",
    "RuntimeError: CUDA out of memory",
    "In [3]: ended with RuntimeError",
    "In [4]:",
    "KeyError: 'x'",
    "In [4]: ended with KeyError",
]


def test_a_notebook_gives_its_outputs_where_they_stand() -> None:
    text = json.dumps(NOTEBOOK, indent=1)
    found = read_bytes(text.encode())
    assert found.format == "notebook"
    assert found.lines == LINES
    rows = text.split("\n")
    for number, line in found.numbered:
        if line in ("loading", "no end") or line.startswith("RuntimeError"):
            assert line in rows[number - 1]
    assert not found.warnings  # an error ended the cell that ran last: the kernel lived on


def test_an_error_that_a_cells_tags_allow_ends_nothing() -> None:
    allowed = {"cells": [cell(3, [ERROR], tags=["raises-exception"]), cell(4, [STREAM])], "nbformat": 4}
    found = read_bytes(json.dumps(allowed).encode())
    assert "In [3]: raised, as its tags allow, RuntimeError" in found.lines


def test_a_notebook_on_one_line() -> None:
    found = read_bytes(json.dumps(NOTEBOOK).encode())
    assert (found.lines, set(found.numbers)) == (LINES, {1})


def test_a_notebook_that_is_cut_short() -> None:
    text = json.dumps(NOTEBOOK, indent=1)
    found = read_bytes(text[: text.index("----> 1 train")].encode())
    assert found.lines == [*LINES[:7], "", "In [3]: ended with RuntimeError"]


@pytest.mark.parametrize(
    ("cells", "order"),
    [
        ([(1, "a"), (5, "b"), (3, "c"), (3, "d")], ["a", "c", "d", "b"]),  # a count that stands twice
        ([(127, "error"), (1, "b"), (56, "c")], ["b", "c", "error"]),
        ([(1, "a"), (2, "b"), (None, "error")], ["a", "b", "error"]),  # the file ends with it
        ([(1, "a"), (None, "error"), (2, "b")], ["error", "a", "b"]),  # an error without a count is of an earlier session
        ([(3, "a"), (4, "b"), (1, "error")], ["a", "b", "error"]),  # the first cell of a later session
        ([(3, "a"), (4, "b"), (2, "error")], ["error", "a", "b"]),
        ([(1, "a"), (2, "b"), (None, "c")], ["a", "b", "c"]),  # without an error it was running at the end
        ([(None, "a"), (None, "b")], ["a", "b"]),
        ([(1, "a"), (2, "error"), (None, "b")], ["a", "error", "b"]),  # the only one with an output: it was running at the end
        ([(1, "a"), (2, "error"), (None, "b"), (None, "c")], ["b", "c", "a", "error"]),  # of an earlier session
        ([(1, "a"), (9, "b"), (5, "c"), (9, "d"), (2, "e")], ["a", "e", "c", "b", "d"]),
        ([(1, "a"), (5, "b"), (20, "c"), (5, "d"), (6, "error")], ["a", "b", "c", "d", "error"]),  # a later session, below
        ([(1, "a"), (5, "error"), (20, "c"), (5, "d"), (6, "e")], ["a", "error", "d", "e", "c"]),
        ([(1, "a"), (5, "b"), (20, "c"), (5, "error"), (6, "e")], ["a", "b", "error", "e", "c"]),  # its last cell did not fail
    ],
)
def test_cells_are_told_in_the_order_of_their_counts(cells: list[tuple[int | None, str]], order: list[str]) -> None:
    def outputs(text: str) -> list[object]:
        failed = {"ename": "E", "evalue": "x", "output_type": "error", "traceback": ["error"]}
        return [failed if text == "error" else {"name": "stdout", "output_type": "stream", "text": f"{text}\n"}]

    notebook = {"cells": [cell(count, outputs(text)) for count, text in cells], "nbformat": 4}
    found = read_bytes(json.dumps(notebook).encode()).lines
    assert [line for line in found if not line.startswith("In [")] == order


def test_an_old_notebook_with_texts_as_single_strings() -> None:
    outputs = [{"output_type": "stream", "stream": "stdout", "text": "a\nb\n"}]
    old = {"worksheets": [{"cells": [{"cell_type": "code", "prompt_number": 1, "outputs": outputs}]}], "nbformat": 3}
    assert read_bytes(json.dumps(old).encode()).lines == ["In [1]:", "a", "b"]


@pytest.mark.seconds
def test_a_picture_in_a_notebook_costs_little_time() -> None:
    picture = {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo" * 1_000_000, "text/plain": ["<Figure>"]}}
    data = json.dumps({"cells": [cell(1, [picture, STREAM])], "nbformat": 4}).encode()
    start = time.perf_counter()
    assert read_bytes(data).lines[1:3] == ["loading", "Killed"]
    assert time.perf_counter() - start < 5


POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"labels": {"reason": "none"}, "name": "train-0", "namespace": "ml"},
    "spec": {"containers": [{"image": "train:1", "name": "main", "resources": {"limits": {"memory": "4Gi"}}}]},
    "status": {
        "containerStatuses": [
            {
                "lastState": {
                    "terminated": {
                        "exitCode": 137,
                        "finishedAt": "2026-08-22T03:00:07Z",
                        "reason": "OOMKilled",
                        "startedAt": "2026-08-22T02:00:07Z",
                    }
                },
                "name": "main",
                "restartCount": 3,
            }
        ],
        "message": "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi, and some more words for a fold",
        "phase": "Failed",
        "reason": "Evicted",
    },
}
TOLD = [
    "      Limits: memory: 4Gi",
    "2026-08-22T03:00:07Z Last State:     Terminated",
    "      Exit Code:    137",
    "      Reason:       OOMKilled",
    "      Restart Count: 3",
    f"      Message:      {POD['status']['message']}",  # type: ignore[index]
    "      Reason:       Evicted",
]


def test_a_pod_as_json_and_as_yaml_reads_as_described() -> None:
    for text in (
        json.dumps(POD, indent=4),
        yaml.safe_dump(POD),
        json.dumps({"apiVersion": "v1", "items": [POD], "kind": "List"}),
    ):
        found = read_bytes(text.encode())
        assert found.format is not None and found.format.startswith("kubernetes")
        assert [line for line in found.lines if line in TOLD] == TOLD
        for number, line in found.numbered:
            if "OOMKilled" in line or "137" in line:
                assert line.split()[-1] in text.split("\n")[number - 1]


def test_values_have_paths_and_lines() -> None:
    text = '{"a": [1,\n {"b": "x\\ny", "c": []},\n null], "d": {"e": true}}'
    assert list(values(iter([text.encode()]), print)) == [
        (("a", 0), 1, 1),
        (("a", 1, "b"), "x\ny", 2),
        (("a", 2), None, 3),
        (("d", "e"), True, 3),
    ]


RULE = "_" * 44
REPORT = f"""
{RULE}

Start of NVIDIA bug report log file.  Please include this file, along
with a detailed description of your problem, when reporting a graphics
driver bug.

Date: Sat Aug 22 03:00:33 UTC 2026
{RULE}

*** /proc/driver/nvidia/version
*** ls: -r--r--r-- 1 root root 0 2026-08-22 03:00:33 +0000 /proc/driver/nvidia/version
NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15
{RULE}

/usr/bin/dmesg

[   42.000001] NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, GPU has fallen off the bus.
{RULE}

/usr/bin/dmesg

[   43.000001] second
"""


def test_a_bug_report_falls_into_its_sections(tmp_path: Path) -> None:
    import gzip

    for data in (REPORT.encode(), gzip.compress(REPORT.encode()), REPORT.replace("\n", "\r\n").encode()):
        path = tmp_path / "nvidia-bug-report.log"
        path.write_bytes(data)
        found, _ = read_path(path)
        titles = ["Start of NVIDIA bug report log file.  Please include this file, along", "*** /proc/driver/nvidia/version"]
        assert [f.name.split("!")[1] for f in found[1:]] == [*titles, "/usr/bin/dmesg", "/usr/bin/dmesg (2)"]
        rows = REPORT.split("\n")
        for section in found:
            assert [rows[n - 1] for n in section.numbers] == [line.rstrip("\r") for line in section.lines]
        assert any("Xid" in line for line in found[3].lines)


def seconds_for_failed_cells(count: int) -> float:
    """The processor time for a notebook all of whose cells failed, each with a code of its own."""
    failed = {"ename": "NameError", "evalue": "x", "output_type": "error", "traceback": []}
    cells = [cell(n, [failed]) | {"source": [f"x{n}\n"]} for n in range(1, count + 1)]
    begun = time.process_time()
    told = read_bytes(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode())
    assert f"In [{count}]: ended with NameError" in str(told)
    return time.process_time() - begun


@pytest.mark.seconds
def test_a_notebook_of_many_failed_cells_costs_as_much_as_it_is_long() -> None:
    seconds_for_failed_cells(10)
    assert seconds_for_failed_cells(12_000) < 14 * seconds_for_failed_cells(2_000)  # six times as long
