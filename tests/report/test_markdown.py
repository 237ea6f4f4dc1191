"""The Markdown report: bounded, and whatever a log says is read as text by a Markdown parser."""

import html
import re

import cmarkgfm
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace

from forensics.database import Database
from forensics.report import Style, render
from forensics.report.escape import code, escape, fenced_block, prose
from forensics.report.phrases import headline, remedies
from forensics.report.style import ISSUE_CHARS
from tests.report import made
from tests.report.samples import CASES, rendered, sample

PARSER = MarkdownIt("gfm-like", {"linkify": False}).enable(["table", "strikethrough"])
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</summary></details><h1>owned</h1>",
    "```\n# heading",
    "````text",
    "~~~",
    "`code` ``more`` ```most```",
    "[click](javascript:alert(1)) ![x](http://evil.example/x.png)",
    "**bold** _it_ ~~gone~~ # head > quote",
    "| a | b |\n|---|---|",
    "@everyone see #1 and !2 and {code} {panel}",
    "http://evil.example and www.evil.example and <http://evil.example>",
    "- [x] done",
    "1. one",
    "=cmd|'/c calc'!A0",
    "&lt;b&gt; &#x41;",
    "$\\href{x}{y}$",
    "\\`\\*\\[",
    "<!-- comment",
]
WHOLE = render(made.big(), "markdown", Style(max_chars=10**9))
SIGNS = st.text(alphabet=st.sampled_from(list("`~*_[](){}<>|#@!&$\\-+=.:/ ahtpw1\n")), max_size=60)


def tokens(text: str) -> list[Token]:
    """Every token, those inside lines too."""
    return [t for top in PARSER.parse(text) for t in (top, *(top.children or ()))]


def skeleton(text: str) -> list[str]:
    """What acts in a document: its elements, without the texts between them. Fences count as elements, code in a line does not."""
    ours = r"</?(?:details|summary|sub)>"
    kept = []
    for t in tokens(text):
        if t.type in ("text", "softbreak", "inline", "text_special", "code_inline"):
            continue
        if t.type in ("html_block", "html_inline"):
            kept += re.findall(r"<[^>]*>", t.content)
            assert all(re.fullmatch(ours, tag) for tag in re.findall(r"<[^>]*>", t.content)), t.content
        else:
            kept.append(t.type + ":" + str((t.attrs or {}).get("href", "")))
    return kept


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_a_log_says_acts(text: str) -> None:
    assert skeleton(render(made.report(text), "markdown")) == skeleton(render(made.report("harmless words"), "markdown"))


@pytest.mark.seconds
@given(SIGNS.filter(str.strip))
def test_no_mixture_of_signs_acts(text: str) -> None:
    assert skeleton(render(made.report(text), "markdown")) == skeleton(render(made.report("words"), "markdown"))


@given(SIGNS)
def test_plain_text_is_read_as_it_was(text: str) -> None:
    read = "".join(t.content for t in tokens(escape(text)) if t.type in ("text", "text_special", "softbreak"))
    assert " ".join(read.split()) == " ".join(text.split())


@given(st.text(max_size=80))
def test_code_and_fences_hold_what_they_hold(text: str) -> None:
    spans = [t for t in tokens(code(text)) if t.type == "code_inline"]
    assert len(spans) == (1 if code(text) else 0)
    blocks = [t for t in PARSER.parse("\n".join(fenced_block([text, "```", "x"]))) if t.type == "fence"]
    assert len(blocks) == 1


@pytest.mark.seconds
@pytest.mark.parametrize("case", CASES)
def test_a_case_fits_an_issue_and_has_its_parts(case: str, knowledge: Database) -> None:
    report, text = sample(case, knowledge), rendered(case, "markdown", knowledge)
    assert len(text) <= ISSUE_CHARS
    heads = [t.content for t in tokens(text) if t.type == "inline" and t.level == 1]
    assert any(headline(report).split()[0] in h for h in heads)
    assert text.count("- [ ] ") == len(remedies(report))
    assert text.count("<details>") == text.count("</details>")


