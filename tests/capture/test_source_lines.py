"""What the source of a program tells of the lines at which it stands."""

import ast
import os
from pathlib import Path

import pytest

from forensics.capture.source_lines import MAX_PATH_CHARS, Sources, lines_of_spy, source_lines

PROGRAM = """\
import os, time
for epoch in range(3):
    def poll(self, path):
        while True:
            if path.exists(): break
            time.sleep(1)
        for n in range(9):
            try:
                with open(path):
                    time.sleep(n)
            except OSError:
                time.sleep(2)
        return [n for n in range(3)]
    while not os.path.isfile(self.marker):
        time.sleep(1)
    print(epoch)
"""


@pytest.mark.parametrize(
    ("line", "loops", "variable"),
    [
        (6, [(4, 6)], "path"),  # the loop around a function is none of its own
        (10, [(7, 12)], ""),
        (12, [(7, 12)], ""),
        (13, [], ""),
        (15, [(14, 15), (2, 16)], "self.marker"),
        (16, [(2, 16)], ""),
        (1, [], ""),
    ],
)
def test_the_loops_around_a_line_and_the_file_for_which_they_look(
    line: int, loops: list[tuple[int, int]], variable: str, tmp_path: Path
) -> None:
    (tmp_path / "t.py").write_text(PROGRAM)
    sources = Sources("", str(tmp_path))
    assert sources.loops(("t.py", line)) == loops
    wanted = sources.looked_for(("t.py", line))
    assert (ast.unparse(wanted) if wanted else "") == (variable if line != 16 else "self.marker")


def test_what_is_no_program_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "site-packages").mkdir()
    for name in ("broken.py", "site-packages/t.py"):
        (tmp_path / name).write_text(PROGRAM + ("" if "/" in name else "def"))
        assert Sources("", str(tmp_path)).loops((str(tmp_path / name), 6)) == []
    assert Sources().loops(("<string>", 1)) == []


def test_of_the_variables_that_py_spy_shows_only_that_path_is_kept(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(PROGRAM)
    place = f"{tmp_path}/t.py:6"
    text = f"""Thread 7 (idle)
    poll ({place})
        Arguments:
            path: "/data/block 50.npy"
            token: "key-1"
    main (<string>:3)
        Locals:
            path: "/other"
"""
    assert lines_of_spy(text, 0) == []  # of no process
    told = lines_of_spy(text, os.getpid())
    assert told == [
        f"forensics run: at {place}: in loops of lines 4-6",
        f"forensics run: at {place}: it looks for path: /data/block 50.npy",
    ]
    assert lines_of_spy(text.replace('50.npy"', '50..."'), os.getpid())[1:] == [f"forensics run: at {place}: it looks for path"]


def test_the_rank_with_which_a_call_exchanges_something_is_kept() -> None:
    place = "/venv/torch/distributed/distributed_c10d.py:2799"
    text = f"""Thread 7 (idle)
    recv ({place})
        Arguments:
            src: 3
            group: None
            tag: 0
    main (/run/ring.py:24)
        Locals:
            src: 9
"""
    assert lines_of_spy(text, 0) == [f"forensics run: at {place}: its peer is rank 3"]


@pytest.mark.parametrize(
    ("loop", "wanted"),
    [
        ("while not self.state.read_text():", "self.state"),
        ("while name not in os.listdir(folder):", "folder"),
        ("while not os.path.exists('done'):", "'done'"),
        ("for n in range(9) if open(path) else ():", ""),
    ],
)
def test_a_loop_that_reads_a_file_until_it_has_what_it_wants_looks_for_it(loop: str, wanted: str, tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(f"{loop}\n    time.sleep(1)\n")
    found = Sources("", str(tmp_path)).looked_for(("t.py", 2))
    assert (ast.unparse(found) if found else "") == wanted


def test_the_other_lines_of_a_function_with_the_same_call_are_told(tmp_path: Path) -> None:
    branches = (
        "if odd:\n        stats = agree(stats)\n        agree(len(x))\n    else:\n        agree(stats)\n        n = len(x)\n"
    )
    (tmp_path / "t.py").write_text(f"def step():\n    {branches}def other():\n    agree(stats)\n")
    found = Sources("", str(tmp_path))
    assert [found.same_calls(("t.py", line)) for line in (3, 4, 6, 7, 9)] == [[6], [], [3], [4], []]
    assert source_lines(found, [("t.py", 3)], lambda _place, _name: "") == ["forensics run: at t.py:3: the same call at lines 6"]


@pytest.mark.parametrize("path", ["/a\nb", "/" + "a" * MAX_PATH_CHARS, ""])
def test_a_value_that_is_no_path_is_left_out(path: str, tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(PROGRAM)
    told = source_lines(Sources("", str(tmp_path)), [("t.py", 6)], lambda _place, _name: path)
    assert told[1:] == ["forensics run: at t.py:6: it looks for path"]


@pytest.mark.parametrize(
    ("wanted", "path"),
    [
        ('f"{path}.ready"', "/data/7.ready"),
        ('path / "done"', "/data/7/done"),
        ("path + self.end", "/data/7.end"),
        ('f"{path}{made()}"', ""),
        ("path / made()", ""),
    ],
)
def test_a_path_that_is_put_together_is_told_where_all_of_its_parts_are_known(wanted: str, path: str, tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(f"while not os.path.exists({wanted}):\n    time.sleep(1)\n")
    values = {"path": "/data/7", "self.end": ".end"}
    told = source_lines(Sources("", str(tmp_path)), [("t.py", 2)], lambda _place, name: values.get(name, ""))
    assert told[1:] == [f"forensics run: at t.py:2: it looks for path{path and f': {path}'}"]
