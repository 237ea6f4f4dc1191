"""Attempts of a lane, how it ends, and what stands behind an observation. All logs are made for these tests."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forensics import outcome
from forensics.database import Database
from forensics.model.verdicts import Aftermath, Lane
from forensics.outcome import digest
from forensics.outcome.digest import IN_TAILS, TAIL_LINES
from tests.outcome.made import lanes_of, scan_of, seen_at

STEPS = [f"step {i} loss 0.{90 - i}" for i in range(1, 41)]
ERROR = "OSError: could not read the shard"


def log(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def own(text: str, knowledge: Database) -> Lane:
    return lanes_of(text, knowledge)["job train.log"]


def aftermath_of(text: str, number: int, knowledge: Database) -> Aftermath:
    """What stands behind line `number` of `text`."""
    seen = seen_at(text, number)
    return lanes_of(text, knowledge, [seen])["job train.log"].aftermath[number, seen.kind]


def test_work_after_an_error_is_counted_with_its_last_line(knowledge: Database) -> None:
    text = log(*STEPS[:20], ERROR, *STEPS[20:])
    after = aftermath_of(text, 21, knowledge)
    assert (after.lines_after, after.repeated, after.progress, after.trouble) == (20, 20, 20, 0)
    assert after.repeated_line == 41


def test_lines_with_new_templates_do_not_show_that_the_program_continued(knowledge: Database) -> None:
    text = log(*STEPS, ERROR, "collecting what is left", "the queue holds nothing", "bye to everybody")
    after = aftermath_of(text, 41, knowledge)
    assert (after.lines_after, after.repeated, after.progress) == (3, 0, 0)


def test_lines_without_words_do_not_show_that_the_program_continued(knowledge: Database) -> None:
    assert own(log("7", "8", ERROR, "9", "10"), knowledge).digest.again_after_trouble == 0
    assert own(log(*STEPS[:2], ERROR, *STEPS[2:4]), knowledge).digest.again_after_trouble == 2
    assert own(log("shards read, 3 errors", "shards read, 0 errors"), knowledge).digest.again_after_trouble == 0


def test_a_good_end_is_shown_by_its_lines(knowledge: Database) -> None:
    found = own(log(*STEPS, "Training completed successfully", "bye"), knowledge)
    assert [line.number for line in found.good_lines] == [41]


@pytest.mark.parametrize(("again", "boots"), [(0.0, 2), (900.0, 1)])
def test_a_kernel_begins_anew_where_its_clock_does(again: float, boots: int, knowledge: Database) -> None:
    """Its drivers repeat the messages with which a part of its log begins."""
    said = ("mine0: link is up and quiet", "mine1: link is up and quiet", "mine2: link is up and quiet")
    rows = [
        f"[{start + i:12.6f}] {text}"
        for start in (100.0, again)
        for i, text in enumerate((*said, "cart 7 rolls", "cart 8 rolls"))
    ]
    (found,) = lanes_of(log(*rows), knowledge, layout="dmesg").values()
    assert (found.kind, len(found.attempts)) == ("kernel", boots)


def test_each_cell_of_a_notebook_is_an_attempt(knowledge: Database) -> None:
    cells = log(*(line for n in (1, 2, 3) for line in (f"In [{n}]:", f"fit(model_{n})", "done with it")))
    for source_format, count in (("notebook", 3), (None, 1)):
        found = lanes_of(cells, knowledge, source_format=source_format)["job train.log"]
        assert len(found.attempts) == count


def test_of_a_long_log_the_lines_between_the_samples_count(knowledge: Database) -> None:
    head, tail = log(*STEPS).encode(), log("step 1000 loss 0.1").encode()
    short = scan_of(log(*STEPS))
    for sample, lines in ((((1, head),), 40), (((1, head), (1000, tail)), 1000)):
        (found,), _ = outcome.split_lanes(replace(short, sample=sample, lines=lines), "", (), outcome.line_classes(knowledge))
        assert found.digest.lines == lines


def test_lines_of_another_program_do_not_count_as_lines_after(knowledge: Database) -> None:
    """A log of a job that died, with the host's services logging on behind it."""
    host = [f"Aug 22 03:00:{i:02d} node-7 cron[9]: (root) CMD (true)" for i in range(60)]
    text = log(*STEPS, "torch.OutOfMemoryError: CUDA out of memory", *host)
    after = aftermath_of(text, 41, knowledge)
    assert (after.lines_after, after.repeated, after.progress) == (0, 0, 0)


