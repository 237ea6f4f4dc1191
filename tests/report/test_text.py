"""The text report: first screen, width, colours, short names, folded notes."""

import re
from datetime import timedelta

import pytest
from msgspec.structs import replace

from forensics.core.text import ANSI
from forensics.database import Database
from forensics.model import Warning
from forensics.model.answers import OUTCOME_LINE
from forensics.readers.words import continues
from forensics.report import Style, course, overview, render
from forensics.report.course import course_steps
from forensics.report.curves import sparkline
from forensics.report.formats.text import is_short
from forensics.report.paths import Paths
from forensics.report.phrases import (
    headline,
    is_guess,
    odds_text,
    percent_text,
    prompt,
    time_between,
    warning_notes,
    what_happened,
)
from forensics.report.subjects import ending_sentence
from tests.report import made
from tests.report.samples import CASES, sample

FIRST_SCREEN = 24


@pytest.mark.seconds
@pytest.mark.parametrize("case", CASES)
def test_the_first_screen_answers_what_where_when_and_what_to_do(case: str, knowledge: Database) -> None:
    report = sample(case, knowledge)
    rows = render(report, "text", Style(width=80)).splitlines()[:FIRST_SCREEN]
    screen = " ".join(" ".join(rows).split())
    first = report.causes[0]
    assert rows[0].startswith(headline(report))
    assert str(ending_sentence(report))[:60] in screen
    if is_guess(report):
        assert percent_text(first.probability) not in rows[0]
        assert first.title not in rows[0]
        return
    assert rows[0].endswith(odds_text(report))
    assert first.id in screen
    if is_short(report):
        assert rows[0] and len("\n".join(rows).split("\n\n")[0].splitlines()) <= 4  # three, if its end is told in one
        return
    assert " ".join(first.summary.split()[:5]) in screen
    for label, told in (("where", overview.location(report)), ("do first", overview.do_first(report))):
        assert bool(told) == any(row.startswith(label + " ") for row in rows), label
        assert told[:50] in screen
    if report.verdict != "no_crash":
        assert course.first_shown(report) in screen
        if first.evidence and first.evidence[0].weight != "hint":
            assert any(re.match(r"> \S+:\d+", row) for row in rows)


@pytest.mark.seconds
@pytest.mark.parametrize("case", CASES)
def test_nothing_but_what_is_to_be_copied_is_wider_than_asked(case: str, knowledge: Database) -> None:
    report = sample(case, knowledge)
    settings = {command for cause in report.causes for advice in cause.remediations for command in advice.commands}
    for width in (60, 80, 100, 140):
        for row in render(report, "text", Style(width=width)).splitlines():
            copied = re.search(r"\$ |>>> |https://|^> \S+:\d+$|^  \S+$|sample_logs/", row) or row.strip() in settings
            assert len(row) <= width or copied, (width, row)


def test_colours_change_nothing_but_the_colours() -> None:
    report = made.report()
    plain, coloured = (render(report, "text", Style(colour=c)) for c in (False, True))
    assert "\x1b" not in plain
    assert "\x1b[" in coloured
    assert ANSI.sub("", coloured) == plain


def test_a_terminal_gets_links_to_files_that_exist(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "logs" / "run").mkdir(parents=True)
    (tmp_path / "logs" / "run" / "train.log").write_text("x")
    monkeypatch.chdir(tmp_path)
    text = render(made.report(), "text", Style(colour=True))
    assert (tmp_path / "logs" / "run" / "train.log").as_uri() in text
    assert "jupyter.log\x1b\\" not in text


