"""What people read, kept word by word: a change of wording is seen as a difference in tests/gold/.

Text and Markdown of ten cases in full; of every case, and of every format, a digest. `pytest --update` rewrites them; the
difference is reviewed. Versions, hashes and years that were taken from a file's date are scrubbed.
"""

import json
import re
from pathlib import Path

import pytest

from forensics.database import Database
from forensics.model import Report
from forensics.report.consequences import consequences, unconfirmed_consequences
from forensics.report.notices import notice_groups
from forensics.report.phrases import also_possible, percent_text
from forensics.report.subject import ending_sentence
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
    """The gist of a report in every format, in a few lines. `told`: the report in each of them."""
    first = report.causes[0]
    page = told["html"]
    heads = re.findall(r"<h2[^>]*>([^<]+?)\s*<", page)
    marks = page.count('class="mark ')
    document = json.loads(told["json"])
    said = [
        f"{report.case}: {first.title} ({first.id}, {report.verdict}, {percent_text(first.probability)})",
        f"  {ending_sentence(report)}",
        f"  {first.summary}",
        f"  evidence {' '.join(f'{Path(p.source).name}:{p.line}' for p in first.evidence)}",
        *(f"  followed {f.title} ({f.id})" for f in consequences(report)),
        *(f"  beside {f.title} ({f.id})" for f in unconfirmed_consequences(report)),
        *(f"  also {f.title} ({f.id}, {percent_text(f.probability)})" for f in also_possible(report)),
        *(f"  {a.who}: {a.action}" for a in first.remediations),
        *(
            f"  {g.head.lower()} {' '.join(f'{Path(n.source).name}:{n.line}' for n, _ in g.shown)} +{g.more}"
            for g in notice_groups(report)
        ),
        f"  text {len(told['text'].splitlines())} rows, markdown {len(told['markdown'].splitlines())} rows",
        f"  html {', '.join(heads)}; {marks} marks",
        f"  json {', '.join(f'{k} {len(v)}' for k, v in document.items() if isinstance(v, list) and v)}",
    ]
    return scrubbed("\n".join(said)) + "\n"


@pytest.mark.seconds
def test_every_case_in_every_format_says_what_it_said(knowledge: Database, request: pytest.FixtureRequest) -> None:
    forms = ("text", "markdown", "html", "json")
    said = "\n".join(digest(sample(case, knowledge), {f: rendered(case, f, knowledge) for f in forms}) for case in CASES)
    compare(GOLD / "digest.txt", said, request.config.getoption("--update"))


def test_no_gold_file_is_left_over() -> None:
    wanted = {"clauses.txt", "digest.txt", "remedies.txt", *(case + suffix for case in IN_FULL for suffix in SUFFIXES.values())}
    assert {p.name for p in GOLD.iterdir()} == wanted