def test_a_launchers_restart_begins_an_attempt_of_each_rank(knowledge: Database) -> None:
    raised = "[rank1]: RuntimeError: the object store answered 503"
    text = log(*STEPS[:9], raised, "W1121 api.py:900] restarting worker group, torchelastic restart 1 of 3", *STEPS[9:])
    seen = seen_at(text, 10)
    lane = lanes_of(text, knowledge, [seen])["rank 1"]
    assert (lane.aftermath[10, seen.kind].lines_after, lane.aftermath[10, seen.kind].later_attempts) == (0, 1)
    assert lane.superseded
    without = log(*STEPS[:9], raised, *STEPS[9:])
    assert lanes_of(without, knowledge, [seen_at(without, 10)])["rank 1"].aftermath[10, seen.kind].later_attempts == 0


def test_what_says_that_it_goes_on_or_stands_next_to_such_a_line_is_handled(knowledge: Database) -> None:
    said = log(*STEPS[:9], "WARNING could not read shard 7, retrying in 1 s", *STEPS[9:])
    assert aftermath_of(said, 10, knowledge).handled_line == 10
    near = log(*STEPS[:9], ERROR, "will try again with the next mirror", *STEPS[9:])
    assert aftermath_of(near, 10, knowledge).handled
    far = log(*STEPS[:9], ERROR, *STEPS[9:20], "will try again with the next mirror", *STEPS[20:])
    assert not aftermath_of(far, 10, knowledge).handled
    announced = log(*STEPS[:8], "will try again with the next mirror", ERROR, *STEPS[8:])
    assert aftermath_of(announced, 10, knowledge).handled_line == 9
    long_before = log(*STEPS[:2], "will try again with the next mirror", *STEPS[2:9], ERROR, *STEPS[9:])
    assert not aftermath_of(long_before, 11, knowledge).handled


@pytest.mark.parametrize(
    ("line", "low"),
    [
        ("2025-08-22 03:00:00,000 WARNING train: could not read", True),
        ("2025-08-22 03:00:00,000 INFO train: could not read", True),
        ("2025-08-22 03:00:00,000 ERROR train: could not read", False),
        ("/home/u/a.py:7: UserWarning: could not read", True),
        ("OSError: could not read", False),
    ],
)
def test_the_records_own_level_tells_whether_its_severity_is_low(knowledge: Database, line: str, low: bool) -> None:
    assert aftermath_of(log("begin of it", line), 2, knowledge).low_severity is low


def test_only_the_first_line_of_the_evidence_tells_its_level(knowledge: Database) -> None:
    text = log("begin of it", "2025-08-22 03:00:00,000 ERROR train: x", "2025-08-22 03:00:01,000 INFO train: it was")
    seen = seen_at(text, 2)
    both = replace(seen, proofs=(replace(seen.proofs[0], text="could not read"), *seen_at(text, 3).proofs))
    (lane,) = lanes_of(text, knowledge, [both]).values()
    assert lane.aftermath[2, both.kind].low_severity is False


def test_the_share_of_trouble_at_the_end_is_known_for_the_last_1_3_10_and_50_lines(knowledge: Database) -> None:
    (lane,) = lanes_of(log(*STEPS, *STEPS, ERROR, "bye to everybody", ERROR), knowledge).values()
    at = IN_TAILS.index("trouble") * len(TAIL_LINES)
    assert lane.digest.ends_with[at : at + len(TAIL_LINES)] == pytest.approx((1.0, 2 / 3, 2 / 10, 2 / 50))