@pytest.mark.parametrize("style", [Style(), Style(colour=True)])
def test_nothing_from_a_log_moves_a_cursor(style: Style) -> None:
    hostile = "\x1b[2J\x1b]0;title\x07\r\x08\x9b31m‮txt.exe"
    plain = render(made.report("words"), "text", style)
    text = render(made.report(hostile), "text", style)
    assert set(re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)) <= set(re.findall(r"[\x1b]", plain))
    assert "\\x1b[2J" in text


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("pid 4711 of rank 3 (logs/run/train.log:58)", "linked by pid 4711 of rank 3 (train.log:58)"),
        ("time, 2.5 s apart, known within 4 s", "linked by time alone"),
        ("time, 0.0 s apart, on n1 and n2", "linked by time alone, on n1 and n2"),
    ],
)
def test_a_link_is_told_with_its_line_and_time_only_once(link: str, words: str) -> None:
    report = made.report()
    root, symptom = report.causes
    text = render(
        replace(report, causes=(root, replace(symptom, evidence=(replace(symptom.evidence[0], linked_by=link),)))), "text"
    )
    assert re.search(rf"^ +{re.escape(words)}$", text, re.MULTILINE)


def test_a_shared_folder_is_told_once() -> None:
    report = made.report()
    names = [f"data/jobs/4711/node{i}/dmesg.log" for i in range(3)]
    paths = Paths.of(replace(report, sources=tuple(replace(report.sources[0], name=n) for n in names)))
    assert paths.shared == ""  # 15 characters are not worth it
    deeper = [f"data/jobs/471100/node{i}/dmesg.log" for i in range(3)]
    paths = Paths.of(replace(report, sources=tuple(replace(report.sources[0], name=n) for n in deeper)))
    assert paths.shared == "data/jobs/471100/"
    assert paths.place(deeper[1], 5) == "node1/dmesg.log:5"


def test_the_same_note_for_all_sources_is_one_line() -> None:
    report = made.report()
    named = [s.name for s in report.sources]
    report = replace(report, warnings=(*(Warning("zone", "no zone", n) for n in named), Warning("year", "no year", named[0], 4)))
    assert warning_notes(report) == [("all sources", "no zone"), (f"{named[0]}:4", "no year")]


def test_the_strip_tells_when_what_happened_where() -> None:
    course = course_steps(made.report())
    assert [(s.source, s.role, s.gap) for s in course] == [
        ("logs/run/train.log", "root", ""),
        ("logs/run/jupyter.log", "symptom", "2 s"),
    ]
    text = render(made.report(), "text")
    assert "when      2026-03-01 12:00:00 train.log: A memory limit was hit\n" in text
    assert "          --2 s--> jupyter.log: The notebook kernel died\n" in text


def test_no_order_is_told_where_clocks_cannot_be_compared() -> None:
    report = made.report()
    lanes = tuple(replace(m, lane=m.source) for m in report.timeline)
    assert course_steps(replace(report, timeline=lanes)) == []
    without = tuple(replace(m, time=None) for m in report.timeline)
    assert course_steps(replace(report, timeline=without)) == []


def test_what_happened_is_four_sentences_at_most() -> None:
    report = made.report()
    first = replace(report.causes[0], summary="One of 3.11. Two e.g. 5. Three. Four (4). Five. Six.")
    assert what_happened(replace(report, causes=(first,))) == "One of 3.11. Two e.g. 5. Three. Four (4)."


def test_a_curve_is_drawn_small_with_lost_readings_marked() -> None:
    curve = made.report().curves[0]
    drawn = sparkline(replace(curve, points=((1, 0.0), (2, None), (3, 7.0))))
    assert drawn == "▁×█"
    assert len(sparkline(curve)) <= 32
    assert sparkline(replace(curve, points=tuple((i, float(i == 99)) for i in range(100))), 10)[-1] == "█"


def test_a_loss_over_many_powers_of_ten_is_drawn_by_its_logarithm() -> None:
    curve = replace(made.report().curves[0], kind="loss", points=tuple((i, 10.0**i) for i in range(8)))
    assert sparkline(curve) == "▁▂▃▄▅▆▇█"
    assert sparkline(replace(curve, kind="memory")) == "▁▁▁▁▁▁▂█"


def test_gaps_are_told_in_words() -> None:
    from datetime import timedelta

    said = [time_between(made.START, made.START + timedelta(seconds=s)) for s in (0.71, 12, 130, 9000, 200_000)]
    assert said == ["0.7 s", "12 s", "2 min", "2 h", "2 days"]


