"""Stand-ins for names: the same everywhere, everything that tells who and where, and the key for the owner."""

import pytest
from msgspec.structs import replace

from forensics.model.answers import Change, History, NodeCount
from forensics.report import formats, render, with_stand_ins
from tests.report import made

LINE = (
    "Mar  1 12:00:00 gpu-node17 kernel: user=alice job_name=llama-sft-42 from 10.4.0.17 [2001:db8::7]:29500 "
    "mail bob.smith@corp.example.org at /home/alice/run/train.py, node0231.cluster.local, C:\\Users\\bob.smith\\x"
)


@pytest.fixture
def both():  # type: ignore[no-untyped-def]
    return with_stand_ins(made.report(LINE, case="llama-sft-42"))


@pytest.mark.parametrize("form", formats())
def test_no_format_tells_a_name(both, form: str) -> None:  # type: ignore[no-untyped-def]
    text = render(both[0], form)
    for name in (
        "gpu-node17",
        "alice",
        "carol",
        "llama-sft-42",
        "10.4.0.17",
        "2001:db8::7",
        "bob.smith",
        "corp.example",
        "node0231",
    ):
        assert name not in text, name


def test_the_key_turns_every_stand_in_back(both) -> None:  # type: ignore[no-untyped-def]
    report, key = both
    assert sorted(key.values()) == sorted(
        [
            "gpu-node17",
            "alice",
            "bob.smith",
            "llama-sft-42",
            "10.4.0.17",
            "2001:db8::7",
            "bob.smith@corp.example.org",
            "node0231.cluster.local",
        ]
    )
    text = report.causes[0].evidence[0].text
    for stand_in, name in sorted(key.items(), key=lambda kv: -len(kv[0])):
        text = text.replace(stand_in, name)
    assert text == LINE


def test_stand_ins_are_stable_and_tell_the_kind(both) -> None:  # type: ignore[no-untyped-def]
    report, _ = both
    line = report.causes[0].evidence[0].text
    assert "/home/user-1/run/train.py" in line
    assert "user=user-1" in line
    assert " host-1 kernel:" in line
    assert report.case == "job-1"
    assert report.causes[0].summary == f"It was {line}."
    assert with_stand_ins(report) == (report, {})


def test_facts_and_hosts_of_incidents_are_names_too() -> None:
    report = made.report("killed on node trn7 by someone", case="x")
    report = replace(
        report,
        causes=(replace(report.causes[0], facts={"host": "trn7"}), *report.causes[1:]),
        incidents=(replace(report.incidents[0], hosts=("trn7",)),),
    )
    assert "trn7" not in render(with_stand_ins(report)[0], "json")


def test_the_user_of_an_address_is_a_name() -> None:
    report, key = with_stand_ins(made.report("refused by postgres://carol:pw@127.0.0.1:5432/runs", case="x"))
    assert key == {"user-1": "carol"}
    assert "carol" not in render(report, "json")


def test_words_addresses_of_this_machine_and_public_sites_stay() -> None:
    line = "kernel: user=root at localhost 127.0.0.1 0.0.0.0 https://pytorch.org/docs 08:23:04 0000:3b:00.0 torch 2.4.0"
    report, key = with_stand_ins(made.report(line, case="x"))
    assert key == {}
    assert report.causes[0].evidence[0].text == line


def test_names_that_only_notices_or_the_ending_tell_are_hidden() -> None:
    report = made.report("words", case="x")
    assert report.subject
    ended = ("logs/run/train.log:7: Mar  1 12:00:00 gpu-node17 kernel: Killed process 4711",)
    subject = replace(report.subject, name="llama-sft-42 and tune9-b", outcome_lines=ended)
    notice = replace(report.notices[1], text="Mar  1 12:00:00 gpu-node18 slurmd: x", why="it wrote to /home/carol/run")
    hid, key = with_stand_ins(replace(report, subject=subject, notices=(notice,)))
    names = {"gpu-node17", "gpu-node18", "carol", "llama-sft-42", "tune9-b"}
    assert names <= set(key.values())
    for form in formats():
        text = render(hid, form)
        assert [name for name in names if name in text] == []
    assert hid.subject and hid.subject.name == "job-1 and job-2"


def test_names_of_earlier_attempts_and_of_the_history_are_hidden() -> None:
    report = made.report("words", case="x")
    changes = (Change("node", "trn7, trn8", "trn9", 3, 9), Change("job", "sft17", "sft18", 3, 9))
    told = replace(
        report,
        earlier_attempts=(replace(report.earlier_attempts[0], changes=changes),),
        history=History("e", "s", "similar", 3, node_count=1, nodes=(NodeCount("trn6", 3),)),
    )
    text = render(with_stand_ins(told)[0], "json")
    assert not [name for name in ("trn6", "trn7", "trn8", "trn9", "sft17", "sft18") if name in text]
