"""What people read, kept word by word: a change of wording is seen as a difference in tests/gold/.

Text and Markdown of ten cases in full; of every case a digest, with the size of each part in every format. `pytest --update`
rewrites them; the difference is reviewed. Versions, hashes and years that were taken from a file's date are scrubbed.
"""

import json
import re
from pathlib import Path

import pytest

from forensics.database import Database
from forensics.model import Report
from forensics.report import render
from forensics.report.course import consequences, unconfirmed_consequences
from forensics.report.overview import notice_groups
from forensics.report.phrases import also_possible, percent_text
from forensics.report.style import Style
from forensics.report.subjects import ending_sentence
from tests.decision.sums import assert_rows_add_up
from tests.report.samples import CASES, ROOT, rendered, sample

GOLD = ROOT / "tests" / "gold"
IN_FULL = [
    "alloc_refused_numpy",
    "dataloader_worker_killed",
    "gloo_collective_timeout",
    "healthy_train",
    "hung_task",
    "jupyter_oom",
    "nan_loss",
    "oom_leak",
    "segfault_kernel",
    "torchrun_keyerror",
]
SUFFIXES = {"text": ".txt", "markdown": ".md"}
PART_END = "\n\n"
UNWRAPPED_CHARS = 5000  # more than any sentence has


def scrubbed(text: str) -> str:
    """`text` without what changes from one release, and from one checkout, to the next."""
    text = re.sub(r"forensics \d[\w\\.]*", "forensics VERSION", text)
    text = re.sub(r"; 20\d\d is assumed", "; YEAR is assumed", text)
    return re.sub(r"(?<![\w-])20\d\d(-\d\d-\d\d )", r"YEAR\1", text)


def compare(path: Path, said: str, update: bool) -> None:
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(said, encoding="utf-8")
    assert said == path.read_text(encoding="utf-8"), f"{path.name} reads otherwise; see it with pytest --update and git diff"


@pytest.mark.seconds
@pytest.mark.parametrize("form", SUFFIXES)
@pytest.mark.parametrize("case", IN_FULL)
def test_a_case_reads_as_before(case: str, form: str, knowledge: Database, request: pytest.FixtureRequest) -> None:
    said = scrubbed(rendered(case, form, knowledge))
    compare(GOLD / (case + SUFFIXES[form]), said, request.config.getoption("--update"))


def digest(report: Report, told: dict[str, str]) -> str:
    """The gist of a report in every format. `told`: the report in each of them, the text in rows that never wrap.

    What changes for reasons of its own stands between empty lines, and no number depends on the length of a sentence: so git
    merges the changes of two branches.
    """
    first = report.causes[0]
    page = told["html"]
    heads = re.findall(r"<h2[^>]*>([^<]+?)\s*<", page)
    marks = page.count('class="mark ')
    document = json.loads(told["json"])
    parts = [
        [f"{first.title} ({first.id}, {report.verdict}, {percent_text(first.probability)})"],
        [str(ending_sentence(report))],
        [first.summary],
        [f"evidence {' '.join(f'{Path(p.source).name}:{p.line}' for p in first.evidence)}"],
        [f"followed {f.title} ({f.id})" for f in consequences(report)],
        [f"beside {f.title} ({f.id})" for f in unconfirmed_consequences(report)],
        [f"also {f.title} ({f.id}, {percent_text(f.probability)})" for f in also_possible(report)],
        [f"{a.who}: {a.action}" for a in first.remediations],
        [
            f"{g.head.lower()} {' '.join(f'{Path(n.source).name}:{n.line}' for n, _ in g.shown)} +{g.more}"
            for g in notice_groups(report)
        ],
        [f"text {' '.join(str(len(part.splitlines())) for part in told['text'].split(PART_END))} rows"],
        [f"markdown {', '.join(f'{head} {rows}' for head, rows in markdown_parts(told['markdown']))} rows"],
        [f"html {', '.join(heads)}; {marks} marks"],
        [f"json {', '.join(f'{k} {len(v)}' for k, v in document.items() if isinstance(v, list) and v)}"],
    ]
    return scrubbed("\n\n".join("\n".join(part) for part in parts if part)) + "\n"


def markdown_parts(text: str) -> list[tuple[str, int]]:
    """The headings of a Markdown report, without what is quoted in them, and how many rows are not empty below each."""
    parts = [("top", 0)]
    for row in text.splitlines():
        if row.startswith("### "):
            parts.append((row[4:].partition(" in `")[0], 0))
        elif row:
            parts[-1] = (parts[-1][0], parts[-1][1] + 1)
    return parts


@pytest.mark.seconds
@pytest.mark.parametrize("case", CASES)
def test_a_case_says_what_it_said_in_every_format(case: str, knowledge: Database, request: pytest.FixtureRequest) -> None:
    report = sample(case, knowledge)
    assert_rows_add_up(report)
    told = {form: rendered(case, form, knowledge) for form in ("markdown", "html", "json")}
    said = digest(report, told | {"text": render(report, "text", Style(width=UNWRAPPED_CHARS))})
    compare(GOLD / "digests" / f"{case}.txt", said, request.config.getoption("--update"))


def test_no_gold_file_is_left_over() -> None:
    wanted = {"clauses.txt", "digests", "remedies.txt", *(case + suffix for case in IN_FULL for suffix in SUFFIXES.values())}
    assert {p.name for p in GOLD.iterdir()} == wanted
    assert {p.stem for p in (GOLD / "digests").iterdir()} == set(CASES)
