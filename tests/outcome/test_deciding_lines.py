"""The oddest lines of logs in which nothing is proven. The logs are made."""

import importlib
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from forensics import templates
from forensics.database import Database
from forensics.model import Message, Report, Scan, Source
from forensics.report import render
from forensics.report.phrases import GUESSED, guessed
from forensics.scan import scan
from tests.conftest import text_source


def alarming(text: str) -> bool:
    """What stands for the database's test of trouble here."""
    return any(word in text.lower() for word in ("error", "cannot", "fail", "killed", "died", "refused", "lost"))


def unusual(scans: list[Scan], baseline: Sequence[Source] = ()) -> tuple[Message, ...]:
    return templates.unusual(scans, alarming, baseline)


START = "loading the tokenizer\nbuilding a model with 12 layers\nfused kernel error, falling back\n"
ODD = ["flurbler: partition manager lost its lease, cannot flurb", "flurbler: giving up"]


def steps(count: int, first: int = 0) -> str:
    chance = random.Random(first)
    return "".join(
        f"2025-08-22 03:{i // 60 % 60:02d}:{i % 60:02d},000 INFO step {i} loss {chance.random():.3f}\n"
        for i in range(first, first + count)
    )


def scanned(knowledge: Database, source: Source) -> Scan:
    return scan(source, knowledge, lambda _w: None)


def test_what_is_said_late_and_with_words_of_failure_is_unusual(knowledge: Database) -> None:
    log = START + steps(3000) + "\n".join(ODD) + "\n" + steps(5, 3000)
    found = unusual([scanned(knowledge, text_source("train.log", log))])
    assert [(m.line, m.text) for m in found if m.line > 3] == [(3004, ODD[0]), (3005, ODD[1])]
    assert [m.text for m in found if m.line <= 3] == ["fused kernel error, falling back"]
    assert "loading the tokenizer" not in {m.text for m in found}


def test_what_a_good_run_says_is_not_unusual(knowledge: Database) -> None:
    log = START + steps(3000) + "\n".join(ODD) + "\n"
    good = text_source("good.log", START.replace("12", "24") + steps(100))
    found = unusual([scanned(knowledge, text_source("train.log", log))], [good])
    assert [m.text for m in found] == ODD


def test_every_line_of_a_short_log_may_be_unusual(knowledge: Database) -> None:
    found = unusual([scanned(knowledge, text_source("a", "one\ntwo went wrong, error\nthree\n"))])
    assert [m.text for m in found] == ["one", "two went wrong, error", "three"]


def test_messages_of_many_sources_are_folded(knowledge: Database) -> None:
    given = [scanned(knowledge, text_source(f"rank{i}", steps(100) + ODD[0] + "\n")) for i in range(64)]
    (found,) = [m for m in unusual(given) if m.alarming]
    assert (found.source, found.line, found.count) == ("rank0", 101, 64)


def test_of_a_long_log_only_a_sample_is_held_and_its_end_is_in_it(knowledge: Database) -> None:
    block = steps(15_000).encode()
    assert len(block) < 1 << 20
    most = 0

    end = block + "".join(f"{o}\n" for o in ODD).encode()
    given = scanned(knowledge, Source("train.log", lambda _w: iter([block] * 60 + [end])))
    assert [m.line for m in unusual([given]) if m.alarming] == [61 * 15_000 + 1]
    module = importlib.import_module("forensics.templates.unusual")  # the package's own name is the function
    for _start, part in module._sample(given):
        most += len(part)
    assert most <= (module.KEPT_BLOCKS + module.LAST_BLOCKS) * (len(block) * 2 + 100)


def test_what_can_be_read_only_once_is_known_by_what_the_scan_kept(knowledge: Database) -> None:
    once = iter([(steps(500) + ODD[0] + "\n").encode()])
    found = unusual([scanned(knowledge, Source("<stdin>", lambda _w: once))])
    assert [(m.line, m.text) for m in found if m.alarming] == [(501, ODD[0])]


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
    assert guessed(report)
    assert f"train.log:{303 + 1}" in said or '"line": 304' in said
    assert "lost its lease" in said
    if form != "json":
        assert "No cause is proven" in said
        assert GUESSED[:40] in " ".join(said.split())


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_what_to_do_against_a_guess_is_not_shown(analyze: Callable[..., Report], form: str) -> None:
    guess = analyze(train_log=UNKNOWN + "flurbler: the partition server is lost\n")
    assert guessed(guess) and guess.causes[0].remediations
    assert guess.causes[0].remediations[0].action not in render(guess, form).split("<script")[0]


def test_they_come_back_from_a_saved_report(report: Report) -> None:
    from forensics.report.reading import report_of

    assert report_of(json.loads(render(report, "json")), "r").unusual == report.unusual


def test_secrets_in_them_are_masked(analyze: Callable[..., Report]) -> None:
    secret = "hf_" + "aB3" * 12
    found = analyze(train_log=UNKNOWN + f"flurbler error: token {secret} refused by the flurb\n")
    assert found.verdict == "undetermined"
    assert any(secret in m.text for m in found.unusual)
    assert all(secret not in render(found, form) for form in ("text", "markdown", "html", "json"))


def test_a_log_with_a_proof_is_not_read_again(analyze: Callable[..., Report], monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> object:
        raise AssertionError("looked for unusual lines")

    monkeypatch.setattr("forensics.templates.unusual", never)
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
    assert [m["text"] for m in said["unusual"]] == ODD
    missing = run.invoke(build(), ["analyze", str(tmp_path / "bad.log"), "--baseline", str(tmp_path / "no.log")])
    assert "no such file or folder for the baseline" in str(missing.exception)
