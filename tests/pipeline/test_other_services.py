"""What became of the other services of docker compose stands beside the failure of the first."""

from pathlib import Path

import pytest

from forensics.database import Database
from forensics.pipeline import analyze_paths
from forensics.report import render
from forensics.report.style import Style

FAILURE = """\
{own:<12} | Traceback (most recent call last):
{own:<12} |   File "/app/serve.py", line 11, in <module>
{own:<12} |     raise ValueError("index page 17 of table features is corrupt")
{own:<12} | ValueError: index page 17 of table features is corrupt
"""
WORK = "".join(f"store-1      | served {n} rows\ntrainer-1    | step {n} loss 1.5\n" for n in range(5))


def notices(folder: Path, knowledge: Database, text: str) -> list[tuple[str, int, str]]:
    log = folder / "compose.log"
    log.write_text(text)
    report = analyze_paths([log], "compose", knowledge)
    return [(n.text, n.line, n.why) for n in report.notices if n.why.endswith(" failed")]


@pytest.mark.parametrize("time", ["", "2026-08-22T03:00:07.1234567Z "])
@pytest.mark.parametrize("own", ["store-1", "index-2"])
def test_services_that_failed_with_it_are_told_with_their_last_words(
    own: str, time: str, tmp_path: Path, knowledge: Database
) -> None:
    rest = f"trainer-1    | the store does not answer\n{own} exited with code 1\ntrainer-1 exited with code 3\n"
    lines = (WORK + FAILURE.format(own=own) + rest).splitlines(keepends=True)
    told = notices(tmp_path, knowledge, "".join(time + line for line in lines))
    assert told == [(f"{time}the store does not answer", 15, f"trainer-1 ended with exit status 3, after {own} failed")]


def test_they_stand_in_the_text(tmp_path: Path, knowledge: Database) -> None:
    log = tmp_path / "compose.log"
    log.write_text(WORK + FAILURE.format(own="store-1") + "store-1 exited with code 1\ntrainer-1 exited with code 137\n")
    text = render(analyze_paths([log], "compose", knowledge), "text", Style(width=100))
    assert "also in these logs\n  compose.log!trainer-1:10  step 4 loss 1.5\n" in text
    assert "trainer-1 was ended by SIGKILL, exit status 137, after store-1 failed" in text


@pytest.mark.parametrize(
    "rest",
    [
        "trainer-1 exited with code 0\n",
        "trainer-1 exited with code 1\ntrainer-1    | step 0 loss 1.5\n",
        "",
    ],
)
def test_a_service_that_ended_well_or_goes_on_is_not_told(rest: str, tmp_path: Path, knowledge: Database) -> None:
    text = WORK + FAILURE.format(own="store-1") + "store-1 exited with code 1\n" + rest
    assert not notices(tmp_path, knowledge, text)