@pytest.mark.seconds
@given(st.integers(500, 40_000))
def test_the_size_is_kept_and_the_summary_stays(most: int) -> None:
    text = render(made.big(), "markdown", Style(max_chars=most))
    assert len(text) <= most
    assert text.startswith("## A memory limit was hit (93 %)")
    assert ("Left out" in text) == (most < len(WHOLE))
    assert text.count("<details>") == text.count("</details>")


def test_the_least_important_goes_first() -> None:
    whole = render(made.report(), "markdown")
    less = render(made.report(), "markdown", Style(max_chars=len(whole) - 10))
    assert "### Evidence" in less
    assert "Left out to fit: " in less
    assert "What was read" not in less.split("Left out")[0]


def test_the_environment_and_processes_are_tables() -> None:
    text = render(made.report("NVIDIA H100"), "markdown")
    assert "| GPU | `NVIDIA H100` | `logs/run/train.log:2` |" in text
    assert "| 4711 | `NVIDIA H100` | 5 GiB | killed |" in text


def test_a_reference_of_another_scheme_is_no_link() -> None:
    report = made.report()
    first = report.causes[0]
    advice = replace(first.remediations[0], reference="javascript:alert(1)")
    text = render(replace(report, causes=(replace(first, remediations=(advice,)),)), "markdown")
    assert not [t for t in tokens(text) if t.type == "link_open"]


def outside_code(text: str) -> str:
    """What GitHub reads for mentions, references and addresses: the document as its own parser makes it, without code."""
    page = cmarkgfm.github_flavored_markdown_to_html(text)
    return re.sub(r"<pre.*?</pre>|<code.*?</code>", " ", page, flags=re.DOTALL)


ACTING = [
    "@everyone",
    "fixes #123",
    "resolves octo/repo#7",
    "GH-99",
    "see https://evil.example/x",
    "www.evil.example",
    "me@evil.example",
    "0123456789abcdef0123456789abcdef01234567",
    ":tada: $x^2$",
    "~~gone~~ **bold** <b>x</b>",
]


@pytest.mark.parametrize("text", ACTING)
def test_what_a_log_says_stands_in_code_where_github_would_act_on_it(text: str) -> None:
    for report in (made.report(text), made.many(5)):
        told = replace(report, case=text) if report.case != text else report
        page = outside_code(render(told, "markdown", Style(every_incident=True)))
        assert not re.search(r"(?<![\w/])@\w|#\d|\bGH-\d|\bwww\.|:[a-z]\w*:|\$|\b[0-9a-f]{7,40}\b", re.sub(r"<[^>]*>", " ", page))
        assert set(re.findall(r'href="([^"]*)"', page)) <= {"https://docs.example.org/x"}
        assert text not in page


@pytest.mark.seconds
@pytest.mark.parametrize("case", CASES)
def test_no_case_mentions_links_or_closes_anything(case: str, knowledge: Database) -> None:
    report = sample(case, knowledge)
    page = outside_code(rendered(case, "markdown", knowledge))
    words = re.sub(r"<a .*?</a>|<[^>]*>", " ", page)
    assert not re.search(r"(?<![\w/])@\w|#\d|\bGH-\d|\bwww\.|\b[0-9a-f]{12,40}\b", words)
    ours = {a.reference for a in report.causes[0].remediations}
    assert {html.unescape(m) for m in re.findall(r'href="([^"]*)"', page)} <= ours


def test_prose_keeps_its_words() -> None:
    assert prose("It came from @me/x.py:3 in f.", ["@me/x.py"]) == "It came from `@me/x.py:3` in f."
    assert prose("Write to root@host, then wait.") == "Write to `root@host`, then wait."
    assert prose("A * and a _ are signs") == r"A \* and a \_ are signs"
    assert prose("Rank 3 of 64", ["3", "64"]) == "Rank 3 of 64"
    assert prose("") == ""
