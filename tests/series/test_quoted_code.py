"""Numbers in code that a log quotes were not measured, whoever quotes it (`captured/quoted_code/`, Python 3.11).

`frames.log`: python train.py; `printed.log`: bash -exc "cat train.py; python3 train.py"; `ipython.log`: ipython train.py; `rich.log`:
with rich.traceback.install(); `nbclient.log`: python cells.py; `pytest.log`: pytest -q failing.py.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.model import Scan
from forensics.readers.python.quoted_source import code_lines
from forensics.series import Series

CAPTURED = Path(__file__).parent / "captured" / "quoted_code"


@pytest.mark.parametrize("log", sorted(path.name for path in CAPTURED.glob("*.log")))
def test_only_what_the_program_printed_is_read(log: str, series_of: Callable[[str], dict[str, Series]]) -> None:
    found = series_of((CAPTURED / log).read_text())
    assert [*found["loss"].values] == [2.0, 1.9, 1.8, 1.7]
    assert [value >> 20 for value in map(int, found["rss"].values)] == [500, 501, 502, 503]
    assert {*found} == {"loss", "rss"}


@pytest.mark.parametrize(
    "line",
    [
        "loss = 0.5",
        "    loss = 0.5",
        "   12 loss 0.5",
        "  loss: 0.5",
        "{'loss': 0.5}",
        "Adam(lr=0.1, loss=0.5)",
        "return 100.0 loss 0.5",
    ],
)
def test_what_looks_like_code_and_stands_alone_is_read(line: str, scanned: Callable[[str], Scan]) -> None:
    before = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    import b\nImportError: no b\n'
    assert code_lines(scanned(f"{before}going on without b\n{line}\n{line}\nnext\n"), [6, 7]) == set()