def test_only_templates_from_before_the_trouble_count_as_repeated_after_it() -> None:
    assert digest._repeated_after([0, 1, 0], 1) == 1
    assert digest._repeated_after([0, 1, 1], 1) == 0


def test_without_a_good_end_there_is_no_line_of_one(knowledge: Database) -> None:
    after = aftermath_of(log(*STEPS, ERROR), 41, knowledge)
    assert (after.good, after.good_line) == (0, 0)


def test_a_good_end_behind_trouble_is_told_with_its_line(knowledge: Database) -> None:
    text = log(*STEPS, ERROR, "Training completed in 3h", "bye to everybody")
    after = aftermath_of(text, 41, knowledge)
    assert (after.good, after.good_line) == (1, 42)


@pytest.mark.parametrize(
    "again",
    [
        pytest.param("Resuming from checkpoint-500", id="it is resumed"),
        pytest.param("Starting training", id="it is started"),
        pytest.param("-- Reboot --", id="the machine is"),
    ],
)
def test_a_line_that_starts_a_run_begins_an_attempt(knowledge: Database, again: str) -> None:
    text = log("reading the configuration file", *STEPS[:20], ERROR, again, *STEPS[20:])
    lane = own(text, knowledge)
    assert [(a.number, a.first_line, a.last_line) for a in lane.attempts] == [(1, 1, 22), (2, 23, 43)]
    assert aftermath_of(text, 22, knowledge).later_attempts == 1


def test_a_repeated_banner_and_a_restarted_counter_begin_an_attempt(knowledge: Database) -> None:
    banner = "loading the data set from disk"
    assert len(own(log(banner, *STEPS[:9], "Killed", banner, "a line between", *STEPS[:9]), knowledge).attempts) == 2
    assert len(own(log("some text here", "more of it", "and more", *STEPS[:9], *STEPS[:9]), knowledge).attempts) == 2
    assert len(own(log("some text here", "more of it", "and more", *STEPS), knowledge).attempts) == 1
    for last, attempts in ((2, 1), (3, 2)):  # two runs of two steps each may be two loops of one run
        assert (
            len(own(log("some text here", "more of it", "and more", *STEPS[:last], *STEPS[:9]), knowledge).attempts) == attempts
        )


def test_a_repeated_table_head_begins_no_attempt_while_steps_count_on(knowledge: Database) -> None:
    """The heading of a table of progress is printed again and again; a program that starts anew counts anew."""
    head = ["column names of the table", "---- ---- ---- ----", "units of the columns here", "another line of it"]
    again = [line for i in range(0, 40, 10) for line in (*head, *STEPS[i : i + 10])]
    assert len(own(log(*again), knowledge).attempts) == 1
    assert len(own(log(*head, *STEPS[:9], "Killed", *head, *STEPS[:9]), knowledge).attempts) == 2
    assert len(own(log(*STEPS), knowledge).attempts) == 1  # the first lines are steps themselves


def test_a_repeated_short_first_line_after_a_traceback_begins_an_attempt(knowledge: Database) -> None:
    trace = [
        "Traceback (most recent call last):",
        '  File "/home/u/train.py", line 3, in load',
        "    load(path)",
        "KeyError: 'label'",
    ]
    runs = log("reading 2000 rows", *trace, "reading 2000 rows", *STEPS[:9], *trace)
    assert [(a.first_line, a.last_line) for a in own(runs, knowledge).attempts] == [(1, 5), (6, 19)]
    assert len(own(log("reading 2000 rows", *STEPS[:9], "reading 2000 rows", *STEPS[9:12]), knowledge).attempts) == 1


