"""The counters of a cgroup are evidence of its limit; those of the whole host are not. Texts made for these tests."""

from collections.abc import Callable

import pytest

from forensics.model import Report
from forensics.readers.base import Record
from forensics.readers.kernel import cgroup_counts
from tests.readers.regions import proven, regions

V1 = "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"
V2 = "low 0\nhigh 0\nmax 5127\noom 2\noom_kill 2\noom_group_kill 0\n"
GREP = "/sys/fs/cgroup/job/memory.events:oom_kill 3\n"
VMSTAT = "drop_pagecache 2\ndrop_slab 2\noom_kill 7\nnuma_pte_updates 0\n"
BROKEN = "concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly\n"


def records(text: str) -> list[Record]:
    return [r for region in regions(text, cgroup_counts.TRIGGER) if (r := proven(cgroup_counts.read(region)))]


@pytest.mark.parametrize(("text", "kills"), [(V1, 1), (V2, 2), (GREP, 3)])
def test_a_groups_count_is_read(text: str, kills: int) -> None:
    (found,) = records(text)
    assert (found.cause, found.weight, found.fields["oom_kills"]) == ("host_memory.oom_cgroup", "strong", kills)


@pytest.mark.parametrize("text", [VMSTAT, V1.replace("oom_kill 1", "oom_kill 0"), "oom_kill 1\n"])
def test_the_hosts_count_and_none_tell_nothing(text: str) -> None:
    assert records(text) == []


def test_a_worker_that_vanished_is_explained_by_the_count(analyze: Callable[..., Report]) -> None:
    assert analyze(job_log=BROKEN).causes[0].id == "process.worker_died"
    report = analyze(job_log=BROKEN, memory_events=V2)
    assert report.causes[0].id == "host_memory.oom_cgroup"
    assert report.causes[0].evidence[0].text == "oom_kill 2"
