"""The HTML report: one file that loads nothing, in which nothing from a log acts, small and quick."""

import json
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.database import Database
from forensics.report import render
from forensics.report.document import document
from tests.report import made
from tests.report.samples import CASES, rendered
from tests.report.test_markdown import HOSTILE

MOST_BYTES = 2_000_000
MOST_SECONDS = 1.0
ATTRIBUTES = {
    "a": {"href", "rel", "class", "aria-label"},
    "meta": {"charset", "name", "content", "http-equiv"},
    "script": {"type", "id"},
}


class Elements(HTMLParser):
    """Elements, their attributes and the text of the embedded report."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.data = ""
        self.inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.inside = tag == "script" and ("id", "report") in attrs

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.data += data


def elements(text: str) -> list[str]:
    return [tag for tag, _ in Elements(render(made.report(text), "html")).found]


@pytest.mark.seconds
@pytest.mark.parametrize(
    "text", [*HOSTILE, "</script><script>alert(1)</script>", "' onload='x", '" autofocus onfocus="x', "{{7*7}}"]
)
def test_nothing_a_log_says_acts(text: str) -> None:
    page = render(made.report(text), "html")
    found = Elements(page).found
    assert [tag for tag, _ in found] == elements("words")
    assert not [name for _, attrs in found for name in attrs if name.startswith("on") or name == "style"]
    assert "49" not in page or "{{7*7}}" in page


@pytest.mark.seconds
@given(st.text(min_size=1, max_size=60).filter(str.strip))
def test_no_text_makes_an_element(text: str) -> None:
    assert elements(text) == elements("words")


@pytest.mark.seconds
@pytest.mark.parametrize("case", CASES)
def test_it_loads_nothing(case: str, knowledge: Database) -> None:
    page = rendered(case, "html", knowledge)
    for tag, attrs in Elements(page).found:
        assert tag not in ("link", "iframe", "object", "embed", "img", "base", "form")
        assert not {"src", "srcset", "action", "background", "data", "xlink:href"} & set(attrs)
        if tag == "a":
            assert (attrs["href"] or "").startswith(("#", "https://", "http://"))
    styled = page.partition('<script type="application/json"')[0]  # behind it are lines of the log, as data
    assert "@import" not in styled
    assert "url(" not in styled


@pytest.mark.parametrize("text", ["words", "</script>", "<!--<script>", "\u2028 & <b>"])
def test_the_report_for_machines_is_inside(text: str) -> None:
    report = made.report(text)
    assert json.loads(Elements(render(report, "html")).data) == json.loads(json.dumps(document(report)))


def test_an_address_of_another_scheme_is_no_link() -> None:
    from msgspec.structs import replace

    report = made.report()
    first = report.causes[0]
    advice = replace(first.remediations[0], reference="javascript:alert(1)")
    page = render(replace(report, causes=(replace(first, remediations=(advice,)),)), "html")
    assert "javascript:" not in json.dumps([a for t, a in Elements(page).found if t == "a"])


@pytest.mark.seconds
def test_two_hundred_incidents_stay_small_and_quick() -> None:
    report = made.big(200)
    render(made.report(), "html")  # jinja2 is loaded and the template compiled once
    start = time.process_time()
    page = render(report, "html")
    assert time.process_time() - start < MOST_SECONDS
    assert len(page.encode()) < MOST_BYTES


def test_a_plain_analysis_does_not_import_what_only_pictures_need() -> None:
    import subprocess
    import sys

    script = (
        "import sys; from tests.report import made; from forensics.report import render;"
        "[render(made.report(), f) for f in ('text', 'json', 'markdown')];"
        "print(sorted({'jinja2', 'matplotlib', 'rich', 'numpy', 'pandas', 'jsonschema'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
