"""The numbers in the kernel's reports of kills are of whichever group was at its limit, and no curve of a run."""

from collections.abc import Callable
from functools import reduce

import pytest

from forensics.series import Series
from tests.conftest import ROOT

REPORT = (ROOT / "sample_logs" / "oom_cgroup_wall_clock" / "dmesg.log").read_text()
PREFIX = "[Sat Nov 21 08:45:25 2026] "


@pytest.mark.parametrize("prefix", [PREFIX, "", "Nov 21 08:45:25 node7 kernel: [ 3010.693056] "])
def test_kills_of_several_groups_make_no_curve(prefix: str, series_of: Callable[[str], dict[str, Series]]) -> None:
    sizes = [(("521510912", str((n + 3) << 26)), ("512000kB", f"{n + 3}12000kB"), ("24675", f"246{n:02d}")) for n in range(10)]
    reports = [reduce(lambda text, both: text.replace(*both), size, REPORT) for size in sizes]
    own = "".join(f"step {n} rss {500 + n} MiB\n" for n in range(10))
    assert {*series_of("".join(reports).replace(PREFIX, prefix))} == set()
    assert [*series_of(own + "".join(reports).replace(PREFIX, prefix))["rss"].values] == [(500 + n) << 20 for n in range(10)]
