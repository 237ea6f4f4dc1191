"""What followed is never told as earlier than its cause, in no format."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from msgspec.structs import replace

from forensics import pipeline
from forensics.database import Database
from forensics.model import Report, Value
from forensics.readers.near_lines import is_by_kernel, uptime_s
from forensics.report import render
from forensics.report.course import consequences, course_steps, delay_text, first_shown, unconfirmed_consequences
from tests.conftest import text_source
from tests.report import made

TITLE = "The notebook kernel died, and the logs do not show why"


def shown(seconds: float | None, source: str = "logs/run/jupyter.log", line: int = 20, doubt: float = 1.0) -> Report:
    """A report whose symptom is shown `seconds` behind its cause; None: without a clock."""
    report = made.report("words")
    root, symptom = report.causes
    time = None if seconds is None else made.START + timedelta(seconds=seconds)
    proof = replace(symptom.evidence[0], source=source, line=line, time=time, time_uncertainty_s=doubt, linked_by=None)
    if seconds is None:
        root = replace(root, evidence=tuple(replace(p, time=None) for p in root.evidence))
    moments = (report.timeline[0], replace(report.timeline[1], time=time, source=source, line=line), *report.timeline[2:])
    return replace(report, causes=(root, replace(symptom, title=TITLE, evidence=(proof,))), timeline=moments)


@pytest.mark.parametrize(
    ("seconds", "doubt", "words"),
    [
        (2.5, 1.0, "2 s later"),  # the cause has a stamp in whole seconds
        (2.5, 4.0, "2 s later, the clocks agree within 4 s"),
        (0.0, 1.0, "at the same time"),
        (0.4, 4.0, "at about the same time, the clocks agree within 4 s"),
    ],
)
def test_what_is_not_surely_earlier_followed(seconds: float, doubt: float, words: str) -> None:
    report = shown(seconds, doubt=doubt)
    (finding,) = consequences(report)
    assert delay_text(finding, report.causes[0]) == words
    assert unconfirmed_consequences(report) == []
    assert not re.search(r"\d \w+ earlier", render(report, "text"))


@pytest.mark.parametrize("seconds", [-2.5, -30.0, -5040.0])
@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_what_is_earlier_did_not_follow(seconds: float, form: str) -> None:
    report = shown(seconds)
    assert consequences(report) == []
    said = render(report, form).split('<script type="application/json"')[0]
    assert not re.search("what followed", said, re.I)
    assert re.search("also reported", said, re.I)
    assert not re.search(r"\d (?:s|min|h|days) (?:earlier|later)", said)
    assert TITLE in said.replace("\n", " ")  # that its reason is not shown stays true


@pytest.mark.parametrize(("source", "line", "before"), [("train", 5, True), ("train", 8, False), ("jupyter", 5, True)])
def test_without_a_clock_the_lines_of_one_source_tell(source: str, line: int, before: bool) -> None:
    report = shown(None, f"logs/run/{source}.log", line)
    assert bool(unconfirmed_consequences(report)) == before
    assert bool(consequences(report)) != before


def test_the_time_is_counted_from_the_first_line_of_the_cause() -> None:
    report = shown(1.0, source="logs/run/train.log", line=8)
    root, symptom = report.causes
    best = replace(root.evidence[0], line=9, time=made.START + timedelta(seconds=5))
    root = replace(root, evidence=(best, root.evidence[0]))
    assert [f.id for f in consequences(replace(report, causes=(root, symptom)))] == [symptom.id]
    assert delay_text(symptom, root) == "1 s later"


@pytest.mark.parametrize(("seconds", "roles"), [(2.5, ["root", "symptom"]), (-30.0, [])])
def test_the_course_begins_with_the_cause(seconds: float, roles: list[str]) -> None:
    assert [s.role for s in course_steps(shown(seconds))] == roles


def test_a_moment_before_the_cause_is_no_step_from_it() -> None:
    report = shown(2.5)
    early = replace(report.timeline[1], time=made.START - timedelta(seconds=9), line=2)
    assert course_steps(replace(report, timeline=(early, *report.timeline[:1], *report.timeline[2:]))) == []


def test_the_causes_own_line_read_once_more_is_no_consequence() -> None:
    """`The distributed job never formed`, at the same time, by the very line that shows the cause."""
    report = made.report()
    root, symptom = report.causes
    again = replace(symptom, evidence=(replace(root.evidence[0], signature=f"{symptom.id}/other", weight="proof"),))
    assert consequences(report) == [symptom]
    repeated = replace(report, causes=(root, again))
    assert (consequences(repeated), unconfirmed_consequences(repeated)) == ([], [])


def test_a_hint_is_no_consequence() -> None:
    """`Sending process 19035 closing signal SIGTERM`, told as the death of another rank."""
    report = made.report()
    root, symptom = report.causes
    hinted = replace(symptom, evidence=tuple(replace(p, weight="hint") for p in symptom.evidence))
    for early in (0.0, -60.0):
        moved = replace(
            hinted, evidence=tuple(replace(p, time=p.time + timedelta(seconds=early)) for p in hinted.evidence if p.time)
        )
        given = replace(report, causes=(root, moved))
        assert (consequences(given), unconfirmed_consequences(given), course_steps(given)) == ([], [], [])


def test_what_stands_hours_before_is_of_another_incident() -> None:
    """A greeter's session that ended at the login, told beside a kill of seven hours later."""
    assert unconfirmed_consequences(shown(-60.0))
    assert (consequences(shown(-25_000.0)), unconfirmed_consequences(shown(-25_000.0))) == ([], [])


