"""A report that was given a good run tells how the run differs from it, in each format, and what to set back."""

import json
from pathlib import Path

import pytest

from tests.commandline import forensics

STEPS = 40
STRAY = "warming the cache by hand"


def run(folder: Path, name: str, lr: str, growth: float, end: str, stray: str = "") -> Path:
    losses = [2.0 * growth**n for n in range(STEPS)]
    steps = [f"step {n} loss {'nan' if value > 1e9 else f'{value:.4f}'}" for n, value in enumerate(losses)]
    steps.insert(STEPS // 4, stray)
    path = folder / name
    path.write_text("\n".join([f"Namespace(lr={lr}, batch_size=32, seed={len(name)})", *filter(None, steps), end, ""]))
    return path


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    failure = 'Traceback (most recent call last):\n  File "/w/train.py", line 17, in <module>\nValueError: loss is nan'
    good = run(tmp_path, "good.log", "0.05", 0.97, "training finished")
    return good, run(tmp_path, "bad.log", "0.4", 1.9, failure, STRAY)


@pytest.mark.parametrize("form", ["text", "markdown", "brief", "html"])
def test_what_differs_from_the_good_run_stands_in_the_report(runs: tuple[Path, Path], form: str) -> None:
    good, bad = runs
    told = forensics("analyze", bad, "--baseline", good, "-f", form).stdout.decode()
    assert "unlike the good run" in told.lower()
    for part in ("0.05 -> 0.4", "2, 1.94, 1.882", STRAY):
        assert part.replace("->", "-&gt;") in told if form == "html" else part in told, part
    assert "unlike the good run" not in forensics("analyze", bad, "-f", form).stdout.decode().lower()


def test_it_takes_six_rows_of_the_text_at_most(runs: tuple[Path, Path]) -> None:
    told = forensics("analyze", runs[1], "--baseline", runs[0]).stdout.decode()
    section = told[told.index("unlike the good run") :].split("\n\n")[0]
    assert 3 <= len(section.splitlines()) <= 6


def test_a_number_that_was_changed_is_set_back_first_and_a_seed_is_not(runs: tuple[Path, Path]) -> None:
    said = json.loads(forensics("analyze", runs[1], "--baseline", runs[0], "-f", "json").stdout)
    remedies = said["causes"][0]["remediations"]
    assert remedies[0]["action"] == "Restore the values of the good run: --lr to 0.05 (0.4 here)"
    assert [r["rank"] for r in remedies] == list(range(1, len(remedies) + 1))
    assert "--seed" in [c["what"] for c in said["baseline"]["changes"]]


def test_a_learning_rate_is_no_remedy_for_a_shape(tmp_path: Path) -> None:
    failure = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)"
    good, bad = run(tmp_path, "good.log", "0.05", 0.97, "training finished"), run(tmp_path, "bad.log", "0.4", 0.96, failure)
    told = forensics("analyze", bad, "--baseline", good).stdout.decode()
    assert "0.05 -> 0.4" in told
    assert "Set back" not in told


def test_a_host_that_only_the_good_run_names_has_a_stand_in_too(runs: tuple[Path, Path]) -> None:
    for log, host in zip(runs, ("gnu-keller-1", "gnu-keller-2"), strict=True):
        log.write_text(f"SLURM_NODELIST={host}\n{log.read_text()}")
    told = [forensics("analyze", runs[1], "--baseline", runs[0], "-f", "json", *more).stdout for more in ((), ("--redact",))]
    assert [b"keller" in text for text in told] == [True, False]
    assert "node" in [c["what"] for c in json.loads(told[1])["baseline"]["changes"]]


def test_compare_shows_the_loss_of_both(runs: tuple[Path, Path]) -> None:
    told = forensics("compare", *runs).stdout.decode()
    assert "2, 1.94, 1.882 to 0.6097 -> 2, 3.8, 7.22 to NaN" in told
