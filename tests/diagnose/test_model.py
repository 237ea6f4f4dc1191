"""The classifier at inference: what scikit-learn computes, from a file that is checked, and honest where nothing is proven."""

import random
import subprocess
import sys
from collections.abc import Callable
from math import log
from pathlib import Path

import pytest
from forensics.diagnose import model as models
from forensics.diagnose.features import NAMES, UNKNOWN, features
from forensics.diagnose.model import BUILT_IN, ForeignModelError, Model, dump, read, restore, shares
from forensics.diagnose.region import region, sounds_alarmed, unexplained, words
from forensics.diagnose.score import Standing
from forensics.diagnose.weighing import ordered
from hypothesis import given
from hypothesis import strategies as st

from forensics.database import HEALTHY, Database
from forensics.model import Incident, Observation, Proof, Report

LOSS = "2025-08-22 03:00:00,000 INFO step 1 loss 0.5\n"


def small(causes: int = 3, seed: int = 1) -> tuple[Model, list[frozenset[str]], object, object]:
    """A text model of made documents, with the matrix and the learner of scikit-learn that it came from."""
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression

    from forensics.train import text

    chance = random.Random(seed)
    documents = [
        text.Document(
            frozenset(chance.sample([f"w{k}_{j}" for k in (i % causes, 9) for j in range(8)], 6)), f"c{i % causes}", f"s{i}"
        )
        for i in range(60)
    ]
    kept = text.vocabulary(documents)
    vectors, _ = text.vectorised([d.words for d in documents], kept)
    learner = LogisticRegression(C=text.STRENGTH, class_weight="balanced", max_iter=500).fit(
        vectors, [d.cause for d in documents]
    )
    return text.fit(documents), [d.words for d in documents], vectors, learner


@pytest.mark.parametrize("causes", [2, 3, 5])
def test_words_are_weighed_as_scikit_learn_weighs_them(causes: int) -> None:
    made, texts, vectors, learner = small(causes)
    stored = restore(dump(made))
    for row, expected in zip(texts, learner.predict_proba(vectors), strict=True):  # type: ignore[attr-defined]
        found = stored.text(row | {"never-seen"})
        assert [found[c] for c in learner.classes_] == pytest.approx(list(expected), abs=1e-6)  # type: ignore[attr-defined]


def tiny() -> Model:
    return Model(
        ("a", "b"), {"x": 0, "y": 1}, (1.0, 2.0), (0.0, 0.5), (1.0, -1.0, 0.25, 4.0), tuple(float(i) for i in range(len(NAMES)))
    )


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(dump(tiny()))
    found = read(tmp_path / "m")
    assert (found.causes, found.vocabulary, found.values) == (("a", "b"), {"x": 0, "y": 1}, tiny().values)
    assert found.text({"x", "y"}) == tiny().text({"x", "y"})
    assert len(found.hash) == 64


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_damaged_file_is_never_taken_for_another_model(at: int, change: int) -> None:
    whole = bytearray(dump(tiny()))
    start = whole.index(b"\n") + 1
    whole[start + at % (len(whole) - start)] ^= change
    with pytest.raises(ForeignModelError):
        restore(bytes(whole))


@given(st.binary(max_size=200))
def test_anything_else_is_told_to_be_no_model(data: bytes) -> None:
    with pytest.raises(ForeignModelError):
        restore(data)


def test_a_model_of_other_features_or_shape_is_foreign() -> None:
    good = dump(tiny())
    for old, new in ((b'"evidence"', b'"evidenze"'), (b"forensics-model/1", b"forensics-model/9"), (b'["a", "b"]', b'["a"]')):
        assert old in good
        with pytest.raises(ForeignModelError):
            restore(good.replace(old, new, 1))


@given(st.lists(st.floats(-700, 700), min_size=1, max_size=9))
def test_shares_are_a_distribution_in_the_order_of_the_utilities(utilities: list[float]) -> None:
    found = shares(utilities)
    assert sum(found) == pytest.approx(1)
    assert found[utilities.index(max(utilities))] == max(found)


@given(st.lists(st.text(max_size=80), max_size=20), st.randoms())
def test_the_order_of_lines_changes_no_word(lines: list[str], chance: random.Random) -> None:
    mixed = lines.copy()
    chance.shuffle(mixed)
    assert words(mixed) == words(lines)