def test_one_distance_in_time_is_told() -> None:
    """A kernel that never started: `--57 s-->` on the first screen, `45 s later` below it."""
    report = shown(57.0)
    root, symptom = report.causes
    best = replace(root.evidence[0], line=9, time=made.START + timedelta(seconds=12))
    report = replace(report, causes=(replace(root, evidence=(best, root.evidence[0])), symptom))
    assert delay_text(symptom, report.causes[0]) == "57 s later"
    assert [s.gap for s in course_steps(report)] == ["", "57 s"]


def test_an_interval_is_as_exact_as_its_stamps() -> None:
    report = shown(2.5, source="logs/run/train.log", line=8)
    fine = report.causes[0].evidence[0].time
    assert fine is not None
    root = replace(report.causes[0], evidence=(replace(report.causes[0].evidence[0], time=fine + timedelta(seconds=0.1)),))
    assert delay_text(report.causes[1], root) == "2.4 s later"


@pytest.mark.parametrize(
    ("texts", "facts", "tied"),
    [
        (("[ 12.000001] nfs: server a not responding", "[ 99.000001] INFO: task b blocked"), ({}, {}), True),
        (("[ 12.000001] NVRM: API mismatch", "[ 3999.000001] traps: cheese trap int3"), ({}, {}), False),  # an hour later
        (("Sep 24 08:20:58 pc sh[6235]: initctl: not found", "Sep 24 08:21:03 pc blueman[6574]: ImportError"), ({}, {}), False),
        (("Mar 05 03:40:05 pc kernel: zsh[744]: segfault", "Mar 05 03:40:09 pc kernel: b"), ({"pid": 744}, {"pid": 924}), False),
        (("Mar 05 03:40:05 pc kernel: zsh[744]: segfault", "Mar 05 03:40:09 pc systemd: b"), ({"pid": 744}, {"pid": 744}), True),
    ],
)
def test_on_a_machine_a_symptom_is_tied_to_its_cause(
    texts: tuple[str, str], facts: tuple[dict[str, Value], dict[str, Value]], tied: bool
) -> None:
    """`A package is missing`, told as what followed from a harmless line of a desktop's start."""
    report = shown(None, "logs/run/train.log", 8)
    assert report.subject is not None
    moved = [
        replace(
            f, facts=given, evidence=(replace(f.evidence[0], text=text, by_kernel=is_by_kernel(text), uptime_s=uptime_s(text)),)
        )
        for f, given, text in zip(report.causes, facts, texts, strict=True)
    ]
    machine = replace(report, causes=tuple(moved), subject=replace(report.subject, kind="machine"))
    assert bool(consequences(machine)) == tied
    assert unconfirmed_consequences(machine) == []