def test_lines_that_only_show_how_it_ended_prove_no_cause() -> None:
    report = made.report("words")
    shown = replace(report.causes[0].evidence[0], signature=OUTCOME_LINE, weight="hint")
    first = replace(report.causes[0], evidence=(shown,), probability=0.3)
    healthy = replace(first, id="none.healthy", role="contributing", title="Nothing here crashed")
    for form, head in (("text", "how it ended"), ("markdown", "### How it ended"), ("html", ">How it ended")):
        said = render(replace(report, verdict="undetermined", causes=(first, healthy)), form)
        said = said.split('<script type="application/json"')[0].split('<pre id="brief"')[0]
        assert "No cause was recognised" in said
        assert head in said
        assert "What to do" not in said
        assert "what to do" not in said
        assert "Nothing here crashed" not in said


@pytest.mark.parametrize(("lacks", "told"), [("year", "Mar 01 12:00:00"), ("date", "12:00:00"), ("zone", "2026-03-01 12:00:00")])
def test_a_year_or_date_that_no_log_gives_is_not_told(lacks: str, told: str) -> None:
    report = made.report()
    assumed = Warning(lacks, "it is assumed", "logs/run/train.log")
    assert course.first_shown(replace(report, warnings=(assumed,))) == told
    dated = replace(report.sources[1], first_time=made.START, clock="wall")
    with_another = replace(report, sources=(report.sources[0], dated), warnings=(assumed,))
    assert course.first_shown(with_another) == "2026-03-01 12:00:00"  # the other source gives it
    for form in ("text", "markdown", "html"):
        shown = render(replace(report, warnings=(assumed,)), form).partition("timeline")[0]
        assert (lacks == "zone") == ("2026-03-01 12:00:0" in shown), form


def test_a_line_without_a_stamp_of_its_own_is_told_as_after_the_stamp_above_it() -> None:
    report = made.report()
    cause = report.causes[0]
    between = replace(cause.evidence[0], time_uncertainty_s=19.2)
    assert course.first_shown(replace(report, causes=(replace(cause, evidence=(between,)),))) == "after 2026-03-01 12:00:00"
    again = replace(cause.evidence[0], line=939, time=None)  # printed again, at an unknown time
    assert course.first_shown(replace(report, causes=(replace(cause, evidence=(again, *cause.evidence)),))).startswith("after ")
    symptom = report.causes[1].evidence[0]
    assert course.gap_text(between, symptom) == "up to 2 s"
    assert course.gap_text(cause.evidence[0], replace(symptom, time_uncertainty_s=9.0)) == "at least 2 s"
    assert course.gap_text(between, replace(symptom, time_uncertainty_s=9.0)) == ""
    near = replace(cause, when="between 11:59:58 and 12:00:03")
    assert course.first_shown(replace(report, causes=(near,))) == near.when


def test_a_gap_is_as_exact_as_the_stamps() -> None:
    fine = made.START.replace(microsecond=250000)
    assert course.exact_gap(fine, fine + timedelta(seconds=2.4)) == "2.4 s"
    assert course.exact_gap(made.START, fine + timedelta(seconds=2.4)) == "2 s"
    assert course.exact_gap(made.START, fine) == ""


def test_the_time_told_is_that_of_the_trouble_shown_not_of_the_speed_or_the_attempt_before_it() -> None:
    cause = made.report().causes[0]
    early, change, last = (replace(cause.evidence[0], line=n, time=made.START + timedelta(hours=n)) for n in (1, 3, 4))
    series = tuple(replace(p, signature="series/starved") for p in (last, change, early))
    assert course.shown_proof(replace(cause, facts={"slower_by": 26.4}, evidence=series)) == series[1]
    assert course.shown_proof(replace(cause, evidence=(last, change, early))) == last
    soon = replace(early, time=last.time and last.time - timedelta(seconds=12))
    assert course.shown_proof(replace(cause, evidence=(last, soon))) == soon


