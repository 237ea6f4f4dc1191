"""A captured run that ended itself with a status: no kill is suspected, and of a silent one the report is short."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forensics import analyze
from forensics.model import Report
from forensics.report import render

STAMP = "[2026-11-29T17:41:56.639521+00:00] forensics run: "
ACCOUNT = (
    f"{STAMP}memory group /job counted no kill; no limit\n"
    f"{STAMP}the host counted no memory kill; at least 97 % of its 23.5 GiB were available\n"
    f"{STAMP}local times are UTC+00:00 (UTC)\n"
    f"{STAMP}the command, pid 27974 (python), ended with exit status 7 after 0.1 s\n"
)


def told(folder: Path, printed: str) -> Report:
    log = folder / "job.log"
    log.write_text(printed + ACCOUNT)
    return analyze(log, workers=1)


def test_the_report_of_a_silent_end_is_short_and_says_where_to_look(tmp_path: Path) -> None:
    report = told(tmp_path, "")
    assert report.subject is not None and report.subject.silent and report.subject.status == 7
    text = render(report, "text")
    assert text.startswith("It exited with status 7 and does not say why")
    assert len(text.splitlines()) <= 22
    for other in ("job.log:1 ", "dmesg", "journalctl", "nearest known causes", "code.exception"):
        assert other not in text
    assert "grep -rnE" in report.possible[0].commands[0] and "7" in report.possible[0].commands[0]


def test_a_line_of_the_program_is_the_one_to_read_and_a_kill_is_ruled_out(tmp_path: Path) -> None:
    report = told(tmp_path, "loaded 12 shards\nsomething odd happened in the trainer, giving up\n")
    assert report.subject is not None and not report.subject.silent
    assert "giving up" in report.causes[0].evidence[0].text or any("giving up" in m.text for m in report.unusual)
    killed = next(p for p in report.possible if "host_memory.oom_global" in p.causes)
    assert (killed.line, killed.why) == (6, "it ended with the exit status 7")
    assert [q.command.partition(" FAMILY")[0] for q in report.missing] == ["forensics signatures new"]


def test_a_message_without_a_word_of_failure_is_taught_where_the_status_tells_of_one(tmp_path: Path) -> None:
    report = told(
        tmp_path, "step 10 loss 0.5\nORION-2291 lease on tensor vault 'vault-07' revoked after 42 s by quorum\norion: bye\n"
    )
    assert "ORION-2291" in report.causes[0].evidence[0].text
    assert [q.command.partition(" /")[0] for q in report.missing] == ["forensics signatures new FAMILY.CAUSE"]


@pytest.mark.parametrize(("last", "is_taught"), [("ZB-0042 stripe 7 vanished, giving up", True), ("stripe 8 read", False)])
def test_a_log_without_an_end_offers_to_teach_a_line_that_tells_of_a_failure(last: str, is_taught: bool, tmp_path: Path) -> None:
    log = tmp_path / "zebra.log"
    log.write_text(f"2026-11-20 10:00:00 zebrad[412]: starting\n2026-11-20 10:05:10 zebrad[412]: {last}\n")
    for form in ("text", "html", "markdown"):
        assert (f"signatures new FAMILY.CAUSE {log}:2" in render(analyze(log), form)) == is_taught


@pytest.mark.parametrize("form", ["markdown", "html", "brief", "issue", "github", "csv", "sarif"])
def test_each_format_takes_a_silent_end(tmp_path: Path, form: str) -> None:
    assert "7" in render(told(tmp_path, ""), form)


@pytest.mark.parametrize(("status", "own"), [(3, True), (126, True), (137, False)])
def test_a_kernel_that_ended_itself_is_not_advised_on_memory(status: int, own: bool, analyze: Callable[..., Report]) -> None:
    first = analyze(
        job=f"The kernel died: its process ended with exit status {status}\nNothing that was captured says why.\n"
    ).causes[0]
    told = first.summary + "".join(r.action for r in first.remediations)
    assert first.id == "notebook.kernel_died"
    assert (f"os._exit({status})" in told, "memory" in told) == (own, not own)
