"""`python -m scripts.train` on a small corpus. All logs are made for these tests."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from forensics.cli import dev
from forensics.cli.app import build
from forensics.core.errors import UsageError
from scripts.train.__main__ import main
from scripts.train.rates import RATES_HEADER

pytestmark = pytest.mark.seconds
SHAPES = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)\n"
FULL = "OSError: [Errno 28] No space left on device: 'step9.npy'\n"
STEPS = "".join(f"step {i} loss 0.{90 - i}\n" for i in range(40))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    rows = []
    for i in range(48):
        end, primary = ((SHAPES, "code.shape"), (FULL, "storage.full"), ("", "none.healthy"))[i % 3]
        (folder / f"case{i}").mkdir()
        (folder / f"case{i}" / "train.log").write_text(STEPS + end)
        rows.append({"id": f"case{i}", "primary": primary, "source": f"lab/run{i}/x", "evidence": [end.strip()] if end else []})
    (folder / "labels.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    return folder


def told_of(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What the command prints."""
    main([str(w) for w in words])
    return capsys.readouterr().out


def test_rates_are_printed_or_written(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = told_of(capsys, "rates", corpus)
    rows = [line.split(",") for line in printed.splitlines()]
    assert rows[0] == list(RATES_HEADER)
    by_cause: dict[str, float] = {}
    for name, healthy, own, _, _, _ in rows[1:]:
        assert healthy == "0.0"
        by_cause[name.split("/")[0]] = max(by_cause.get(name.split("/")[0], 0.0), float(own))
    assert (by_cause["code.shape"], by_cause["storage.full"]) == (16.0, 16.0)
    assert told_of(capsys, "rates", corpus, "-o", tmp_path / "rates.csv") == ""
    assert (tmp_path / "rates.csv").read_text() == printed


@pytest.fixture
def from_the_corpus_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thousands of examples of signatures take a minute to learn from."""
    monkeypatch.setattr("scripts.train.text.signature_examples", list)


@pytest.mark.usefixtures("from_the_corpus_alone")
def test_what_is_learned_is_used_and_measured(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = tmp_path / "own.weights"
    told_of(capsys, "learn", corpus, "-o", weights, "--folds", 3)
    monkeypatch.setenv("FORENSICS_MODEL", str(weights))
    told = told_of(capsys, "evaluate", corpus, "--misses").splitlines()
    numbers = told[2].split()
    assert (told[0], numbers[1], numbers[5], numbers[7]) == ("The decision", "16", "32", "1.000")
    assert told[4].startswith("The rival")
    assert told[6].split()[1:6] == ["16", "0", "0", "0", "32"]
    assert told[-2:] == ["Wrong answers", "none"]


@pytest.mark.usefixtures("from_the_corpus_alone")
def test_with_folds_each_case_is_answered_by_what_never_saw_it(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = told_of(capsys, "evaluate", corpus, "--folds", 2).splitlines()
    assert told[2].split()[1:6:4] == ["16", "32"]


def test_a_folder_of_cases_with_expected_answers_is_a_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As sample_logs/ is one."""
    for name, cause, log in (("shape", "code.shape", SHAPES), ("well", "none.healthy", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.log").write_text(STEPS + log)
        (tmp_path / name / "expected.yaml").write_text(f"cause: {cause}\n")
    told = told_of(capsys, "evaluate", tmp_path).splitlines()
    assert told[2].split()[1:6:4] == ["1", "1"]
    (tmp_path / "well" / "expected.yaml").write_text("verdict: no_crash\n")
    with pytest.raises(SystemExit) as refused:
        main(["evaluate", str(tmp_path)])
    assert refused.value.code == 2
    assert capsys.readouterr().err == f"python -m scripts.train: {tmp_path / 'well' / 'expected.yaml'}: names no cause\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("evaluate", "{}/case1"), "not a corpus"),
        (("evaluate", "{}", "--folds", "1"), "two parts or more"),
        (("evaluate", "{}", "--folds", "50"), "too few cases"),
        (("learn", "{}", "--emphasis", "read=much", "-o", "x"), "is not NAME=FACTOR"),
        (("learn", "{}", "-o", "/no/such/folder/x"), "no such folder to write to"),
        (("rates", "{}/case1"), "not a corpus"),
        (("rates", "{}", "-o", "/no/such/folder/x"), "No such file or directory"),
    ],
)
def test_wrong_usage_is_one_line(corpus: Path, words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main([w.format(corpus) for w in words])
    assert refused.value.code == 2
    assert told in capsys.readouterr().err.splitlines()[-1]


def test_the_command_of_a_clone_does_the_same(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        assert command[:3] == [sys.executable, "-m", "scripts.train"]
        main(command[3:])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(dev.subprocess, "run", start)
    monkeypatch.setattr(sys, "argv", ["forensics", "dev", "rates", str(corpus)])
    with pytest.raises(SystemExit) as ended:
        build("dev")()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(RATES_HEADER[0])


def test_an_installed_package_says_that_it_needs_a_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev, "CLONE", tmp_path)
    monkeypatch.setattr(sys, "argv", ["forensics", "dev", "evaluate", "."])
    with pytest.raises(UsageError, match="needs a clone"):
        build("dev")()
