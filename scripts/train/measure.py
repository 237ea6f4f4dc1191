"""Compare predictions with labels: false alarms on healthy logs, right causes, calibration of the probabilities.

corpus    healthy  alarm  crash  >=0.8   failed  missed   top1   top3   hard  evidence    ece  brier  sure and wrong
failed         10      2      0      0      122       3  0.885  0.951  0.825     0.970  0.041  0.102               1

A simple rival to compare with: the cause of the last line that looks like an error, by a table of exceptions and codes.

    ... / RuntimeError: CUDA out of memory / Killing subprocess 811  ->  rival.yaml's first pattern in "Killing subprocess 811"

It is measured on every corpus together with the decision, to show how much the signatures and the learned weights add.
"""

import functools
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from forensics.core import lazy
from forensics.database import HEALTHY, Database
from forensics.decision.decide import decide
from forensics.decision.model import Model
from forensics.decision.structure import Precedence
from forensics.model import Verdict
from forensics.model.verdicts import Diagnosis, Lane
from forensics.outcome.features import Rates
from scripts.train.cases import Case

CALIBRATION_BINS = 10  # usual for the calibration error: tenths of probability
LOUD_PROBABILITY = 0.8  # an alarm of that probability on a healthy log
SURE_PROBABILITY = 0.95  # a wrong answer of that probability
TITLES = (
    *("healthy", "alarm", "crash", ">=0.8", "failed", "missed", "top1", "top3", "hard", "evidence", "ece"),
    *("brier", "wrong>=.95"),
)


class Prediction(Struct, frozen=True):
    """The prediction for a case. `said`: causes with probabilities, most probable first. `evidence`: lines of the first cause."""

    case: Case
    said: tuple[tuple[str, float], ...]
    verdict: Verdict = "undetermined"
    evidence: tuple[str, ...] = ()
    diagnosis: Diagnosis | None = None

    @property
    def first(self) -> str:
        """The most probable cause."""
        return self.said[0][0]

    @property
    def probability(self) -> float:
        """The probability of the first cause."""
        return self.said[0][1]

    @property
    def hit(self) -> bool:
        """Is the first cause right? If only the outcome is labelled: is it another cause than `none.healthy`?"""
        return self.first in self.case.right if self.case.cause_known else self.first != HEALTHY

    @property
    def shows(self) -> bool | None:
        """Has the evidence of a right answer a labelled line? None if no line is labelled, or the answer is wrong."""
        wanted = self.case.evidence
        if not wanted or not self.hit:
            return None
        return any(w in t or (t.strip() and t.strip() in w) for w in wanted for t in self.evidence)

    def among(self, count: int) -> bool:
        """Is one of the first `count` causes right?"""
        return any(cause in self.case.right for cause, _ in self.said[:count])


class Measures(Struct, frozen=True):
    """The results on some cases.

    `alarms`: healthy cases with another answer than healthy. `crashes`: healthy cases with the verdict crash. `loud`: alarms with
    LOUD_PROBABILITY or more. `missed`: failed cases with the answer healthy. `top1`, `top3`, `hard`: share of the failed cases
    with a labelled cause whose first cause is right, one of whose first three is, and the first of hard cases. `evidence`:
    share of right answers with labelled lines whose evidence has one. `ece`: expected calibration error (CALIBRATION_BINS bins).
    `brier`: Brier score. `sure_and_wrong`: wrong answers with SURE_PROBABILITY or more.
    """

    healthy: int
    alarms: int
    crashes: int
    loud: int
    failed: int
    missed: int
    top1: float
    top3: float
    hard: float
    evidence: float
    ece: float
    brier: float
    sure_and_wrong: int

    def row(self) -> str:
        """One line of a table under TITLES."""
        values = (getattr(self, name) for name in self.__struct_fields__)
        return " ".join(f"{x:>8}" if isinstance(x, int) else f"{x:8.3f}" if x == x else "       -" for x in values)


def predict(case: Case, model: Model, precedence: Precedence, knowledge: Database, rates: Rates | None = None) -> Prediction:
    """The Prediction for a case. `rates`: used instead of those of the database, to leave out the cases of the same origin."""
    found = decide(case.question, knowledge, model, precedence, rates)
    first = found.candidates[0]
    lines = tuple(p.text for o in first.owned for p in o.observation.proofs) or tuple(text for _, _, text in found.outcome.lines)
    return Prediction(case, tuple((c.cause, c.probability) for c in found.candidates), found.verdict, lines, found)


