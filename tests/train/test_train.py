"""Training and measuring on small made corpora, on sample logs, and by hand-counted answers."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from forensics.core.errors import UsageError
from forensics.database import HEALTHY, Database, builtin_folder
from forensics.database.rates import smoothed_rate
from forensics.decision.candidates import FEATURE_NAMES, FEATURES
from forensics.decision.decide import DecisionInput
from forensics.decision.model import model_from_bytes
from forensics.decision.structure import precedence_of
from forensics.outcome import line_classes
from forensics.outcome.deciding_lines import UNTRAINED_LINE_WEIGHTS, candidate_lines
from forensics.scan import scan
from forensics.sources import open_paths
from scripts.lay_out_corpus import marked
from scripts.row_file import rows_from_bytes, rows_to_bytes
from scripts.train import fit as fitting
from scripts.train import rates as counting
from scripts.train import text, tree_growing
from scripts.train.cases import FAILED, Case, decision_input_of, is_labelled, read_corpora, without_its_cause
from scripts.train.fit import FLAT, RankingExample, fit_lines, fit_ranker
from scripts.train.measure import (
    Prediction,
    by_rival,
    lines_of,
    measure_predictions,
    measures_table,
    misses_text,
    predict,
    reliability_bins,
    rival_table,
)
from scripts.train.model_file import model_to_bytes
from scripts.train.rates import read_fired
from scripts.train.rows import rates_without, rows_of, with_new_rows
from tests.decision.made import lane, model, seen

SHAPES = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)\n"
SAMPLES = Path(__file__).parents[2] / "sample_logs"


def case(name: str, *right: str, hard: bool = False, owned: tuple[object, ...] = (), source: str = "", **more: object) -> Case:
    question = DecisionInput(owned, (lane(),), False, False)  # type: ignore[arg-type]
    return Case(name, right, source or name, hard, question, **more)  # type: ignore[arg-type]


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
    assert {o.observation.cause for o in found.question.owned} >= {"code.shape"}
    assert "shapes cannot" in found.question.words()
    assert (found.corpus, found.healthy, found.cause_known) == ("c", False, True)


@pytest.mark.parametrize(
    ("label", "what"),
    [
        ('{"id": "one"}', "not a label"),
        ("[]", "not a label"),
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
    with pytest.raises(UsageError, match="not a corpus"):
        read_corpora([tmp_path], knowledge)


def test_of_some_only_the_outcome_is_labelled_and_a_path_names_their_origin(tmp_path: Path, knowledge: Database) -> None:
    labels: list[dict[str, object]] = [
        {"id": "one", "primary": None, "source": "lab/runs/logs/a.log", "kind": "training"},
        {"id": "two", "primary": HEALTHY, "repository": "lab/other"},
    ]
    one, two = read_corpora([corpus(tmp_path / "c", *labels)], knowledge)
    assert (one.right, one.cause_known, one.healthy, one.source, one.kind) == ((FAILED,), False, False, "lab/runs", "training")
    assert (two.healthy, two.source) == (True, "lab/other")


def test_of_a_log_that_breaks_off_nobody_knows_how_it_ended(tmp_path: Path, knowledge: Database) -> None:
    labels: list[dict[str, object]] = [
        {"id": "one", "primary": None, "outcome": "cut_off"},
        {"id": "two", "primary": None, "outcome": "failed"},
        {"id": "three", "primary": "code.shape", "outcome": "cut_off"},
    ]
    assert [c.id for c in read_corpora([corpus(tmp_path / "c", *labels)], knowledge)] == ["two", "three"]


def test_a_copy_without_its_cause_keeps_the_other_observations() -> None:
    mixed = case("one", "code.shape", "storage.full", owned=(seen("code.shape"), seen("storage.full"), seen("code.shape", 20)))
    assert [o.observation.cause for o in without_its_cause(mixed).question.owned] == ["storage.full"]


def test_a_word_of_one_source_is_not_kept_and_a_private_one_only_where_it_is_common() -> None:
    def document(words: str, source: str, public: bool = False) -> text.Document:
        return text.Document(frozenset(words.split()), "a", source, public)

    private = [document("host often", f"s{i}") for i in range(3)] + [document("often", "s4")]
    single = [document("echo", "same") for _ in range(9)]
    public = [document("shapes", f"p{i}", public=True) for i in range(3)]
    assert text.kept_words([*private, *single, *public]) == ["often", "shapes"]


def row(**values: float) -> list[float]:
    return [values.get(n.replace(" ", "_"), 0.0) for n in FEATURE_NAMES]


@pytest.mark.seconds
def test_the_weights_learn_which_feature_speaks_for_the_right_one() -> None:
    offered = [row(proof=1), row(hint=1), row(unlisted=1)]
    right = {0: 80, 1: 10, 2: 10}
    choices = [RankingExample(offered, [i == j for j in range(3)]) for i, count in right.items() for _ in range(count)]
    found = dict(zip(FEATURE_NAMES, fit_ranker(choices, [FLAT] * len(FEATURE_NAMES)), strict=True))
    assert found["proof"] > found["hint"]
    total = sum(2.718281828 ** found[n] for n in ("proof", "hint", "unlisted"))
    assert 2.718281828 ** found["proof"] / total == pytest.approx(0.8, abs=0.03)  # 8 of 10 times it was right


@pytest.mark.seconds
def test_a_weight_never_has_the_sign_that_its_feature_cannot_have() -> None:
    """Where the choices say the opposite of what a feature means, it says nothing."""
    up = next(n for n, (_, sign, _) in FEATURES.items() if sign > 0)
    down = next(n for n, (_, sign, _) in FEATURES.items() if sign < 0)
    against = [row(), row(**{up.replace(" ", "_"): 1.0}), row(unlisted=1)]
    for_it = [row(**{down.replace(" ", "_"): 1.0}), row(), row(unlisted=1)]
    choices = [RankingExample(offered, [True, False, False]) for offered in (against, for_it)] * 20
    found = dict(zip(FEATURE_NAMES, fit_ranker(choices, [FLAT] * len(FEATURE_NAMES)), strict=True))
    assert found[up] == found[down] == 0


def test_measures_are_what_a_hand_counts() -> None:
    answers = [
        Prediction(case("1", "a"), (("a", 0.9), ("b", 0.1)), "crash"),
        Prediction(case("2", "a", "b", hard=True), (("b", 0.96),), "crash"),
        Prediction(case("3", "c", hard=True), (("a", 0.85), ("b", 0.1), ("c", 0.05)), "crash"),
        Prediction(case("4", HEALTHY), ((HEALTHY, 0.6),), "no_crash"),
        Prediction(case("5", HEALTHY), (("a", 0.82), (HEALTHY, 0.2)), "crash"),
        Prediction(case("6", HEALTHY), (("a", 0.3), (HEALTHY, 0.2)), "undetermined"),
        Prediction(case("7", "b"), ((HEALTHY, 0.97),), "no_crash"),
        Prediction(case("8", FAILED), (("a", 0.7),), "crash"),
    ]
    found = measure_predictions(answers)
    assert (found.healthy, found.alarms, found.crashes, found.loud, found.failed, found.missed) == (3, 2, 1, 1, 5, 1)
    assert (found.top1, found.top3, found.hard) == (2 / 4, 3 / 4, 0.5)
    assert found.sure_and_wrong == 1
    assert found.brier == pytest.approx((0.01 + 0.0016 + 0.7225 + 0.16 + 0.6724 + 0.09 + 0.9409) / 7)
    assert found.ece == pytest.approx((abs(0.9 + 0.96 + 0.97 - 2) + (0.85 + 0.82) + 0.4 + 0.3) / 7)
    assert [count for count, _, _ in reliability_bins(answers)] == [1, 1, 1, 2, 3]


def test_a_right_answer_shows_a_labelled_line_or_does_not() -> None:
    labelled = case("1", "a", evidence=("Killed process 7",))
    shown = [Prediction(labelled, (("a", 0.9),), "crash", (line,)) for line in ("[1.0] Killed process 7 (python)", "step 1")]
    assert [a.shows for a in shown] == [True, False]
    assert Prediction(labelled, (("b", 0.9),), "crash", ("Killed process 7",)).shows is None
    assert measure_predictions(shown).evidence == 0.5


def test_a_table_has_a_row_for_each_corpus_and_kind() -> None:
    many = [
        Prediction(case("1", "a", corpus="failed", kind="training"), (("a", 0.9),), "crash"),
        Prediction(case("2", "a", corpus="failed", kind="service"), (("b", 0.9),), "crash"),
        Prediction(case("3", HEALTHY, corpus="healthy", kind="training"), ((HEALTHY, 0.9),), "no_crash"),
    ]
    rows = measures_table(many).splitlines()
    assert [line[:28].rstrip() for line in rows] == ["", "failed", "  service", "  training", "healthy", "all"]
    assert len({len(line) for line in rows}) == 1


def test_wrong_answers_are_shown_with_what_made_them(knowledge: Database) -> None:
    wrong = case("one", "storage.full", owned=(seen("code.shape", 99), seen("storage.full", 50, "hint")), corpus="made")
    right = case("two", "code.shape", owned=(seen("code.shape", 99),), corpus="made")
    answers = [predict(c, model(6.0, strong=3.0, hint=0.5), precedence_of(knowledge), knowledge) for c in (wrong, right)]
    told = misses_text(answers)
    assert told.splitlines()[0].startswith("made/one: code.shape 0.")
    assert "code.shape" in told and "strong +3.00" in told and "hint +0.50" in told
    assert "two" not in told


def test_the_rival_reads_the_last_line_that_looks_like_an_error(knowledge: Database) -> None:
    given = case("1", "gpu_memory.capacity")
    said = by_rival(given, ["ValueError: x", "RuntimeError: CUDA out of memory", "step 3", "bye"])
    assert (said.first, said.verdict, said.evidence) == ("gpu_memory.capacity", "crash", ("RuntimeError: CUDA out of memory",))
    assert by_rival(given, ["step 3", "bye"]).first == HEALTHY
    assert by_rival(given, ["an error that nobody knows"]).first == rival_table().otherwise
    assert by_rival(given, ["error: x", *["step 1"] * 200]).first == HEALTHY
    assert lines_of([lane(trouble=("error: one", "error: two"))]) == ["error: one", "error: two"]
    assert {cause for _, cause in rival_table().rows} | {rival_table().otherwise} <= set(knowledge.causes)


def test_signatures_are_counted_by_how_a_case_ended() -> None:
    cases = [
        case("1", "code.shape", owned=(seen("code.shape", 9), seen("storage.full", 9)), source="a"),
        case("2", HEALTHY, owned=(seen("code.shape", 9), seen("code.shape", 9)), source="b"),
        case("3", FAILED, owned=(seen("code.shape", 9),), source="b"),
        case("4", "code.shape", owned=(seen("code.shape", 9, owner="others"),), source="c"),
    ]
    found = counting.count_firings(cases, [1.0, 1.0, 0.5, 1.0])
    assert found.total == {"code.shape/made9": [1.0, 1.25, 0.25], "storage.full/made9": [0.0, 0.0, 1.0]}
    rates = found.rates()
    blind = found.without("b", rates)
    assert blind["code.shape/made9"][0] > rates["code.shape/made9"][0], "the healthy one is left out"
    assert blind["storage.full/made9"] == rates["storage.full/made9"]
    assert found.csv().splitlines()[1].startswith("code.shape/made9,1.0,1.2,0.2,")


def test_cases_of_one_origin_weigh_as_a_few() -> None:
    from scripts.train.outcome_fit import MAX_ORIGIN_WEIGHT, case_weights

    found = case_weights([case(f"{i}", "a", source="one") for i in range(60)] + [case("x", "a", source="two")])
    assert sum(found[:-1]) == pytest.approx(MAX_ORIGIN_WEIGHT)
    assert found[-1] == 1.0


@pytest.mark.seconds
def test_too_few_sources_are_told() -> None:
    with pytest.raises(UsageError, match="too few cases"):
        fitting.folds_of(["1", "2"], 5)


@pytest.mark.seconds
def test_no_source_stands_on_both_sides() -> None:
    many = [case(f"{i}", f"c{i % 3}", source=f"s{i // 4}") for i in range(48)]
    fold = fitting.folds_of([c.source for c in many], 4)
    assert set(fold) == {0, 1, 2, 3}
    for source in {c.source for c in many}:
        assert len({f for c, f in zip(many, fold, strict=True) if c.source == source}) == 1


@pytest.fixture(scope="module")
def samples(knowledge: Database) -> list[Case]:
    """Captured cases, up to three of each cause, each its own origin, and all healthy ones."""
    made: list[Case] = []
    taken: dict[str, int] = {}
    for path in sorted(SAMPLES.glob("*/expected.yaml")):
        right = next(line.split()[1] for line in path.read_text().splitlines() if line.startswith("cause:"))
        if taken.get(right, 0) < (12 if right == HEALTHY else 3):
            taken[right] = taken.get(right, 0) + 1
            logs = sorted(p for p in path.parent.rglob("*") if p.is_file() and p != path)
            made.append(Case(path.parent.name, (right,), path.parent.name, False, decision_input_of(logs, knowledge), "samples"))
    return made


@pytest.mark.seconds
def test_a_model_that_learned_sample_logs_answers_them(
    samples: list[Case], knowledge: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With two thirds of the trees and a third of the signatures' examples, in half of the time."""
    monkeypatch.setattr(tree_growing, "BOOSTED_TREES", tree_growing.BOOSTED_TREES * 2 // 3)
    some = text.signature_examples()[::3]
    monkeypatch.setattr(text, "signature_examples", lambda: some)
    learned = fitting.train(samples, knowledge, 3)
    assert model_from_bytes(model_to_bytes(learned)).feature_weights == learned.feature_weights
    found = measure_predictions([predict(c, learned, precedence_of(knowledge), knowledge) for c in samples])
    assert found.alarms == found.missed == 0
    assert found.top1 > 0.9


@pytest.mark.seconds
def test_rows_are_read_as_they_were_written_and_hold_no_text(samples: list[Case], knowledge: Database) -> None:
    rows = rows_of(samples[:40], knowledge)
    data = rows_to_bytes(rows)
    found = rows_from_bytes(data)
    assert rows_to_bytes(found) == data
    assert (found.vocabulary, found.known, found.general, found.examples) == (
        rows.vocabulary,
        rows.known,
        rows.general,
        rows.examples,
    )
    for one, other in zip(rows.cases, found.cases, strict=True):
        assert (one.origin, one.bad, one.ending, one.words, one.cause) == (
            other.origin,
            other.bad,
            other.ending,
            other.words,
            other.cause,
        )
        assert other.outcome == pytest.approx(one.outcome, abs=1e-5)
        assert [len(c.events) for c in one.choices] == [len(c.events) for c in other.choices]
    with pytest.raises(UsageError, match="no file of rows"):
        rows_from_bytes(data[:-9])


@pytest.mark.seconds
def test_rows_made_anew_replace_those_of_their_origins(samples: list[Case], knowledge: Database) -> None:
    old = rows_of(samples[:30], knowledge)
    again = [replace(samples[0], right=(HEALTHY,)), samples[40]]
    new = with_new_rows(old, again, knowledge)
    assert len(new.cases) == 31
    kept, fresh = new.cases[:29], new.cases[29:]
    assert [c.origin for c in kept] == [c.origin for c in old.cases[1:]]
    assert [c.bad for c in fresh] == [False, not samples[40].healthy]
    for before, after in zip(old.cases[1:], kept, strict=True):
        assert [old.vocabulary[w] for w in before.words] == [new.vocabulary[w] for w in after.words]
        assert before.choices == after.choices


def test_rates_of_a_few_cases_are_those_that_were_measured_on_many(knowledge: Database) -> None:
    kind, (healthy, own, other) = max(read_fired(builtin_folder()).items(), key=lambda item: item[1][1])
    made = seen(kind.partition("/")[0])
    one = case("1", kind.partition("/")[0], owned=(replace(made, observation=replace(made.observation, kind=kind)),))
    (found,) = rates_without([one])
    expected = smoothed_rate("strong", healthy, own - 1, other)
    assert found[kind] == (expected.failed, expected.cause)


@pytest.mark.seconds
def test_cross_validated_models_never_saw_the_case(
    samples: list[Case], knowledge: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[set[str]] = []
    empty = model(0.0)

    def train(cases: list[Case], *_more: object) -> object:
        asked.append({c.source for c in cases})
        return replace(empty, hash=str(len(asked) - 1))

    monkeypatch.setattr(fitting, "train", train)
    for given, made in zip(samples, fitting.cross_validated(samples, knowledge, 3), strict=True):
        assert given.source not in asked[int(made.hash)]
    assert len(asked) == 3


@pytest.mark.seconds
def test_lines_that_people_marked_are_learned_from_words_and_place(tmp_path: Path, knowledge: Database) -> None:
    def log(name: str, end: str) -> tuple[str, str]:
        steps = "".join(f"{word} ready\n" for word in ("lathe", "mill", "press", "saw", "drill", "plane"))
        marked = f"blorp of {name} is bent"
        return f"{steps}{marked}\nchecked the rest\n{end}\n", marked

    for name in ("one", "two", "three", "four"):
        text_, marked = log(name, "the run stopped")
        folder = corpus(
            tmp_path / name, {"id": name, "primary": None, "outcome": "failed", "evidence": [marked], "repository": f"of/{name}"}
        )
        (folder / name / "job.log").write_text(text_)
    cases = read_corpora([tmp_path / n for n in ("one", "two", "three", "four")], knowledge)
    assert [sum(line.decides for line in c.lines) for c in cases] == [1, 1, 1, 1]
    assert all(len(c.lines) > 1 for c in cases)
    rows = rows_of(cases, knowledge)
    learned = fit_lines(rows.cases)
    (tmp_path / "new.log").write_text(log("nine", "the run stopped")[0])
    scans = [scan(source, knowledge, lambda _w: None) for source in open_paths([tmp_path / "new.log"], lambda _w: None)]
    best = max(candidate_lines(scans, line_classes(knowledge)), key=learned.score)
    assert best.text == "blorp of nine is bent"
    assert fit_lines([replace(c, lines=()) for c in rows.cases]) == UNTRAINED_LINE_WEIGHTS


def test_a_line_is_labelled_where_it_is_quoted_wholly_or_in_part() -> None:
    assert is_labelled("  E   ValueError: x", ["ValueError: x"])
    assert is_labelled("ValueError: x", ["E   ValueError: x in y"])
    assert not is_labelled("}", ["int main() { }"])
    assert not is_labelled("ValueError: y", ["ValueError: x"])


def test_the_lines_that_decide_are_laid_out_by_their_numbers() -> None:
    data = b"one line\n\x1b[31mERROR two\x1b[0m\nthird line\n}\nfifth line\n"
    assert marked(data, "2-4 5") == ["ERROR two", "third line", "fifth line"]
    assert marked(data, "") == []
