"""Two pictures of predictions and labels: the confusion matrix, and the reliability curve of the probabilities."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from forensics.train.measure import Prediction, reliability_bins

CALIBRATION_PICTURE_DPI = 110  # sharp on a screen, and small in the repository


def confusion_matrix(answers: Sequence[Prediction], path: Path) -> None:
    """The confusion matrix of labelled against predicted causes; an accepted answer counts as the labelled cause."""
    from matplotlib.figure import Figure

    pairs = [(a.case.right[0], a.case.right[0] if a.hit else a.first) for a in answers]
    names = sorted({c for pair in pairs for c in pair})
    counts = [[0] * len(names) for _ in names]
    for right, said in pairs:
        counts[names.index(right)][names.index(said)] += 1
    size = 3 + 0.2 * len(names)
    figure = Figure(figsize=(size, size), dpi=CALIBRATION_PICTURE_DPI, layout="constrained")
    axes = figure.add_subplot()
    axes.imshow(counts, cmap="Blues")
    for i, row in enumerate(counts):
        for j, count in enumerate(row):
            if count:
                axes.text(j, i, str(count), ha="center", va="center", fontsize=6, color="black" if i == j else "red")
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=6)
    axes.set_yticks(range(len(names)), names, fontsize=6)
    axes.set_xlabel("named")
    axes.set_ylabel("labelled")
    figure.savefig(path)


def reliability_rows(answers: Sequence[Prediction]) -> tuple[list[float], list[float], list[int]]:
    """Mean probability, share of right answers, and number of answers of each bin."""
    rows = reliability_bins(answers)
    return [said for _, said, _ in rows], [right for _, _, right in rows], [count for count, _, _ in rows]


def reliability_curve(named: Mapping[str, Sequence[Prediction]], path: Path) -> None:
    """The share of right answers by predicted probability, a curve for each of `named`; a calibrated one is on the diagonal."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 5), dpi=CALIBRATION_PICTURE_DPI, layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    for name, answers in named.items():
        said, right, counts = reliability_rows(answers)
        line = axes.plot(said, right, marker="o", label=name)[0]
        for x, y, count in zip(said, right, counts, strict=True):
            axes.annotate(str(count), (x, y), textcoords="offset points", xytext=(4, -9), fontsize=7, color=line.get_color())
    axes.set_xlabel("probability said")
    axes.set_ylabel("share right")
    axes.legend(loc="upper left", fontsize=8)
    figure.savefig(path)
