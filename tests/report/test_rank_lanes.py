"""The drawing of ranks: runs of equal ranks are one rectangle, odd ranks are marked, nothing of a dump acts in the page."""

import pytest

from forensics.model.ranks import RankPicture
from forensics.ranks import picture
from forensics.ranks.observation import numbers, reason
from forensics.report.page.rank_lanes import rank_lanes
from forensics.report.ranks import ranks_html, ranks_markdown
from tests.ranks.cases import call, dump, group, job


def drawn(ranks: int, odd: int, op: str = "all_reduce") -> RankPicture:
    waiting = [call(1), call(2, op, pending=True)]
    found = picture(job({r: [call(1)] if r == odd else waiting for r in range(ranks)}))
    assert found is not None
    return found


@pytest.mark.parametrize("odd", [0, 700, 1023])
def test_of_1024_ranks_the_odd_one_is_marked_in_a_drawing_of_a_few_rectangles(odd: int) -> None:
    html = rank_lanes(drawn(1024, odd))
    assert html.count("<rect") < 20
    assert f">{odd}</text>" in html and f"<title>rank {odd}: " in html
    assert f"<title>rank {odd}: group_0 (0): last call no. 1 of 2, 1 behind</title>" in html
    assert len(html) < 20_000


def test_a_few_ranks_stand_apart_each_with_its_number() -> None:
    html = rank_lanes(drawn(4, 2)).partition("</figcaption>")[2]
    assert html.count("<rect") == 2 * 4 and html.count('width="246.00"') == 2 * 4
    assert [html.count(f">{text}</text>") for text in ("rank 0", "1", "2", "3")] == [1, 1, 2, 1]  # the odd one also above


def test_the_many_groups_of_one_kind_share_a_lane() -> None:
    dumps = [dump(r, group(str(r // 2), [call(1, pending=True)], [r // 2 * 2, r // 2 * 2 + 1])) for r in range(8)]
    found = picture([*dumps[:7], dump(7, group("3", [], [6, 7]))])
    assert found is not None
    html = rank_lanes(found)
    assert html.count("<text x=") == html.count("font-size=")
    assert "group_3" in html


def test_no_text_of_a_dump_is_markup() -> None:
    evil = '</title><script>alert("x")</script>'
    seen = drawn(3, 1, op=evil)
    for page in (rank_lanes(seen), ranks_html(seen, reason, numbers)):
        assert "<script" not in page


def test_a_page_and_a_table_name_the_rank() -> None:
    seen = drawn(3, 1)
    assert "Rank 1: " in ranks_html(seen, reason, numbers)
    text = ranks_markdown(seen, 5, reason, numbers)
    assert "**Rank 1**" in text and "| 0, 2 | waits in" in text


def test_the_legend_has_each_colour_once_and_no_colour_that_is_not_drawn() -> None:
    legend = rank_lanes(drawn(16, 5)).partition("</figcaption>")[0]
    assert legend.count("var(--symptom)") == legend.count("var(--root)") == 1
    assert "waits in a call; has an unfinished call" in legend and "in step with its group" not in legend
