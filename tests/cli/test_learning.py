"""`forensics dev evaluate`, `train` and `signatures rates` on a small corpus. All logs are made for these tests."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from forensics.cli.app import build
from forensics.database.rates import RATES_HEADER
from tests.commandline import forensics

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


def test_rates_are_printed_or_written(corpus: Path, tmp_path: Path) -> None:
    printed = forensics("dev", "rates", str(corpus))
    assert printed.returncode == 0, printed.stderr
    rows = [line.split(",") for line in printed.stdout.decode().splitlines()]
    assert rows[0] == list(RATES_HEADER)
    by_cause: dict[str, float] = {}
    for name, healthy, own, _, _, _ in rows[1:]:
        assert healthy == "0.0"
        by_cause[name.split("/")[0]] = max(by_cause.get(name.split("/")[0], 0.0), float(own))
    assert (by_cause["code.shape"], by_cause["storage.full"]) == (16.0, 16.0)
    assert forensics("dev", "rates", str(corpus), "-o", str(tmp_path / "rates.csv")).stdout == b""
    assert (tmp_path / "rates.csv").read_bytes() == printed.stdout


def learning(monkeypatch: pytest.MonkeyPatch, *words: object) -> str:
    """What a command prints that learns; from the corpus alone, as thousands of examples of signatures take a minute."""
    monkeypatch.setattr("forensics.train.text.signature_examples", list)
    done = CliRunner().invoke(build(), [str(w) for w in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_what_is_learned_is_used_and_measured(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = tmp_path / "own.weights"
    learning(monkeypatch, "dev", "train", corpus, "-o", weights, "--folds", 3)
    monkeypatch.setenv("FORENSICS_MODEL", str(weights))
    told = learning(monkeypatch, "dev", "evaluate", corpus, "--misses").splitlines()
    numbers = told[2].split()
    assert (told[0], numbers[1], numbers[5], numbers[7]) == ("The decision", "16", "32", "1.000")
    assert told[4].startswith("The rival")
    assert told[6].split()[1:6] == ["16", "0", "0", "0", "32"]
    assert told[-2:] == ["Wrong answers", "none"]


def test_with_folds_each_case_is_answered_by_what_never_saw_it(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = learning(monkeypatch, "dev", "evaluate", corpus, "--folds", 2).splitlines()
    assert told[2].split()[1:6:4] == ["16", "32"]


def test_a_folder_of_cases_with_expected_answers_is_a_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As sample_logs/ is one."""
    for name, cause, log in (("shape", "code.shape", SHAPES), ("well", "none.healthy", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.log").write_text(STEPS + log)
        (tmp_path / name / "expected.yaml").write_text(f"cause: {cause}\n")
    told = learning(monkeypatch, "dev", "evaluate", tmp_path).splitlines()
    assert told[2].split()[1:6:4] == ["1", "1"]
    (tmp_path / "well" / "expected.yaml").write_text("verdict: no_crash\n")
    refused = forensics("dev", "evaluate", tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.decode() == f"forensics: {tmp_path / 'well' / 'expected.yaml'}: names no cause\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("dev", "evaluate", "{}/case1"), "not a corpus"),
        (("dev", "evaluate", "{}", "--folds", "1"), "two parts or more"),
        (("dev", "evaluate", "{}", "--folds", "50"), "too few cases"),
        (("dev", "train", "{}", "--emphasis", "read=much", "-o", "x"), "is not NAME=FACTOR"),
        (("dev", "train", "{}", "-o", "/no/such/folder/x"), "no such folder to write to"),
        (("dev", "rates", "{}/case1"), "not a corpus"),
        (("dev", "rates", "{}", "-o", "/no/such/folder/x"), "could not be written there"),
    ],
)
def test_wrong_usage_is_one_line(corpus: Path, words: tuple[str, ...], told: str) -> None:
    done = forensics(*(w.format(corpus) for w in words))
    assert done.returncode == 2
    (line,) = done.stderr.decode().splitlines()[-1:]
    assert told in line
