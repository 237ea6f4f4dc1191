"""The last own lines of a log whose end no line tells are shown, and are no evidence."""

from pathlib import Path

from forensics import analyze
from forensics.report.phrases import LAST_WORDS_HEAD, last_words

BEGUN = "".join(f"falcon: ring {i} of 40 turned\n" for i in range(9))
WORDS = "shard 17 desynchronised, giving the ring up\nclosing the sockets\n2 sockets are closed\n"
AT = "[2026-08-22T03:00:07.120000+00:00] forensics run: "


def test_what_a_program_said_last_is_shown_beside_the_very_last_line(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(BEGUN + WORDS)
    report = analyze(tmp_path)
    assert [m.text for m in last_words(report)] == WORDS.splitlines()[:2]
    assert not {m.line for m in last_words(report)} & {p.line for p in report.causes[0].evidence}
    text, page = report.to_text(), report.to_markdown()
    assert f"{LAST_WORDS_HEAD.lower()}\n" in text and text.count("shard 17 desynchronised") == 1
    assert f"### {LAST_WORDS_HEAD}" in page and page.count("shard 17 desynchronised") == 1


def test_the_lines_of_a_capture_are_not_the_programs_words(tmp_path: Path) -> None:
    ended = f"{AT}local times are UTC+00:00 (UTC)\n{AT}the command, pid 4711 (sh), ended with exit status 3 after 14.2 s\n"
    (tmp_path / "job.log").write_text(BEGUN + WORDS + ended)
    assert not any("forensics run" in m.text for m in last_words(analyze(tmp_path)))


def test_a_cause_that_is_shown_needs_no_last_words(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(BEGUN + "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n")
    assert last_words(analyze(tmp_path)) == ()
