"""With `--redact` no name of a host, a person or a job leaves in what timeline, compare and series print or write."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commandline import forensics

NAMES = ("gpu-node17", "jdoe", "alice.w@example.net", "10.4.0.17", "acme-team")
# `gpu-node17` and `jdoe` stand bare in lines that come before those that tell what they are.
LINES = """\
2026-03-01 12:00:00 INFO gpu-node17 is slow, asks jdoe
2026-03-01 12:00:01 INFO hostname=gpu-node17 master_addr=10.4.0.17 step 1 loss 1.5 on rank 0
2026-03-01 12:00:02 INFO step 2 loss 1.25 reads /home/jdoe/data/a.bin
2026-03-01 12:00:03 INFO step 3 loss nan mail to alice.w@example.net
2026-03-01 12:00:04 INFO step 4 loss nan https://wandb.ai/acme-team/llm/runs/ab12cd34
2026-03-01 12:00:05 ERROR gpu-node17: no space left for jdoe
"""


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "train-gpu-node17.log").write_text(LINES)
    (folder / "undated-gpu-node17.txt").write_text("step 1 loss 2.5\nstep 2 loss 2.25\nhostname=gpu-node17\n")
    (tmp_path / "good.log").write_text("2026-03-01 12:00:01 INFO all is well\n")
    return folder


def _lines(logs: Path, out: Path) -> Iterator[tuple[object, ...]]:
    for form in ("text", "csv", "jsonl"):
        yield "timeline", logs, "-f", form
    for form in ("text", "markdown", "json"):
        yield "compare", logs.parent / "good.log", logs, "-f", form
    yield "compare", logs.parent / "good.log", logs, "-o", out / "difference.txt"
    yield "series", logs
    yield "series", logs, "--export", out / "numbers.csv"
    yield "series", logs, "--export", out / "numbers.jsonl"


@pytest.mark.seconds
def test_names_have_stand_ins_where_lines_and_numbers_are_printed(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    plain: set[str] = set()
    for args in _lines(logs, out):
        shown = forensics(*args, cwd=out)
        plain |= {name for name in NAMES if name.encode() in shown.stdout}
        done = forensics(*args, "--redact", cwd=out)
        assert done.returncode == 0, done.stderr
        for what, text in (("stdout", done.stdout), ("stderr", done.stderr)):
            assert [name for name in NAMES if name.encode() in text] == [], f"{' '.join(map(str, args))}: {what}"
    for path in out.iterdir():
        assert [name for name in NAMES if name.encode() in path.read_bytes()] == [], path
    assert plain == set(NAMES), "each name is shown without the option"


@pytest.mark.seconds
def test_a_name_has_one_stand_in_from_the_first_line_on(logs: Path) -> None:
    text = forensics("timeline", logs, "--redact").stdout.decode()
    first = next(line for line in text.splitlines() if "is slow" in line)
    assert "host-1 is slow, asks user-1" in first
    assert "host-1: no space left for user-1" in text