def test_a_lanes_end_is_told_in_lines_from_it(knowledge: Database) -> None:
    digest = own(log(*STEPS, ERROR, "Training completed in 3h", "bye to everybody"), knowledge).digest
    assert (digest.lines, digest.looked_at, digest.trouble, digest.good, digest.progress) == (43, 43, 2, 1, 3)
    assert (digest.trouble_count, digest.good_count, digest.traceback, digest.start) == (1, 1, -1, -1)
    assert digest.progress_count == 40


def test_a_traceback_is_found_and_what_repeats_behind_it_is_counted(knowledge: Database) -> None:
    trace = ["Traceback (most recent call last):", '  File "a.py", line 3, in load', "KeyError: 'label'"]
    digest = own(log(*STEPS[:9], *trace, *STEPS[9:12]), knowledge).digest
    assert (digest.traceback, digest.traceback_count, digest.again_after_traceback) == (5, 1, 3)


def test_trouble_lines_leave_out_lines_that_show_no_end(knowledge: Database) -> None:
    lane = own(log(ERROR, *STEPS[:3], "corrupt image 17.jpg, skipping", "worker 3 died", *STEPS[3:6]), knowledge)
    assert [(x.number, x.text) for x in lane.trouble_lines] == [(1, ERROR), (6, "worker 3 died")]
    assert [x.text for x in lane.last_lines] == ["corrupt image 17.jpg, skipping", "worker 3 died", *STEPS[3:6]]


def test_a_bar_that_was_redrawn_is_read_by_its_last_frame(knowledge: Database) -> None:
    bar = "\r".join(f" {i}%|#| {i}/100 [00:01<00:09, 9it/s]" for i in range(99))
    lane = own(log("begin of it all", bar + "\rRuntimeError: no room left"), knowledge)
    assert lane.trouble_lines[-1].text == "RuntimeError: no room left"


def test_an_empty_source_has_no_lane_and_an_observation_still_finds_one(knowledge: Database) -> None:
    assert lanes_of("", knowledge) == {}
    seen = seen_at(ERROR, 1)
    assert lanes_of("", knowledge, [seen])["job train.log"].aftermath[1, seen.kind].lines_after == 0


@pytest.mark.seconds
@given(
    st.lists(
        st.sampled_from([*STEPS[:3], ERROR, "", "[rank1]: step 1 of it", "Killed", "Training completed", "  at x"]), max_size=30
    )
)
def test_every_line_is_in_one_lane_and_attempts_follow_each_other(knowledge: Database, lines: list[str]) -> None:
    text = log(*lines)
    found = lanes_of(text, knowledge)
    assert sum(lane.digest.lines for lane in found.values()) == sum(bool(line.strip()) for line in lines)
    for lane in found.values():
        assert all(a.last_line < b.first_line for a, b in zip(lane.attempts, lane.attempts[1:], strict=False))
        assert [a.number for a in lane.attempts] == list(range(1, len(lane.attempts) + 1))
        assert all(-1 <= d < lane.digest.lines for d in (lane.digest.trouble, lane.digest.good, lane.digest.progress))


def test_attempts_after_the_last_trouble_are_counted(knowledge: Database) -> None:
    restart = "Restarting the training from checkpoint-4"
    assert own(log(*STEPS, ERROR, *STEPS[:5]), knowledge).digest.attempts_after_trouble == 1  # the steps count from 1 again
    assert own(log(*STEPS, ERROR, "bye to everybody"), knowledge).digest.attempts_after_trouble == 0
    assert own(log(*STEPS, restart, ERROR), knowledge).digest.attempts_after_trouble == 0
    assert own(log(*STEPS), knowledge).digest.attempts_after_trouble == -1