@pytest.mark.parametrize(("origin", "told"), [("0000:17:00.0", True), ("0000:65:00.0", False)])
def test_a_link_that_reports_the_lost_device_is_told_beside_it(origin: str, told: bool, analyze: Callable[..., Report]) -> None:
    report = analyze(
        dmesg="[Fri Nov 27 13:11:07 2026] pcieport 0000:16:01.0: AER: Uncorrectable (Fatal) error message received from "
        f"{origin}\n[Fri Nov 27 13:11:08 2026] NVRM: Xid (PCI:0000:17:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen "
        "off the bus.\n"
    )
    assert report.causes[0].id == "gpu_hardware.fallen_off_bus"
    beside = [(f.title, f.evidence[0].line) for f in unconfirmed_consequences(report)]
    assert beside == ([("A PCIe link reported errors", 1)] if told else [])


@pytest.mark.parametrize("rises", [False, True])
def test_the_time_of_a_loss_that_failed_is_that_of_its_first_failure(rises: bool, analyze: Callable[..., Report]) -> None:
    values = [2.0] * 20 + ([2.0 * 10 ** min(6, i) for i in range(1, 30)] if rises else [900.0] + [float("nan")] * 20)
    rows = (f"2026-11-30 00:{i // 60:02}:{i % 60:02},000 INFO step {i} loss {v:.5g}" for i, v in enumerate(values))
    report = analyze(job="\n".join(rows))
    assert report.causes[0].id == "numerics.nan"
    assert first_shown(report) == ("2026-11-30 00:00:20" if rises else "2026-11-30 00:00:21")


@pytest.mark.parametrize("said", ["first", "the logs do not show", "Somebody", "worker", "program", "preempted"])
def test_a_consequence_says_no_more_than_its_line(said: str, knowledge: Database) -> None:
    """`Another rank or node died first`, `Somebody or some script stopped it`, of a launcher that stopped the other ranks."""
    for cause in ("distributed.peer_lost", "process.worker_died", "stopped.user", "stopped.preempted", "code.exception"):
        assert said not in (knowledge.causes[cause].as_consequence or knowledge.causes[cause].title)


GPU_LOST = """\
[81231.113211] pcieport 0000:3a:00.0: AER: Uncorrectable (Fatal) error message received from 0000:3b:00.0
[81231.213211] pcieport 0000:3a:00.0: DPC: containment event, status:0x1f01 source:0x0000
[81231.413781] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
[81231.514000] NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)
[81233.000000] NVRM: Xid (PCI:0000:5e:00): 45, pid=20114, name=python, Ch 00000008
"""


def test_of_a_lost_gpu_the_link_before_and_the_process_on_another_one_are_told(knowledge: Database) -> None:
    text = render(pipeline.analyze([text_source("dmesg.log", GPU_LOST)], "case", knowledge), "text")
    assert "dmesg.log:1  [81231.113211] pcieport 0000:3a:00.0: AER: Uncorrectable" in text
    assert "dmesg.log:5  [81233.000000] NVRM: Xid (PCI:0000:5e:00): 45" in text.partition("\nworth knowing\n")[2]
    assert "Node Reboot Required\n" in text and "gpu_driver.hang" not in text  # the name of a hang, for what is none


def test_faults_of_two_gpus_an_hour_apart_are_two_incidents(analyze: Callable[..., Report]) -> None:
    """Neither is the rival of the other; what one GPU says within minutes is one incident."""
    row = "[Mon Nov 30 {} 2026] NVRM: Xid (PCI:0000:{}:00): {}\n"
    ecc = row.format("08:14:22", "3b", "48, pid=18233, name=python, DBE (double bit error) ECC Error on GPU")
    lost = "79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
    apart, near = (analyze(dmesg=ecc + row.format(at, "86", lost)) for at in ("09:41:08", "08:20:08"))
    assert sorted(i.causes[0] for i in apart.incidents) == ["gpu_hardware.ecc", "gpu_hardware.fallen_off_bus"]
    assert apart.causes[0].probability > 0.95 and len(near.incidents) == 1
