"""The lines that most likely decide, of logs in which no cause is sure. The logs and the weights of these tests are made."""

import json
import random
from collections.abc import Callable, Sequence
from importlib import import_module
from math import log1p
from pathlib import Path

import pytest

from forensics.database import Database
from forensics.model import MessageGroup, Report, Scan, Source
from forensics.outcome import line_classes, lines_to_read, rank_lines, reason_lines
from forensics.outcome.deciding_lines import (
    MAX_DECIDING_TEMPLATES,
    MAX_GAP_TO_BEST,
    MAX_SHOWN_LINES,
    MIN_TEMPLATES_PER_SOURCE,
    STRUCTURE,
    UNTRAINED_LINE_WEIGHTS,
    WORD_ROWS,
    CandidateLine,
    LineWeights,
    candidate_lines,
)
from forensics.readers import templates
from forensics.report import render
from forensics.report.phrases import GUESSED, is_guess
from forensics.scan import scan
from tests.conftest import text_source

TOLD = {"is trouble": 4.0, "last": 12.0, "count": -1.0}
WEIGHTS = LineWeights(UNTRAINED_LINE_WEIGHTS.words, [TOLD.get(name, 0.0) for name in STRUCTURE])
START = "loading the tokenizer\nbuilding a model with 12 layers\nfused kernel error, falling back\n"
ODD = ["flurbler: partition manager lost its lease, cannot flurb", "flurbler: giving up with a fatal error"]


def steps(count: int, first: int = 0) -> str:
    chance = random.Random(first)
    return "".join(
        f"2025-08-22 03:{i // 60 % 60:02d}:{i % 60:02d},000 INFO step {i} loss {chance.random():.3f}\n"
        for i in range(first, first + count)
    )


def scanned(knowledge: Database, *given: Source) -> list[Scan]:
    return [scan(source, knowledge, lambda _w: None) for source in given]


def decide(knowledge: Database, scans: list[Scan], baseline: Sequence[Source] = ()) -> list[MessageGroup]:
    """Without what is only shown around them."""
    classes = line_classes(knowledge)
    return [m for m in lines_to_read(rank_lines(scans, classes, WEIGHTS, baseline), scans, classes) if not m.context]


def test_late_lines_with_words_of_failure_rank_first(knowledge: Database) -> None:
    log = START + steps(3000) + "\n".join(ODD) + "\n" + steps(5, 3000)
    found = decide(knowledge, scanned(knowledge, text_source("train.log", log)))
    assert [(m.line, m.text, m.alarming) for m in found] == [(3005, ODD[1], True)]


def test_a_line_with_a_word_of_trouble_is_shown_with_those_around_it(knowledge: Database) -> None:
    log = steps(3000) + "linking the box\n\n" + ODD[0] + "\n  at apple\n\n  at cheese\n  at egg\n" + steps(50, 3000)
    scans = scanned(knowledge, text_source("train.log", log))
    classes = line_classes(knowledge)
    ranked = rank_lines(scans, classes, WEIGHTS)
    found = lines_to_read(ranked, scans, classes)
    around = [(m.line, m.text) for m in found if 3001 <= m.line <= 3006]
    assert around == [(3001, "linking the box"), (3003, ODD[0]), (3004, "  at apple"), (3006, "  at cheese")]
    assert [m.line for m in found if m.context and m.alarming] == []
    assert [m.context for m in found if 3001 <= m.line <= 3006] == [True, False, True, True]
    again = lines_to_read(ranked, scans, classes, {("train.log", 3003)})
    assert 3003 not in {m.line for m in again if not m.context}


def test_reasons_are_of_the_last_attempt_and_those_that_only_count_failures_come_last(knowledge: Database) -> None:
    log = (
        ODD[1]
        + "\n"
        + steps(300)
        + ODD[0]
        + "\n"
        + "red fatal error\n" * 2
        + steps(3, 300)
        + "##[error]Process completed with exit code 1.\n"
    )
    scans = scanned(knowledge, text_source("train.log", log))
    ranked = rank_lines(scans, line_classes(knowledge), WEIGHTS)
    reasons = reason_lines(ranked, scans, {"train.log": 100})
    assert [p.line for p in reasons] == [302, 308]
    assert {(p.signature, p.weight) for p in reasons} == {("reason", "hint")}
    assert [line.number for line in (*reasons[0].before, *reasons[0].after)] == [301, 303, 304]
    assert reason_lines(ranked, scans, {}) == ()