@pytest.mark.parametrize(
    ("before", "in_record"),
    [
        (["2026-01-02 03:04:05,123 ERROR request 4 failed"], 1),
        (["2026-01-02 03:04:05,123 ERROR request 4 failed", "  GET /x", "  from 127.0.0.1"], 1),
        (["2026-01-02 03:04:05,123 INFO request 4 is served"], 0),
        (["request 4 is served"], 0),
    ],
)
def test_a_traceback_in_a_logger_s_record_is_told_from_a_bare_one(before: list[str], in_record: int, knowledge: Database) -> None:
    trace = ["Traceback (most recent call last):", '  File "a.py", line 3, in load', "KeyError: 'x'"]
    digest = own(log(*STEPS, *before, *trace), knowledge).digest
    assert (digest.traceback_in_record, digest.trouble_in_record) == (in_record, 0)


def test_a_requeued_job_begins_another_attempt(knowledge: Database) -> None:
    requeued = "slurmstepd-n1: error: *** JOB 50 ON n1 CANCELLED AT 2026-11-22T21:53:23 DUE TO JOB REQUEUE ***"
    lane = own(
        log("epoch 0 loss 1.0", "epoch 1 loss 0.9", "epoch 2 loss 0.8", "epoch 3 loss 0.7", requeued, *STEPS[:9]), knowledge
    )
    assert len(lane.attempts) >= 2
    assert lane.digest.trouble == lane.digest.run_failed == -1


FAREWELLS = {
    "wandb": ("wandb:", "wandb: View run calm-lake-3 at: https://example.org/r/1", "wandb: Find logs at: ./wandb/run-1/logs"),
    "mlflow": ("🏃 View run calm at: http://example.org/r/1", "🧪 View experiment at: http://example.org/e/1"),
    "comet": ("COMET INFO: Comet.ml Experiment Summary", "COMET INFO:   Data:"),
    "neptune": ("[neptune] [info   ] Shutting down background jobs", "[neptune] [info   ] All 0 operations synced"),
}


@pytest.mark.parametrize("tracker", FAREWELLS)
def test_the_farewell_of_a_tracker_stands_behind_the_end_and_is_none(tracker: str, knowledge: Database) -> None:
    lane = own(log(*STEPS, ERROR, *FAREWELLS[tracker]), knowledge)
    assert lane.digest.trouble == 0
    assert lane.last_lines[-1].text == ERROR


@pytest.mark.parametrize(
    "last",
    [
        (*STEPS, *FAREWELLS["wandb"]),
        (ERROR, STEPS[0], *FAREWELLS["wandb"]),
        (*STEPS, "wandb: ERROR Error while calling W&B API: context deadline exceeded", *FAREWELLS["wandb"]),
        (*STEPS, ERROR, "wandb: Waiting for W&B process to finish... (success).", *FAREWELLS["wandb"]),
    ],
    ids=["no error", "work behind the error", "the tracker's own error", "it tells of a good end"],
)
def test_elsewhere_the_farewell_is_the_end_of_the_log(last: tuple[str, ...], knowledge: Database) -> None:
    lane = own(log(*last), knowledge)
    assert lane.digest.trouble != 0
    assert lane.last_lines[-1].text == FAREWELLS["wandb"][-1]


TIMES = ["", "real\t126m14.364s", "user\t4192m21.269s", "sys\t87m3.746s"]


@pytest.mark.parametrize(
    ("runs", "count"),
    [
        ([["fit: fold 1 of the data", *TIMES], ["fit: fold 2 of the data", "KeyError: 'x'", *TIMES]], 2),
        ([["fetch the data", *TIMES], ["fit: fold 2 of the data", "KeyError: 'x'", *TIMES]], 1),
        ([["fit: fold 1 of the data", "KeyError: 'x'", *TIMES], ["fit: fold 2 of the data"]], 1),
    ],
    ids=["of the same lines", "of other lines", "not measured itself"],
)
def test_a_command_that_time_measures_behind_another_one_is_an_attempt(
    runs: list[list[str]], count: int, knowledge: Database
) -> None:
    assert len(own(log("loading what all need", *(x for run in runs for x in run)), knowledge).attempts) == count


