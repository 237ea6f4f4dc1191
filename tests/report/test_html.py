"""The HTML report: one file that loads nothing, in which nothing from a log acts, small and quick."""

import base64
import html
import json
import re
import time
import zlib
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forensics.database import Database
from forensics.model import QuotedLine
from forensics.report import render
from forensics.report.document import document
from forensics.report.page.parts import charts
from forensics.report.page.timeline import drawings
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
    """The elements of a page, without those of code: what stands between backticks in a sentence is drawn so, and acts on nothing."""
    return [tag for tag, _ in Elements(render(made.report(text), "html")).found if tag != "code"]


@pytest.mark.seconds
@pytest.mark.parametrize(
    "text", [*HOSTILE, "</script><script>alert(1)</script>", "' onload='x", '" autofocus onfocus="x', "{{7*7}}"]
)
def test_nothing_a_log_says_acts(text: str) -> None:
    page = render(made.report(text), "html")
    found = Elements(page).found
    assert elements(text) == elements("words")
    assert not [name for _, attrs in found for name in attrs if name.startswith("on") or name == "style"]
    assert text != "{{7*7}}" or text in page


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
    styled = page.partition("<style>")[2].partition("</style>")[0]  # behind it are lines of the log
    assert "@import" not in styled
    assert "url(" not in styled


@pytest.mark.parametrize("text", ["words", "</script>", "<!--<script>", "\u2028 & <b>"])
def test_the_report_for_machines_is_inside(text: str) -> None:
    report = made.report(text)
    saved = zlib.decompress(base64.b64decode(Elements(render(report, "html")).data))
    assert json.loads(saved) == json.loads(json.dumps(document(report)))


def test_an_address_of_another_scheme_is_no_link() -> None:
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


def page_of(case: str, knowledge: Database) -> str:
    return rendered(case, "html", knowledge).partition('<script type="application/json"')[0]


@pytest.mark.seconds
def test_the_story_stands_first_and_the_lines_that_decided_next(knowledge: Database) -> None:
    page = page_of("dtype_mismatch", knowledge)
    heads = re.findall(r"<dt>([^<]+)</dt>|<h2 id=\"(\w+)\"", page)
    assert [a or b for a, b in heads][:6] == ["Why", "Do first", "What", "Where", "evidence", "todo"]
    shown = page.partition('id="evidence"')[2].partition("</section>")[0]
    assert '<mark class="row"><span class="n">14</span><span class="text">RuntimeError: mat1 and mat2' in shown
    folded = shown.partition('<details class="fold">')[2].partition("</details>")[0]
    assert "9 lines of library code" in folded
    assert folded.count("site-packages") == 3
    assert "site-packages" not in shown.replace(folded, "").partition('class="more"')[0]


@pytest.mark.seconds
@pytest.mark.parametrize("case", CASES)
def test_a_page_is_small_and_has_no_empty_part(case: str, knowledge: Database) -> None:
    assert len(rendered(case, "html", knowledge).encode()) <= 150_000
    page = page_of(case, knowledge)
    assert not re.search(
        r"<(dd|dt|p|li|h2|pre|ol|summary)( [^>]*)?>\s*</\1>", page.replace('<p class="hint" role="status"', "<i")
    )


def test_what_can_be_copied_is_there_as_text() -> None:
    report = made.report()
    page = render(report, "html")
    for name, form in (("brief", "brief"), ("ticket", "issue")):
        text = html.unescape(page.partition(f'<pre id="{name}"')[2].partition(">")[2].partition("</pre>")[0])
        assert text.strip().splitlines()[:3] == render(report, form).splitlines()[:3]
        assert f'data-copies="{name}"' in page
    commands = sum(len(a.commands) for a in report.causes[0].remediations) + sum(len(p.commands) for p in report.possible)
    assert page.count("data-before") == commands + 2  # a question's, and the script's own word


def test_a_confirmed_remedy_says_for_how_many() -> None:
    report = made.report()
    first = report.causes[0]
    advice = replace(first.remediations[0], confirmed=7)
    assert "solved it for 7 people" in render(replace(report, causes=(replace(first, remediations=(advice,)),)), "html")


def test_a_secret_beside_the_line_that_decided_is_masked() -> None:
    around = (QuotedLine(6, "export HF_TOKEN=hf_" + "aB3dE5gH7j" * 3 + "kLmN"), QuotedLine(7, "RuntimeError: it broke"))
    page = render(replace(made.report(), around=around), "html")
    assert "aB3dE5gH7j" not in page
    assert "HF_TOKEN" in page


def test_an_arrow_leads_from_the_cause_to_what_followed() -> None:
    (drawing,) = drawings(made.report())
    (arrow,) = drawing.arrows
    assert (arrow.start.role, arrow.end.role, bool(arrow.head)) == ("root", "symptom", True)
    early = [replace(m, time=made.START - timedelta(seconds=9)) if m.role == "symptom" else m for m in made.report().timeline]
    assert drawings(replace(made.report(), timeline=tuple(early)))[0].arrows[0].head == ""  # nothing tells which was first
    beside = [replace(m, role="contributing", cause="a.b") for m in made.report().timeline if m.role == "symptom"]
    crowded = drawings(replace(made.report(), timeline=(*made.report().timeline[:2], *beside)))[0]
    assert [m.role for m in crowded.marks] == ["root", "symptom"]  # another possible cause does not cover the story's own mark


def test_the_moment_is_marked_in_curves_of_its_source() -> None:
    report = made.report()
    assert [c.moment != "" for c in charts(report)] == [True]
    elsewhere = tuple(replace(c, source="logs/run/other.log") for c in report.curves)
    assert all(c.moment == "" for c in charts(replace(report, curves=elsewhere)))


def test_code_in_a_sentence_is_drawn_as_code_and_a_single_backtick_stays() -> None:
    report = made.report()
    first = report.causes[0]
    advice = replace(first.remediations[0], action="See `who` & `a<b`, not `&'")
    page = render(replace(report, causes=(replace(first, remediations=(advice,)), *report.causes[1:])), "html")
    assert "See <code>who</code> &amp; <code>a&lt;b</code>, not `&amp;" in page
