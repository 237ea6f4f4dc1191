"""True things that ended nothing: a few lines near the end, never in front of the answer."""

import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from forensics.model import Notice, Report
from forensics.report import render
from forensics.report.overview import notice_groups
from tests.report import made


def notice(line: int, cause: str | None = "network.link_down", owner: str = "mine", why: str = "it ends nothing") -> Notice:
    return Notice("logs/run/train.log", line, f"text {line} of it", cause, owner, why)


def noted(*notices: Notice) -> Report:
    return replace(made.report("words"), notices=notices)


def test_what_belongs_to_others_stands_for_itself() -> None:
    report = noted(notice(3), notice(4, owner="others"), notice(5, owner="unknown"), notice(6, owner="others"))
    told = [(g.head, [n.line for n, _ in g.shown], g.more) for g in notice_groups(report)]
    assert told == [("Also in these logs", [4, 6], 0), ("Worth knowing", [3, 5], 0)]
    assert notice_groups(noted()) == []


def test_three_of_different_causes_are_shown_in_order_and_the_rest_counted() -> None:
    report = noted(*(notice(i, "gpu_hardware.a") for i in range(1, 6)), notice(6, "storage.b"), notice(8, None))
    (group,) = notice_groups(report)
    assert [n.line for n, _ in group.shown] == [1, 6, 8]
    assert group.more == 4


def test_the_same_reason_is_told_once() -> None:
    report = noted(notice(1, why="a"), notice(2, why="a"), notice(3, why="b"))
    assert [why for _, why in notice_groups(report)[0].shown] == ["", "a", "b"]


def test_the_text_shows_them_behind_the_remedies() -> None:
    text = render(noted(*(notice(i, owner="others", why="job 9 is another one") for i in range(1, 50))), "text")
    assert re.search(
        r"^also in these logs\n( +\S*train\.log:\d  text \d of it\n){3} +job 9 is another one\n  and 46 more", text, re.M
    )
    assert text.index("\nnot known ") < text.index("\nalso in these logs\n") < text.index("\nread\n")


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_they_move_nothing_that_stands_before_them(form: str) -> None:
    many = render(noted(*(notice(i, owner=o) for i in range(1, 99) for o in ("mine", "others"))), form)
    none = render(noted(), form)
    head = {"text": "\nalso in these logs\n", "markdown": "\n### Also in these logs\n"}[form]
    before = many[: many.index(head)]
    assert none.startswith(before)
    assert len(many.splitlines()) - len(none.splitlines()) <= 24


def test_markdown_has_their_words_in_fences_alone() -> None:
    hostile = "@everyone **b** <b>"
    report = noted(Notice("logs/run/train.log", 3, hostile, None, "others", hostile))
    text = render(report, "markdown")
    fences = re.findall(r"^```text\n(.*?)^```$", text, re.M | re.S)
    assert sum(hostile in f for f in fences) == 1
    outside = re.sub(r"^```text\n.*?^```$", "", text, flags=re.M | re.S)
    assert "everyone" not in outside


def test_the_page_has_a_section_of_each() -> None:
    page = render(noted(notice(3), notice(4, owner="others", why="job 9 is another one")), "html")
    for head in ("Also in these logs", "Worth knowing", "job 9 is another one", "text 3 of it"):
        assert page.split("<script", 1)[0].count(head) >= 1


def test_stops_in_order_stand_behind_what_went_wrong(analyze: Callable[..., Report]) -> None:
    """A machine that goes down prints a stop for each service, stronger in its words than a service that failed."""
    work = "May 07 09:1{0}:0{1} node-7 systemd[1]: Started Session {0}{1} of user root.\n"
    lines = [work.format(minute, second) for minute in range(1, 9) for second in range(10)]
    lines.insert(20, "May 07 09:13:00 node-7 systemd[526]: fit.service: Failed with result 'exit-code'.\n")
    lines.insert(60, "May 07 09:17:00 node-7 thermald[412]: terminating on user request ..\n")
    assert [n.cause for n in analyze(journal_log="".join(lines)).notices] == ["code.exception", "stopped.user"]