def test_where_no_clock_is_known_seconds_after_boot_are_told() -> None:
    report = made.report()
    proof = replace(
        report.causes[0].evidence[0], time=None, text="[ 9120.213456] Killed process 1917 (python3)", uptime_s=9120.213456
    )
    first = replace(report.causes[0], evidence=(proof,))
    sources = tuple(replace(s, clock="mono") for s in report.sources)
    assert course.first_shown(replace(report, causes=(first,), sources=sources)) == "2 h 32 min after boot"
    early = replace(first, evidence=(replace(proof, text="<6>[   12.412345] Killed process 1917", uptime_s=12.412345),))
    assert course.first_shown(replace(report, causes=(early,), sources=sources)) == "12.4 s after boot"
    assert course.first_shown(replace(report, causes=(first,))) == ""  # a number in brackets of a log that is no kernel's


def test_where_no_cause_is_proven_the_line_that_shows_the_end_is_to_be_read() -> None:
    first = made.report().causes[0]
    shown = replace(made.proof("src/checker.rs:105: no such variant", line=16), signature=OUTCOME_LINE, weight="hint")
    unproven = replace(first, evidence=(shown,), remediations=(), where="src/checker.rs:105")
    report = replace(made.report(), verdict="undetermined", causes=(unproven,))
    assert is_guess(report)
    assert overview.do_first(report) == "Read train.log:16 and the lines around it"
    assert overview.location(report) == "src/checker.rs:105"


def test_a_message_of_several_lines_is_quoted_to_its_end() -> None:
    assert continues("ValueError: the two must match, but found", "- evaluation: STEPS")
    assert continues("RuntimeError: Error(s) in loading state_dict for Net:", "\tsize mismatch for 1.weight: copying a param")
    assert continues("AssertionError: train_batch_size is not equal to", "64 != 4 * 8")
    assert not continues("ValueError: the two must match.", "- done")
    assert not continues("KeyError: 'a'", '  File "train.py", line 3, in main')
    assert not continues("Killed", "ann@node4:~$ ls")


def test_a_good_end_is_three_lines(knowledge: Database) -> None:
    rows = render(sample("healthy_train", knowledge), "text", Style(width=100)).splitlines()
    assert len(rows) == 3
    assert rows[2].startswith("read") and "78 lines in train.log" in rows[2]
    full = render(sample("healthy_train", knowledge), "text", Style(width=100, every_incident=True))
    assert "what was looked at" in full


def test_the_zone_is_noted_only_where_zones_differ_or_were_guessed(knowledge: Database) -> None:
    report = sample("jupyter_oom", knowledge)
    assert "UTC is assumed" not in render(report, "text")
    first, *rest = report.sources
    assert "UTC is assumed" in render(replace(report, sources=(replace(first, clock="wall+zone"), *rest)), "text")


def test_a_frame_of_the_kernel_is_no_proof(knowledge: Database) -> None:
    evidence = sample("jupyter_oom", knowledge).causes[0].evidence
    frames = [p for p in evidence if re.search(r"\+0x[0-9a-f]+/0x", p.text)]
    assert frames and {p.weight for p in frames} == {"hint"}
    assert evidence[0] not in frames


@pytest.mark.parametrize(
    ("before", "command"),
    [
        ("$ ", "CUDA_VISIBLE_DEVICES=0 python train.py"),
        ("$ ", "[ -f core ] && gdb python core"),
        ("$ ", "if [ -d out ]; then ls out; fi"),
        ("$ ", "$(command -v mpirun) -np 2 hostname"),
        ("$ ", "free -m"),
        (">>> ", "[n for n, p in model.named_parameters() if not torch.isfinite(p).all()]   # PyTorch"),
        (">>> ", "(loss / 2).backward()   # and optimizer.step() at every second batch"),
        (">>> ", "@torch.compiler.disable"),
        (">>> ", 'tokens["input_ids"]'),
        (">>> ", "if self.file is None: self.file = h5py.File(self.path)   # at the top of __getitem__"),
        ("", "startupProbe: {httpGet: {path: /health, port: 8000}, periodSeconds: 10}"),
        ("", "val_size: 0.1"),
        ("", '"zero_optimization": {"stage": 2}'),
        ("", "#SBATCH --nodes=1"),
        ("", "--tensor-model-parallel-size 1"),
        ("", "%pip install numpy"),
        ("", "data.max_prompt_length=2048"),
    ],
)
def test_what_stands_before_a_command_tells_where_it_is_typed(before: str, command: str) -> None:
    assert prompt(command) == before
