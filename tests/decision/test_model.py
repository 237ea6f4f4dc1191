"""The model at inference: what scikit-learn computes, from a file that is checked, read once, and without numpy."""

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forensics.core.errors import UsageError
from forensics.database import HEALTHY, Database
from forensics.decision import model as models
from forensics.decision.candidates import FEATURE_NAMES
from forensics.decision.model import BUILT_IN, ForeignModelError, Model, model_from_bytes, read_model, softmax
from forensics.model import Report
from forensics.outcome.deciding_lines import STRUCTURE, WORD_ROWS, LineWeights
from forensics.outcome.ending_words import ENDING_ROWS, EndingModel
from scripts.train.model_file import model_to_bytes
from tests.decision.made import model

LOSS = "2025-08-22 03:00:00,000 INFO step 1 loss 0.5\n"


def small(causes: int = 3, seed: int = 1) -> tuple[Model, list[frozenset[str]], object, object]:
    """A text model of made documents, with the matrix and the learner of scikit-learn that it came from."""
    from sklearn.linear_model import LogisticRegression

    from scripts.train import outcome_fit, text

    chance = random.Random(seed)
    documents = [
        text.Document(
            frozenset(chance.sample([f"w{k}_{j}" for k in (i % causes, 9) for j in range(8)], 6)), f"c{i % causes}", f"s{i}"
        )
        for i in range(60)
    ]
    kept = text.kept_words(documents)
    number = {w: i for i, w in enumerate(kept)}
    rows = [(sorted(number[w] for w in d.words if w in number), d.cause) for d in documents]
    vectors, _ = text.vectorised([words for words, _ in rows], len(kept))
    strength = (2 if causes == 2 else 1) / outcome_fit.WORD_PENALTY  # of two causes scikit-learn learns one column
    learner = LogisticRegression(C=strength, class_weight="balanced", max_iter=900, tol=1e-9)
    learner.fit(vectors, [d.cause for d in documents])
    return text.fit_text_model(rows, kept), [d.words for d in documents], vectors, learner


@pytest.mark.seconds
@pytest.mark.parametrize("causes", [2, 3, 5])
def test_probabilities_by_words_equal_those_of_scikit_learn(causes: int) -> None:
    made, texts, vectors, learner = small(causes)
    for row, expected in zip(texts, learner.predict_proba(vectors), strict=True):  # type: ignore[attr-defined]
        found = made.text(row | {"never-seen"})
        assert [found[c] for c in learner.classes_] == pytest.approx(list(expected), abs=1e-4)  # type: ignore[attr-defined]


def tiny() -> Model:
    return model(1.5, {"x": {"a": 1.0, "b": -1.0}, "y": {"a": 0.25, "b": 4.0}}, proof=2.0, hint=-0.5)


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(model_to_bytes(tiny()))
    found = read_model(tmp_path / "m")
    assert (found.causes, found.vocabulary, found.feature_weights) == (("a", "b"), {"x": 0, "y": 1}, tiny().feature_weights)
    assert found.text({"x", "y"}) == tiny().text({"x", "y"})
    assert (found.outcome.base, list(found.outcome.boosted.roots)) == (tiny().outcome.base, [])
    assert len(found.hash) == 64