def measure_predictions(answers: Sequence[Prediction]) -> Measures:
    """The results of `answers`, which has one or more."""
    healthy = [a for a in answers if a.case.healthy]
    failed = [a for a in answers if not a.case.healthy]
    named = [a for a in failed if a.case.cause_known]
    known = [a for a in answers if a.case.cause_known]
    alarms = [a for a in healthy if not a.hit]
    shown = [a.shows for a in named if a.shows is not None]
    return Measures(
        healthy=len(healthy),
        alarms=len(alarms),
        crashes=sum(a.verdict == "crash" for a in healthy),
        loud=sum(a.probability >= LOUD_PROBABILITY for a in alarms),
        failed=len(failed),
        missed=sum(a.first == HEALTHY and HEALTHY not in a.case.right for a in failed),
        top1=_share(named, lambda a: a.hit),
        top3=_share(named, lambda a: a.among(3)),
        hard=_share([a for a in named if a.case.hard], lambda a: a.hit),
        evidence=sum(shown) / len(shown) if shown else float("nan"),
        ece=sum(n * abs(said - right) for n, said, right in reliability_bins(known)) / max(1, len(known)),
        brier=sum((a.probability - a.hit) ** 2 for a in known) / max(1, len(known)),
        sure_and_wrong=sum(a.probability >= SURE_PROBABILITY and not a.hit for a in known),
    )


def measures_table(answers: Sequence[Prediction]) -> str:
    """A table with a row for each corpus, for each kind of log in it if there are several, and for all."""
    rows = [f"{'':28s}" + " ".join(f"{t:>8.8s}" for t in TITLES)]
    by_corpus: dict[str, list[Prediction]] = defaultdict(list)
    for a in answers:
        by_corpus[a.case.corpus].append(a)
    for corpus, found in by_corpus.items():
        rows.append(f"{corpus:28.28s}" + measure_predictions(found).row())
        kinds = sorted({a.case.kind for a in found})
        rows += [
            f"  {k or '-':26.26s}" + measure_predictions([a for a in found if a.case.kind == k]).row()
            for k in kinds
            if len(kinds) > 1
        ]
    if len(by_corpus) > 1:
        rows.append(f"{'all':28s}" + measure_predictions(answers).row())
    return "\n".join(rows)


def misses_text(answers: Sequence[Prediction]) -> str:
    """Each wrong answer with its predicted outcome, and the largest contributions to its first cause and to the right one."""
    rows: list[str] = []
    for a in answers:
        if a.hit or a.diagnosis is None:
            continue
        rows.append(f"{a.case.corpus}/{a.case.id}: {a.first} {a.probability:.2f}, labelled {', '.join(a.case.right)}")
        rows.append(f"  ended badly {a.diagnosis.outcome.ended_badly:.2f}, {a.diagnosis.outcome.state}")
        candidates = [c for c in a.diagnosis.candidates if c.cause in (a.first, *a.case.right) and c.ledger]
        for c in candidates:
            parts = ", ".join(f"{x.feature} {x.log_odds:+.2f}" for x in c.ledger[:6])
            rows.append(f"  {c.cause} {c.probability:.2f}: {parts}")
    return "\n".join(rows)


def _share(answers: Sequence[Prediction], holds: Callable[[Prediction], bool]) -> float:
    return sum(map(holds, answers)) / len(answers) if answers else float("nan")


def reliability_bins(answers: Sequence[Prediction]) -> list[tuple[int, float, float]]:
    """(number of answers, their mean probability, the share that is right) of each bin of probability that is not empty."""
    bins: dict[int, list[Prediction]] = defaultdict(list)
    for answer in answers:
        bins[min(CALIBRATION_BINS - 1, int(answer.probability * CALIBRATION_BINS))].append(answer)
    return [(len(b), sum(a.probability for a in b) / len(b), sum(a.hit for a in b) / len(b)) for _, b in sorted(bins.items())]


LOOKS_LIKE_AN_ERROR = lazy.regex(
    r"(?i)\b(?:error|exception|fatal|panic|killed|segmentation fault|abort(?:ed)?|traceback|failed)\b|Error\b|Exception\b"
)
NEAR_THE_END = 200  # lines: the rival ignores an error that is further away from the end


class Table(Struct, frozen=True):
    """Patterns with the cause of each, in order, and the cause of an error that none of them matches."""

    rows: tuple[tuple[re.Pattern[str], str], ...]
    otherwise: str

    def cause_of(self, line: str) -> str:
        """The cause of the first pattern that is found in `line`."""
        return next((cause for pattern, cause in self.rows if pattern.search(line)), self.otherwise)


@functools.cache
def rival_table() -> Table:
    """The table of rival.yaml."""
    import yaml

    patterns = yaml.safe_load(Path(__file__).with_name("rival.yaml").read_text(encoding="utf-8"))
    return Table(tuple((re.compile(r["pattern"]), r["cause"]) for r in patterns["patterns"]), patterns["otherwise"])


def by_rival(case: Case, lines: Sequence[str]) -> Prediction:
    """The rival's prediction. `lines`: all lines of the case's logs in order."""
    last = next((t for t in reversed(lines[-NEAR_THE_END:]) if LOOKS_LIKE_AN_ERROR.search(t)), None)
    if last is None:
        return Prediction(case, ((HEALTHY, 1.0),), "no_crash")
    return Prediction(case, ((rival_table().cause_of(last), 1.0),), "crash", (last,))


def lines_of(lanes: Sequence[Lane]) -> list[str]:
    """The lines for the rival: the last lines of trouble near the end of each lane, in order."""
    near = (line for lane in lanes for line in lane.trouble_lines if line.number > lane.attempts[-1].last_line - NEAR_THE_END)
    return [line.text for line in near]
