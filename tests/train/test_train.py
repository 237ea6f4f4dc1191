"""Training and measuring on small made corpora, and by hand-counted answers."""

import json
from pathlib import Path

import pytest
from forensics.diagnose import Question
from forensics.diagnose.features import NAMES, UNKNOWN
from forensics.diagnose.relevance import Jobs

from forensics.database import HEALTHY, Database
from forensics.errors import UsageError
from forensics.model import Incident, Observation
from forensics.train import cases as reading
from forensics.train import text
from forensics.train.cases import Case, read_corpora, without_its_cause
from forensics.train.measure import Answer, by_cause, measure, reliability
from forensics.train.weights import Choice, fit

SHAPES = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)\n"


def case(name: str, *right: str, hard: bool = False, events: tuple[Observation, ...] = ()) -> Case:
    return Case(name, right, name, hard, Question(Incident(events) if events else None, Jobs({}), ()))


def corpus(folder: Path, *labels: dict[str, object]) -> Path:
    for label in labels:
        (folder / str(label["id"])).mkdir(parents=True)
        (folder / str(label["id"]) / "job.log").write_text(SHAPES)
    (folder / "labels.jsonl").write_text("".join(json.dumps(x) + "\n" for x in labels))
    return folder


def test_a_corpus_becomes_cases_with_what_was_found(tmp_path: Path, knowledge: Database) -> None:
    made = corpus(
        tmp_path / "c", {"id": "one", "primary": "code.shape", "accept": ["code.exception"], "source": "ticket 1", "hard": True}
    )
    (found,) = read_corpora([made], knowledge)
    assert (found.right, found.source, found.hard) == (("code.shape", "code.exception"), "ticket 1", True)
    assert found.question.incident is not None
    assert {e.cause for e in found.question.incident.events} >= {"code.shape"}
    assert any("shapes" in line for line in found.question.alarms)


@pytest.mark.parametrize(
    ("label", "what"),
    [
        ('{"id": "one"}', "no label"),
        ("[]", "no label"),
        ('{"id": "two", "primary": "code.shape"}', "no folder two"),
        ('{"id": "../x", "primary": "code.shape"}', "no folder"),
        ('{"id": "one", "primary": "code.shapes"}', "no such cause: code.shapes"),
    ],
)
def test_a_wrong_label_is_told_with_its_line(tmp_path: Path, knowledge: Database, label: str, what: str) -> None:
    made = corpus(tmp_path / "c", {"id": "one", "primary": "code.shape"})
    (made / "labels.jsonl").write_text("\n" + label + "\n")
    with pytest.raises(UsageError, match=what) as error:
        read_corpora([made], knowledge)
    assert error.value.where.endswith("labels.jsonl:2")


def test_a_folder_without_labels_is_no_corpus(tmp_path: Path, knowledge: Database) -> None:
    with pytest.raises(UsageError, match="no corpus"):
        read_corpora([tmp_path], knowledge)


def test_a_copy_without_its_cause_keeps_the_other_events() -> None:
    events = tuple(Observation(f"{c}/x", c, "strong", "log", i, i, ()) for i, c in enumerate(("a", "b", "a")))
    left = without_its_cause(case("one", "a", "b", events=events)).question.incident
    assert left is not None
    assert [e.cause for e in left.events] == ["b"]
    assert without_its_cause(case("one", "a", events=events[:1])).question.incident is None


def test_a_word_of_one_source_is_not_kept_and_a_private_one_only_where_it_is_common() -> None:
    def document(words: str, source: str, public: bool = False) -> text.Document:
        return text.Document(frozenset(words.split()), "a", source, public)

    private = [document("host often", f"s{i}") for i in range(3)] + [document("often", "s4")]
    single = [document("echo", "same") for _ in range(9)]
    public = [document("shapes", f"p{i}", public=True) for i in range(3)]
    assert text.vocabulary([*private, *single, *public]) == ["often", "shapes"]


def test_the_weights_learn_which_feature_speaks_for_the_right_one() -> None:
    pytest.importorskip("scipy")

    def row(**values: float) -> list[float]:
        return [values.get(n.replace(" ", "_"), 0.0) for n in NAMES]

    offered = {"a": row(proof=1), "b": row(hint=1), UNKNOWN: row(unknown=1)}
    found = dict(zip(NAMES, fit([Choice(offered, ["a"])] * 8 + [Choice(offered, ["b"])] + [Choice(offered, ["z"])]), strict=True))
    assert found["proof"] > found["hint"]
    total = sum(2.718281828 ** found[n] for n in ("proof", "hint", "unknown"))
    assert 2.718281828 ** found["proof"] / total == pytest.approx(0.8, abs=0.03)  # 8 of 10 times it was right


def test_measures_are_what_a_hand_counts() -> None:
    answers = [
        Answer(case("1", "a"), (("a", 0.9), ("b", 0.1))),
        Answer(case("2", "a", "b", hard=True), (("b", 0.95),)),
        Answer(case("3", "c", hard=True), (("a", 0.85), ("b", 0.1), ("c", 0.05))),
        Answer(case("4", HEALTHY), ((HEALTHY, 0.6),)),
        Answer(case("5", HEALTHY), (("a", 0.3), (HEALTHY, 0.2))),
    ]
    found = measure(answers)
    assert (found.cases, found.top1, found.top3, found.hard_top1) == (5, 0.6, 1.0, 0.5)
    assert (found.false_alarms, found.healthy, found.missed, found.confident_wrong) == (1, 2, 0, 0.2)
    assert found.brier == pytest.approx((0.01 + 0.0025 + 0.7225 + 0.16 + 0.09) / 5)
    assert found.ece == pytest.approx((2 * 0.075 + 0.85 + 0.4 + 0.3) / 5)
    assert [count for count, _, _ in reliability(answers)] == [1, 1, 1, 2]
    assert by_cause(answers)["a"] == (2, 0.5, 1.0)


def test_too_few_sources_are_told(knowledge: Database) -> None:
    pytest.importorskip("sklearn")
    from forensics.train.fit import folds_of

    with pytest.raises(UsageError, match="too few cases"):
        folds_of([case("1", "a"), case("2", "b")], 5)
    assert reading.read_corpora([], knowledge) == []


def test_no_source_stands_on_both_sides() -> None:
    pytest.importorskip("sklearn")
    from forensics.train.fit import folds_of

    many = [Case(f"{i}", (f"c{i % 3}",), f"s{i // 4}", False, Question(None, Jobs({}), ())) for i in range(48)]
    fold = folds_of(many, 4)
    assert set(fold) == {0, 1, 2, 3}
    for source in {c.source for c in many}:
        assert len({f for c, f in zip(many, fold, strict=True) if c.source == source}) == 1


def test_pictures_are_drawn(tmp_path: Path) -> None:
    from forensics.train import pictures

    answers = [Answer(case("1", "a"), (("a", 0.9),)), Answer(case("2", "b"), (("a", 0.4),))]
    pictures.confusion(answers, tmp_path / "confusion.png")
    pictures.reliability_curve({"whole": answers}, tmp_path / "reliability.png")
    assert all((tmp_path / n).read_bytes().startswith(b"\x89PNG") for n in ("confusion.png", "reliability.png"))