@pytest.mark.parametrize(
    ("behind", "number"),
    [([], 41), (["main.main", "\t/src/cmd/main.go:167"], 41), (["main.main", "step 41 loss 0.1"], 0)],
    ids=["nothing", "its stack", "work"],
)
def test_the_error_that_ends_a_log_may_have_its_stack_behind_it(behind: list[str], number: int, knowledge: Database) -> None:
    found = own(log(*STEPS, ERROR, *behind), knowledge).last_error
    assert (found.number if found else 0) == number


RECORDS = [f"2026-11-21T00:06:{i}.812Z  INFO ingest: made module {'abcdefghij'[i - 10] * 3}" for i in range(10, 20)]
REFUSAL = "2026-11-21T00:06:20.812Z ERROR ingest: the provider of a queue is unknown"
STACK = ["    at Injector.resolve (/app/injector.js:140:38)", "    at async main (/app/main.js:9:1) {", "  type: 'Queue'", "}"]


@pytest.mark.parametrize(
    ("behind", "number"),
    [(STACK, 11), ([*STACK, RECORDS[0]], 0), (["the mean is 0.7", "bye"], 0), ([*STACK, "step 41 loss 0.1"], 0)],
    ids=["stack and fields", "a further record", "results without a stack", "work"],
)
def test_what_follows_a_record_up_to_the_next_one_is_of_the_record(behind: list[str], number: int, knowledge: Database) -> None:
    found = own(log(*RECORDS, REFUSAL, *behind), knowledge).last_error
    assert (found.number if found else 0) == number


BOOT = ["Operations to perform:", "Running migrations:", "No migrations to apply."]
DEATH = ["PermissionError: [Errno 13] Permission denied: 'static/a.css'"]


@pytest.mark.parametrize(
    ("lines", "alike"),
    [
        ([*BOOT, *DEATH] * 3, True),
        ([*BOOT, *DEATH] * 3 + BOOT, True),
        ([*BOOT, *DEATH] * 3 + BOOT[:1], True),
        ([*BOOT, *DEATH] * 3 + [*BOOT, "Listening on port 8000"], False),
        ([*BOOT, *DEATH] * 2, False),
        (["Listening on port 8000", *([*BOOT, *DEATH] * 3)], False),
        (DEATH * 4, False),
    ],
    ids=["dies", "starts once more", "begins once more", "came further", "twice", "one start alone", "a failure alone"],
)
def test_what_starts_again_and_again_and_comes_no_further_starts_alike(
    lines: list[str], alike: bool, knowledge: Database
) -> None:
    assert own(log(*lines), knowledge).starts_alike is alike


def test_a_lane_of_few_quiet_lines_is_as_any_other(knowledge: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    text = log(
        *(f"2026-11-21 00:06:{i:02d},812 INFO trainer: step {i} loss 0.{i}" for i in range(10, 30)),
        *("[rank3]: step 4 | loss: 0.5", "[rank17]: step 5 | loss: 0.4", "[rank17]: x"),
        *(
            "Nov 21 00:06:21 node-5 systemd[1]: Started session 8 of user a.",
            "[rank5]: RuntimeError: no",
            "[rank6]: training done",
        ),
        *("[rank7]: step 1 | loss: 0.5", "[rank7]: 2026-11-21 00:06:01 INFO x: step 2", "[rank7]: step 3", "[rank7]: step 4"),
        *("[rank8]: 10%|#   | 1/10 [00:01<00:09, 1.0it/s]\r20%|##  | 2/10 [00:02<00:08, 1.0it/s]", "[rank9]: \x1b[31mred\x1b[0m"),
    )
    short = lanes_of(text, knowledge)
    monkeypatch.setattr(sys.modules["forensics.outcome.split_lanes"], "_calm_rows", lambda *_: None)
    assert lanes_of(text, knowledge) == short
    assert short["rank 17"].digest.lines == 2