def test_reasons_lead_the_evidence_where_nothing_proves_a_cause(analyze: Callable[..., Report]) -> None:
    found = analyze(
        train_log=UNKNOWN + "flurbler: the partition server is lost, fatal error\n" + "make: *** [Makefile:3: all] Error 2\n"
    )
    evidence = found.causes[0].evidence
    assert found.verdict == "undetermined"
    assert evidence[0].signature == "reason"
    assert "flurbler" in evidence[0].text
    assert any("Error 2" in p.text for p in evidence)
    assert not {(p.source, p.line) for p in evidence} & {(m.source, m.line) for m in found.unusual if not m.context}


def test_messages_of_a_good_run_are_left_out(knowledge: Database) -> None:
    log = START + steps(3000) + ODD[0] + "\n" + ODD[1] + "\n"
    good = text_source("good.log", START.replace("12", "24") + steps(100) + ODD[1] + "\n")
    assert [m.text for m in decide(knowledge, scanned(knowledge, text_source("train.log", log)), [good])] == ODD[:1]


@pytest.mark.seconds
def test_messages_of_many_sources_are_folded(knowledge: Database) -> None:
    given = scanned(knowledge, *(text_source(f"rank{i}", steps(100) + ODD[0] + "\n") for i in range(64)))
    (found,) = decide(knowledge, given)
    assert (found.source, found.line, found.count) == ("rank0", 101, 64)


@pytest.mark.seconds
def test_of_a_long_log_only_a_sample_is_held_and_its_end_is_in_it(knowledge: Database) -> None:
    block = steps(15_000).encode()
    assert len(block) < 1 << 20
    end = block + "".join(f"{o}\n" for o in ODD).encode()
    given = scanned(knowledge, Source("train.log", lambda _w: iter([block] * 60 + [end])))
    assert [m.line for m in decide(knowledge, given)] == [61 * 15_000 + 2]
    most = sum(len(part) for _start, part in templates.sample_blocks(given[0]))
    assert most <= (templates.KEPT_BLOCKS + templates.LAST_BLOCKS) * (len(block) * 2 + 100)


def test_what_can_be_read_only_once_is_known_by_what_the_scan_kept(knowledge: Database) -> None:
    once = iter([(steps(500) + ODD[0] + "\n").encode()])
    found = decide(knowledge, scanned(knowledge, Source("<stdin>", lambda _w: once)))
    assert [(m.line, m.text) for m in found] == [(501, ODD[0])]


def test_close_lines_are_shown_once_and_unlikely_ones_not_at_all(knowledge: Database) -> None:
    words = ["apple", "bread", "cheese", "date", "egg", "fig"]
    crowd = "".join(f"cannot open the {word} box\n" for word in words)
    far = "".join(f"{steps(20, 100 * i)}cannot close the {word} box\n" for i, word in enumerate(words * 3) if i % 4 == 0)
    found = decide(knowledge, scanned(knowledge, text_source("a.log", steps(50) + far + crowd)))
    assert 1 <= sum("open" in m.text for m in found) < len(words) / 2
    assert any("close" in m.text for m in found)
    assert len(found) <= MAX_SHOWN_LINES
    scans = scanned(knowledge, text_source("a.log", steps(500) + crowd))
    scores = [WEIGHTS.score(c) for c in candidate_lines(scans, line_classes(knowledge)) if "open" in c.text]
    assert max(scores) - min(scores) < MAX_GAP_TO_BEST  # so the others are left out for standing together alone


@pytest.mark.parametrize(("between", "shown"), [(2, 1), (3, 2)])
def test_of_lines_at_most_three_apart_only_the_first_is_shown(knowledge: Database, between: int, shown: int) -> None:
    quiet = "".join(f"reading shard {name}\n" for name in ("red", "blue", "green")[:between])
    log = steps(500) + "cannot open the apple box\n" + quiet + "cannot close the bread box\n"
    found = decide(knowledge, scanned(knowledge, text_source("a.log", log)))
    assert sum("cannot" in m.text for m in found) == shown