def test_numbers_addresses_and_paths_are_no_words() -> None:
    found = words(["Error at 0xdeadbeef in /home/someone/train.py line 12"])
    assert found == {"error", "line", "error line"}
    assert sounds_alarmed("Error: x")
    assert not sounds_alarmed("step 1 loss 0.5")


@pytest.mark.parametrize(
    "text",
    [
        *("    ECC Errors", "Failures:", "Error Counts", "504 steps, 0 failed", "No errors found", "0 killed, 0 lost"),
        *("args: timeout=600, retries=3", "{'connect_timeout': 30}", "ignore_errors=True", "fail_fast: false"),
        "2025-05-14 17:41:26 1645354 uvicorn.error INFO: Waiting for application startup.",
        *("step 30 train_error 0.19917", "mean_absolute_error: 0.2213", "final error 3.6e-2", "top-1 error rate = 23.4%"),
        "\tat org.apache.spark.util.SparkErrorUtils.tryWithSafeFinally(SparkErrorUtils.scala:86)",
    ],
)
def test_a_heading_or_a_count_of_none_is_no_alarm(text: str) -> None:
    assert not sounds_alarmed(text)


@pytest.mark.parametrize(
    "text",
    [
        "KeyError: 0",
        "error:0 in libc.so",
        "10 failed",
        "ECC Errors: 5",
        "Read timed out. (read timeout=60)",
        "uvicorn.error ERROR: closed",
        "ERRORS",
        "0 failed, 1 killed",
        "ERROR 404: no such page",
        "driver error 12.2.140 is too old",
        "no errors but a timeout",
    ],
)
def test_what_only_looks_like_one_is_an_alarm(text: str) -> None:
    assert sounds_alarmed(text)


def test_evidence_put_first_by_the_formula_stays_first_and_words_do_not_hide_it() -> None:
    event = Observation("a/x", "a", "strong", "log", 1, 1, ())
    plain = [Standing("a", (event,), 0.8, probability=0.7)]
    found = ordered(plain, {"a": 0.3, "b": 0.6, HEALTHY: 0.05, UNKNOWN: 0.05})
    told = [(s.cause, s.probability) for s in found]
    assert told == [("a", 0.45), ("b", 0.45), (HEALTHY, 0.05)]  # and is no surer than the words allow
    agreed = ordered(plain, {"a": 0.6, "b": 0.3, HEALTHY: 0.05, UNKNOWN: 0.05})
    assert [(s.cause, s.probability) for s in agreed] == [("a", 0.6)]
    hint = [Standing("a", (Observation("a/x", "a", "hint", "log", 1, 1, ()),), 0.4, probability=0.5)]
    assert [s.cause for s in ordered(hint, {"a": 0.3, "b": 0.6, UNKNOWN: 0.1})] == ["a", "b"]
    assert [s.cause for s in ordered(hint, {"a": 0.3, "b": 0.6, UNKNOWN: 0.1}, {"a"})] == ["b", "a"]  # an ending has a reason
    both = [*hint, Standing("b", (Observation("b/x", "b", "hint", "log", 2, 2, ()),), 0.4, probability=0.4)]
    assert [s.cause for s in ordered(both, {"a": 0.3, "b": 0.6, UNKNOWN: 0.1})] == ["b", "a"]
    given = {"a": 0.2, "b": 0.2, "c": 0.5, UNKNOWN: 0.1}
    assert ordered(both, given, {"a"})[0].cause == "b", "what is hinted at stays before words, though an ending stands first"


def test_words_alone_put_no_stop_before_an_exception_that_is_told() -> None:
    told = [Standing("code.exception", (Observation("t", "code.exception", "hint", "log", 1, 1, ()),), 0.4, probability=0.5)]
    given = {"code.exception": 0.1, "stopped.user": 0.6, "code.index": 0.3, UNKNOWN: 0.0}
    found = {s.cause: s.probability for s in ordered(told, given, {"code.exception"})}
    assert found == {"code.index": 0.12, "code.exception": 0.1, "stopped.user": 0.1}