def test_words_keep_their_rows_and_each_part_its_numbers() -> None:
    """Whatever the order of the words, and though all numbers stand in one row."""
    lines = LineWeights((0.5,) * WORD_ROWS, tuple(float(i) for i in range(len(STRUCTURE))))
    made = replace(tiny(), vocabulary={"z": 0, "a": 1}, ending=EndingModel((1.0, 2.0) * (ENDING_ROWS // 2), -3.0), lines=lines)
    found = model_from_bytes(model_to_bytes(made))
    assert found.vocabulary == {"z": 0, "a": 1}
    assert ([w * found.ending.unit for w in found.ending.weights], found.ending.intercept) == (
        [1.0, 2.0] * (ENDING_ROWS // 2),
        -3.0,
    )
    assert [w * found.lines.unit for w in found.lines.words] == [0.5] * WORD_ROWS
    assert list(found.lines.structure) == list(lines.structure)


def test_the_built_in_model_is_small_and_what_is_read_is_written_again() -> None:
    data = BUILT_IN.read_bytes()
    assert len(data) < 1_000_000
    assert model_to_bytes(model_from_bytes(data)) == data


@pytest.mark.seconds
@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_damaged_file_is_never_taken_for_another_model(at: int, change: int) -> None:
    whole = bytearray(model_to_bytes(tiny()))
    start = whole.index(b"\n") + 1
    whole[start + at % (len(whole) - start)] ^= change
    with pytest.raises(ForeignModelError):
        model_from_bytes(bytes(whole))


@given(st.binary(max_size=200))
def test_bytes_that_are_no_model_are_refused(data: bytes) -> None:
    with pytest.raises(ForeignModelError, match=r"no model file|made for another version|damaged"):
        model_from_bytes(data)


def test_a_model_of_other_features_or_shape_is_foreign() -> None:
    good = model_to_bytes(tiny())
    form = models.MODEL_FORMAT.encode()
    changes = ((b'"proof"', b'"prooof"'), (form, form + b"9"), (b'["a", "b"]', b'["a"]'), (b'"strong.count"', b'"strong.cont"'))
    for old, new in changes:
        assert old in good
        with pytest.raises(ForeignModelError):
            model_from_bytes(good.replace(old, new, 1))


@given(st.lists(st.floats(-700, 700), min_size=1, max_size=9))
def test_probabilities_sum_to_1_in_the_order_of_the_utilities(utilities: list[float]) -> None:
    found = softmax(utilities)
    assert sum(found) == pytest.approx(1)
    assert found[utilities.index(max(utilities))] == max(found)


def test_all_candidates_are_ranked_with_the_same_weights() -> None:
    rows = [[float(n == "proof") for n in FEATURE_NAMES], [float(n == "hint") for n in FEATURE_NAMES]]
    proof, hint = tiny().utilities(rows)
    assert proof - hint == pytest.approx(2.5)


def test_the_report_names_the_model_it_was_made_with(analyze: Callable[..., Report]) -> None:
    report = analyze(train_log=LOSS * 40)
    assert report.tool["model"] == read_model(BUILT_IN).hash[:16]
    assert (report.verdict, report.causes[0].id) == ("no_crash", HEALTHY)


def test_a_model_that_cannot_be_used_is_told_and_the_built_in_one_decides(
    analyze: Callable[..., Report], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FORENSICS_MODEL", str(tmp_path / "none.weights"))
    report = analyze(train_log=LOSS)
    assert report.tool["model"] == read_model(BUILT_IN).hash[:16]
    assert [w.kind for w in report.warnings if "none.weights" in w.message] == ["model"]
    (tmp_path / "own.weights").write_bytes(model_to_bytes(tiny()))
    monkeypatch.setenv("FORENSICS_MODEL", str(tmp_path / "own.weights"))
    report = analyze(train_log=LOSS)
    assert report.tool["model"] == read_model(tmp_path / "own.weights").hash[:16]
    assert "model" not in {w.kind for w in report.warnings}


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "m").open("wb") as file:
        file.truncate(models.MAX_MODEL_BYTES + 1)
    with pytest.raises(ForeignModelError, match="larger than any model"):
        read_model(tmp_path / "m")


@pytest.mark.parametrize(
    "wrong",
    [
        model(1.5, {"x": {"a": 1.0, "b": 2.0}}, proof=float("nan")),
        model(1.5, {"x": {"a": 1.0, "b": 2.0}}, proof=float("inf")),
        replace(tiny(), causes=("a", "a")),
        replace(tiny(), causes=(), intercepts=(), coefficients=()),
    ],
    ids=["no number", "infinite", "a cause twice", "no cause"],
)
def test_a_model_with_impossible_values_is_refused(wrong: Model) -> None:
    with pytest.raises(ForeignModelError):
        model_from_bytes(model_to_bytes(wrong))


def test_a_damaged_built_in_model_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.weights").write_bytes(b"{}\n")
    monkeypatch.setattr(models, "BUILT_IN", tmp_path / "model.weights")
    monkeypatch.setenv("FORENSICS_MODEL", str(tmp_path / "never asked for before"))
    with pytest.raises(UsageError, match="reinstall the package"):
        models.active_model()


def test_what_is_kept_of_a_model_changes_no_answer_and_is_of_this_very_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORENSICS_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "model.weights"
    path.write_bytes(whole := BUILT_IN.read_bytes())
    first, again = read_model(path).outcome, read_model(path).outcome
    features = [1.0] * len(first.names)
    assert "_means" not in model_from_bytes(whole).outcome.random.__dict__
    assert "_means" in again.random.__dict__, "they were read"
    assert again.shares(features) == model_from_bytes(whole).outcome.shares(features) == first.shares(features)
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ForeignModelError, match="damaged"):
        read_model(path)


def test_the_built_in_model_is_small_and_knows_no_cause_that_is_not_there(knowledge: Database) -> None:
    assert BUILT_IN.stat().st_size < 4 << 20
    assert set(read_model(BUILT_IN).causes) <= set(knowledge.causes)


@pytest.mark.seconds
def test_an_analysis_imports_nothing_that_learns(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)\n")
    code = (
        "import sys; from pathlib import Path; from forensics import pipeline;"
        "pipeline.analyze_paths([Path(sys.argv[1])], 'c', pipeline.database());"
        "print([m for m in ('sklearn', 'scipy', 'pandas', 'numpy', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_model_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORENSICS_MODEL", raising=False)
    assert models.active_model()[0] is models.active_model()[0]