def test_a_line_is_described_by_its_words_and_its_place(knowledge: Database) -> None:
    log = "one\ntwo\n  File x.cc:12: error: no such thing\nmake: *** [all] Error 2\nbye\n"
    lines = candidate_lines(scanned(knowledge, text_source("a", log)), line_classes(knowledge))
    (line,) = [c for c in lines if "no such thing" in c.text]
    told = dict(zip(STRUCTURE, line.structure, strict=True))
    assert (told["is trouble"], told["place in code"], told["indent"], told["once"]) == (1, 1, 2, 1)
    assert told["to a bad end"] == pytest.approx(0.693, abs=0.001)
    assert told["no bad end behind"] == told["no bad end"] == 0
    assert line.words and all(0 <= row < WORD_ROWS for row in line.words)


@pytest.mark.seconds
def test_with_many_sources_only_the_last_templates_of_each_are_scored(knowledge: Database) -> None:
    word = ["".join(chr(97 + (i // 26**k) % 26) for k in range(4)) for i in range(MAX_DECIDING_TEMPLATES + 500)]
    many = "".join(f"{w} happened\n" for w in word)
    one: list[CandidateLine] = candidate_lines(scanned(knowledge, text_source("a", many)), line_classes(knowledge))
    assert (len(one), one[-1].text) == (MAX_DECIDING_TEMPLATES, f"{word[-1]} happened")
    short = "".join(f"{w} happened\n" for w in word[:100])
    given = [text_source(f"r{i}", short.replace("happened", f"came{chr(97 + i // 26)}{chr(97 + i % 26)}")) for i in range(200)]
    assert len(candidate_lines(scanned(knowledge, *given), line_classes(knowledge))) == 200 * MIN_TEMPLATES_PER_SOURCE


IGNORED = """Exception ignored in: <function Flurb.__del__ at 0x7f2a11223344>
Traceback (most recent call last):
  File "/home/u/train.py", line 12, in flurb
FlurbError: connection refused
"""
UNKNOWN = START + steps(300) + "\n".join(ODD) + "\n" + IGNORED


@pytest.fixture
def report(analyze: Callable[..., Report]) -> Report:
    found = analyze(train_log=UNKNOWN)
    assert found.verdict == "undetermined"
    return found


@pytest.mark.parametrize("form", ["text", "markdown", "html", "json"])
def test_every_format_shows_them_and_calls_no_guess_a_cause(report: Report, form: str) -> None:
    said = render(report, form)
    assert is_guess(report)
    assert f"train.log:{303 + 1}" in said or '"line": 304' in said
    assert "lost its lease" in said
    if form != "json":
        assert "No cause was recognised" in said
        assert GUESSED[:40] in " ".join(said.split())


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_what_to_do_against_a_guess_is_not_shown(analyze: Callable[..., Report], form: str) -> None:
    guess = analyze(train_log=UNKNOWN + "flurbler: the partition server is lost\n")
    assert is_guess(guess) and guess.causes[0].remediations
    assert guess.causes[0].remediations[0].action not in render(guess, form).split("<script")[0]


def test_lines_to_read_are_restored_from_a_saved_report(report: Report) -> None:
    from forensics.report.document import read_report

    assert read_report(json.loads(render(report, "json")), "r").unusual == report.unusual


def test_secrets_in_the_lines_to_read_are_masked(analyze: Callable[..., Report]) -> None:
    secret = "hf_" + "aK3xQ9vTz7" + "LmW2pRbY8n" + "C4sJdF6hUeGt0o"  # a repeated one is a stand-in, which is not masked
    found = analyze(train_log=UNKNOWN + f"flurbler error: token {secret} refused by the flurb\n")
    assert found.verdict == "undetermined"
    assert any(secret in text for text in [*(m.text for m in found.unusual), *(p.text for p in found.causes[0].evidence)])
    assert all(secret not in render(found, form) for form in ("text", "markdown", "html", "json"))


def test_a_log_with_a_proof_is_not_read_again(analyze: Callable[..., Report], monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> object:
        raise AssertionError("looked for deciding lines")

    monkeypatch.setattr(import_module("forensics.outcome"), "rank_lines", never)
    proven = analyze(train_log=steps(40) + "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)\n")
    assert (proven.verdict, proven.unusual) == ("crash", ())
    assert analyze(train_log=steps(40)).verdict == "no_crash"


def test_a_baseline_is_given_on_the_command_line(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from forensics.cli.app import build

    (tmp_path / "bad.log").write_text(UNKNOWN)
    (tmp_path / "good.log").write_text(START + steps(50) + IGNORED)
    run = CliRunner()
    said = json.loads(
        run.invoke(build(), ["analyze", str(tmp_path / "bad.log"), "--baseline", str(tmp_path / "good.log"), "-f", "json"]).output
    )
    assert [m["text"] for m in said["unusual"] if m["text"] in (*ODD, IGNORED.strip())] == ODD
    missing = run.invoke(build(), ["analyze", str(tmp_path / "bad.log"), "--baseline", str(tmp_path / "no.log")])
    assert "no such file or folder for the baseline" in str(missing.exception)


def test_structure_has_the_distances_to_the_trouble_around_a_line(knowledge: Database) -> None:
    """Five lines on each side count as near; distances are logarithms of lines."""
    quiet = [f"reading shard {name} of the corpus" for name in ("red", "blue", "green", "white", "black", "brown", "pink")]
    lines = [quiet[0], "flurb error in the lease", *quiet[1:6], "flurb failure of the mount", quiet[6]]
    scans = scanned(knowledge, text_source("train.log", "\n".join(lines) + "\n"))
    found = {
        line.text: dict(zip(STRUCTURE, line.structure, strict=True)) for line in candidate_lines(scans, line_classes(knowledge))
    }
    first = next(s for text, s in found.items() if text.startswith(quiet[0]))
    assert (first["no trouble before"], first["no trouble behind"]) == (1, 0)
    assert first["to trouble"] == pytest.approx(log1p(1))
    by_number = {n: found[text] for n, text in enumerate(lines) if text in found}
    assert by_number[1]["to trouble"] == pytest.approx(log1p(6))
    assert by_number[1]["trouble near"] == 1, "itself; the other is six lines away"
    assert by_number[7]["from trouble"] == pytest.approx(log1p(6))
    assert (by_number[7]["no trouble behind"], by_number[7]["to trouble"]) == (1, 0)


def test_the_score_by_words_is_divided_by_the_root_of_their_number() -> None:
    weights = LineWeights([2.0, 4.0, 6.0, 8.0] + [0.0] * (WORD_ROWS - 4), [0.0] * len(STRUCTURE))
    line = CandidateLine(text_source("train.log", ""), "x", 1, 1, 1, structure=(0.0,) * len(STRUCTURE), words=(0, 1, 2, 3))
    assert weights.score(line) == pytest.approx((2 + 4 + 6 + 8) / 2)
    line.words = ()
    assert weights.score(line) == 0


@pytest.mark.parametrize(
    "line",
    [
        "ann@node7:~$ grep -i crash /var/log/syslog",
        "[root@node7 log]# journalctl -k | grep -iE 'error|fail'",
        ">   /var/log/messages /var/log/syslog \\",
        "grep: /var/log/messages: No such file or directory",
        "Nov  5 06:54:51 orion systemd[1]: Finished Restore /etc/resolv.conf if the system crashed before the ppp link was shut down.",
        "\tat org.example.errors.FailedJob.error(FailedJob.java:77)",
        "raise_error at /opt/julia/src/error.c:41",
        '  File "/srv/errors/failed.py", line 6, in <module>',
    ],
)
def test_what_somebody_typed_the_name_of_a_unit_and_a_frame_are_no_reason(line: str, knowledge: Database) -> None:
    """`grep -i crash`, and a unit that is there for the case of a crash, stood as evidence of a crash."""
    found = rank_lines(scanned(knowledge, text_source("a.log", f"{line}\n{ODD[1]}\n")), line_classes(knowledge), WEIGHTS)
    assert [c.text for c in found] == [ODD[1]]