def test_nobody_is_confident_of_hints_or_words() -> None:
    hint = Observation("h", "a", "hint", "s", 1, 1, (), {})
    strong = Observation("p", "a", "strong", "s", 1, 1, (), {})
    given = {"a": 0.96, "b": 0.02, UNKNOWN: 0.02}
    assert ordered([Standing("a", (hint,), 0.4)], given)[0].probability == 0.75
    assert ordered([Standing("b", (), 0.0)], given)[0].probability == 0.576, "words alone"
    assert ordered([Standing("a", (hint, strong), 0.8)], given)[0].probability == 0.96
    assert ordered([Standing(HEALTHY, (), 0.0)], {HEALTHY: 0.99, UNKNOWN: 0.01})[0].probability == 0.99


def test_alarming_lines_without_evidence_are_unexplained() -> None:
    proof = Proof("log", 1, "it failed", "a/x", "strong")
    incident = Incident((Observation("a/x", "a", "strong", "log", 1, 1, (proof,)),))
    assert unexplained(incident, ["it failed", "error: flurb", "error: flurb"]) == 1
    assert unexplained(None, ["it failed"]) == 1


def test_what_nothing_explains_speaks_for_none_of_these(knowledge: Database) -> None:
    event = Observation("distributed.peer_lost/x", "distributed.peer_lost", "strong", "log", 1, 1, ())
    plain = [Standing("distributed.peer_lost", (event,), 0.8, probability=0.9)]
    found = features(plain, {"storage.full": 0.9, "distributed.peer_lost": 0.1}, 5, knowledge, unexplained=4)
    told = dict(zip(NAMES, found[UNKNOWN], strict=True))
    assert told["unknown alarms"] == pytest.approx(log(5))
    assert told["unknown consequence"] > 1  # many causes take a peer away
    assert told["unknown other"] == float(knowledge.explains("storage.full", "distributed.peer_lost"))
    assert all(row[NAMES.index("unknown consequence")] == 0 for cause, row in found.items() if cause != UNKNOWN)


def test_the_region_is_alarms_and_evidence_without_repeats() -> None:
    assert region(None, ["a", "b", "a"]) == ["a", "b"]


def test_a_quiet_log_stays_healthy(analyze: Callable[..., Report]) -> None:
    report = analyze(train_log=LOSS * 40)
    assert (report.verdict, report.causes[0].id) == ("no_crash", HEALTHY)


def test_what_no_signature_knows_is_undetermined_and_says_what_to_collect(analyze: Callable[..., Report]) -> None:
    line = "flurbler: the fabric partition manager failed to initialize nvlink gpu fabric error, cannot allocate\n"
    report = analyze(train_log=LOSS * 40 + line * 3)
    assert report.verdict != "crash"
    assert report.causes[0].probability < 0.8
    if report.verdict == "undetermined":
        assert report.missing


def test_the_report_names_the_weights_it_was_made_with(analyze: Callable[..., Report]) -> None:
    assert analyze(train_log=LOSS).tool["model"] == read(BUILT_IN).hash[:16]


def test_without_weights_the_formula_decides_and_the_report_says_so(
    analyze: Callable[..., Report], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FORENSICS_MODEL", str(tmp_path / "none.weights"))
    report = analyze(train_log=LOSS)
    assert report.tool["model"] == "formula-1"
    assert "model" in {w.kind for w in report.warnings}
    monkeypatch.setenv("FORENSICS_MODEL", "none")
    assert "model" not in {w.kind for w in analyze(train_log=LOSS).warnings}


def test_the_built_in_weights_are_small_and_know_every_cause() -> None:
    from forensics.database import builtin_folder, read_folders

    causes, _ = read_folders([builtin_folder()])
    assert BUILT_IN.stat().st_size < 2 << 20
    assert set(read(BUILT_IN).causes) <= {c.id for c in causes}


def test_an_analysis_imports_nothing_that_learns(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)\n")
    code = (
        "import sys; from pathlib import Path; from forensics import pipeline;"
        "r = pipeline.analyze_paths([Path(sys.argv[1])], 'c', pipeline.database()); assert r.tool['model'] != 'formula-1', r.tool;"
        "print([m for m in ('sklearn', 'scipy', 'pandas', 'numpy', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_reading_the_weights_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORENSICS_MODEL", raising=False)
    assert models.chosen()[0] is models.chosen()[0]
