"""Nothing that a log says acts: not in a terminal, not in HTML, Markdown, a spreadsheet or YAML."""

import csv
import io
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from forensics.model import Report
from forensics.report import formats, render
from forensics.report.style import Style
from tests.commandline import in_text
from tests.hostile.inputs import OOM

TEXTS = [
    "\x1b]0;title\x07\x1b[2J\x1b[31mred",
    "\x9b31m\x07\x08\x0c",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<svg/onload=alert(1)>",
    "</pre></textarea></title><iframe src=javascript:alert(1)>",
    "[click](javascript:alert(1)) ![x](http://tracker.example/x.png)",
    "```\n# heading\n@everyone #1",
    "=cmd|'/C calc'!A0",
    "+1+1", "-1+1", "@SUM(1)",
    "\u202egnp.exe \u2066x\u2069 \u200f",
    "!!python/object/apply:os.system ['id']",
    "{0.__class__} %s%s%n {{7*7}} ${7*7}",
    "\x00\x01\x7f",
]  # fmt: skip


@pytest.fixture
def report(analyze: Callable[..., Report]) -> Report:
    """Each text stands in an exception's message, in its file's name, and around a kernel message."""
    lines = []
    for text in TEXTS:
        one = text.replace("\n", " ")
        lines += [one, "Traceback (most recent call last):", f'  File "{one}", line 1, in {one}', f"RuntimeError: {one}"]
    killed = [f"Memory cgroup out of memory: Killed process 7 ({t[:15]}) total-vm:1kB, anon-rss:1kB, file-rss:1kB, shmem-rss:1kB".replace("\n", "")
              for t in TEXTS]  # fmt: skip
    return analyze(train_log="\n".join(lines), dmesg_log=OOM + "\n".join(killed).encode())


@pytest.mark.seconds
@pytest.mark.parametrize("form", formats())
@pytest.mark.parametrize("colour", [False, True])
def test_no_control_or_direction_character_passes(report: Report, form: str, colour: bool) -> None:
    text = render(report, form, Style(colour=colour))
    plain = re.sub(r"\x1b\[[\d;]*m|\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)", "", text) if colour and form == "text" else text
    assert not [c for c in plain if (ord(c) < 32 and c not in "\n\t") or c in "\x7f\x9b\u202e\u2066\u2069\u200f"]


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.bad: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {name for name, _ in attrs}
        if tag in ("iframe", "img", "object", "embed", "link") or any(n.startswith("on") for n in names):
            self.bad.append(tag)
        self.bad += [f"{tag} {v}" for n, v in attrs if n in ("href", "src") and v and not re.match(r"https://|#", v)]


def test_html_holds_no_element_of_a_log(report: Report) -> None:
    parser = Elements()
    text = render(report, "html", Style())
    parser.feed(text)
    assert parser.bad == []
    assert "onerror" in text and text.count("<script") == 2, "the page's own and its data"


def test_markdown_holds_nothing_that_acts(report: Report) -> None:
    text = render(report, "markdown", Style())
    outside = re.sub(r"(?ms)^(`{3,})\w*$.*?^\1$", "", text)
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", outside)
    assert not re.search(r"(?<!\\)<(?:script|img|svg|iframe)|(?<!\\)\]\(javascript|(?<!\\)!\[", outside)


def test_a_spreadsheet_sees_no_formula(tmp_path: Path) -> None:
    path = tmp_path / "=cmd.log"
    path.write_text("\n".join(f"{t}".replace("\n", " ").replace("\x00", "") for t in TEXTS))
    rows = list(csv.reader(io.StringIO(in_text("timeline", path, "-f", "csv", cwd=tmp_path).stdout)))
    assert len(rows) > 5
    assert not [c for row in rows for c in row if c[:1] in tuple("=+-@\t\r")]
