"""Sentences that reports once said and that were not so: none can be written any more, nor can what was left unsaid.

CASES are logs about which one was said. ELSEWHERE are sentences about a format, a command or the API, each with its test.
"""

import importlib
import re
from pathlib import Path

import pytest

from forensics import pipeline
from forensics.database import Database
from forensics.report import Style, render
from tests.commandline import in_text
from tests.conftest import text_source
from tests.report.never_said import CASES, Once

TESTS = Path(__file__).parents[1]
MAX_PROCESS_CALLS = (
    45  # places outside of the rooms that test processes; the last eight see how a process starts, what it loads and how it ends
)
# what was said or was missing -> the test that holds it off: module of tests/, function
ELSEWHERE = {
    "the kernel died 9.0 s earlier, under what followed from it": "report.test_consequences.test_what_is_earlier_did_not_follow",
    "another rank died first ... 17 s later": "report.test_consequences.test_a_moment_before_the_cause_is_no_step_from_it",
    "a power loss 84 minutes earlier, a segfault 24 s earlier": "report.test_consequences.test_what_is_earlier_did_not_follow",
    "a consequence of something two days before": "report.test_misleading.test_what_comes_days_later_did_not_follow",
    "nothing crashed, with another rank's death as its consequence": "report.test_misleading.test_nothing_follows_from_nothing",
    "evidence that stands nowhere in the file": "report.test_misleading.test_evidence_is_found_with_grep",
    "rows of evidence that are no piece of the line": "report.test_misleading.test_rows_of_evidence_are_pieces_of_the_line",
    "319 MiB in the text, 338 in the table": "report.test_never_said.test_memory_of_one_process_is_one_number_in_every_format",
    "1.02 beside 1.1 GiB": "report.test_misleading.test_a_number_of_bytes_is_the_same_in_curves_tables_and_sentences",
    "GB beside GiB": "report.test_misleading.test_sizes_have_one_unit_convention",
    "1 sources": "report.test_misleading.test_one_of_a_thing_is_no_plural",
    "1 faults (of a check)": "report.test_never_said.test_one_fault_is_no_plural",
    "1 kill(s), rank(s) 3": "advice.test_wording.test_a_noun_beside_a_number_is_in_its_form",
    "text and Markdown name the last kill only": "report.test_never_said.test_markdown_lists_what_the_text_lists",
    "200 kills of 200 jobs told as one": "report.test_misleading.test_two_hundred_kills_are_a_list_and_not_one_story",
    "a kill hidden among 550 events of 22 hours": "report.test_misleading.test_a_kill_is_listed_among_the_events_of_a_day",
    "a cell that failed before the last run": "report.test_misleading.test_of_a_notebook_the_cell_that_ran_last_is_told",
    "the first attempt's numbers for the last one's": "advice.test_attempt_changes.test_of_one_cause_in_two_attempts_the_last_one_is_told",
    "neither rank nor how many waited": "report.test_misleading.test_the_first_screen_names_the_rank_its_host_and_how_many_waited",
    "23 equal lanes": "report.test_index.test_sixty_four_ranks_that_tell_the_same_are_one_lane",
    "12 equal curves": "report.test_index.test_curves_are_those_that_bear_on_the_cause_alike_ones_once",
    "nothing readable (an empty log)": "report.test_misleading.test_an_empty_log_is_an_answer",
    "109 documents in one HTML file": "report.test_index.test_html_of_many_cases_needs_a_folder",
    "no such file: -": "cli.test_commands.test_a_dash_is_standard_input_alone_or_beside_files",
    "explain 137: Xid 137": "cli.test_explain.test_a_number_is_an_exit_status_before_an_xid",
    "explain deadlock, swap, batch size: not known": "explain.test_words.test_words_are_read_as_people_mean_them",
    "a wrong cause name: missing key means, title": "database.test_merge.test_a_new_cause_must_be_whole",
    "check of one file takes 9 s": "cli.test_signatures.test_check_of_one_file_takes_no_time",
    "--since is no time": "cli.test_commands.test_wrong_usage_is_one_clear_line_and_exit_2",
    "a repr of 15,000 characters; no _repr_html_": "api.test_api.test_a_notebook_shows_it_and_nothing_of_a_log_acts",
    "proofs in Python, evidence in JSON": "api.test_api.test_the_names_are_those_of_the_document",
    "to_dict, to_markdown, to_frame are not there": "api.test_api.test_it_writes_itself_in_every_form",
    "analyze() takes no workers": "api.test_api.test_a_typed_program_passes_mypy_strict",
    "signatures loaded at each call": "api.test_api.test_knowledge_is_loaded_once_and_shared",
    "no py.typed": "api.test_api.test_a_typed_program_passes_mypy_strict",
    "another project's import of the same name": "api.test_api.test_another_package_of_the_name_is_told_apart",
    "most of the suite's 390 s are processes": "report.test_never_said.test_few_tests_start_a_process",
    "earlier attempts (threads, chained exceptions, a kernel's own restarts)": "advice.test_attempt_changes.test_what_is_told_again_is_no_attempt",
    "three attempts of one LSF job": "advice.test_attempt_changes.test_the_jobs_of_one_file_are_attempts_and_parts_of_their_reports_are_not",
    "another rank died first (a launcher's SIGTERM)": "report.test_consequences.test_a_hint_is_no_consequence",
    "somebody stopped it, a worker was killed (what a launcher did or told)": "report.test_consequences.test_a_consequence_says_no_more_than_its_line",
    "57 s and 45 s between the same two events": "report.test_consequences.test_one_distance_in_time_is_told",
    "preempted, beside a kill of seven hours later": "report.test_consequences.test_what_stands_hours_before_is_of_another_incident",
    "incident 2 of 2: the same death, a line of a boot script": "report.test_incidents.test_an_incident_without_an_end_of_its_own_is_not_listed",
    "2 ranks waited (of two, one of them killed)": "report.test_misleading.test_the_rank_that_died_is_not_among_those_that_waited",
    "if the kernel died, then in the cell behind the one that raised": "report.test_misleading.test_a_notebook_whose_kernel_lived_on_is_not_said_to_have_lost_it",
    "no year, 2025 is assumed (the kernel prints the date)": "correlation.test_clocks.test_year_and_zone_come_from_the_kernels_setting_of_the_clock",
    "grep -i crash as evidence of a crash": "outcome.test_deciding_lines.test_what_somebody_typed_the_name_of_a_unit_and_a_frame_are_no_reason",
    "\\\\@everyone and fixes #123 act on GitHub": "report.test_markdown.test_what_a_log_says_stands_in_code_where_github_would_act_on_it",
}


@pytest.mark.seconds
@pytest.mark.parametrize("once", CASES, ids=lambda once: once.said)
def test_what_was_said_is_not_said_again(once: Once, knowledge: Database) -> None:
    report = pipeline.analyze([text_source(name, text) for name, text in once.logs.items()], "case", knowledge)
    text = render(report, "text", Style(width=100))
    on_one_line = " ".join(text.split())
    for said in (text, on_one_line, render(report, "markdown")):
        assert [p for p in once.never if re.search(p, said)] == []
    assert [p for p in once.but if not re.search(p, on_one_line)] == []


@pytest.mark.parametrize("test", ELSEWHERE.values(), ids=list(ELSEWHERE))
def test_what_was_said_elsewhere_has_its_test(test: str) -> None:
    module, _, name = test.rpartition(".")
    assert callable(getattr(importlib.import_module(f"tests.{module}"), name))


def test_markdown_lists_what_the_text_lists(knowledge: Database) -> None:
    """A dmesg with an Xid 79, an NFS hang, an EXT4 error and three kills; a kill of each of 60 jobs."""
    for once in (c for c in CASES if any("job 18|" in p or "jobs 40" in p for p in c.but)):
        report = pipeline.analyze([text_source(name, text) for name, text in once.logs.items()], "case", knowledge)
        page = " ".join(render(report, "markdown").replace("`", "").split())
        assert [p for p in once.but if not re.search(p.replace("60 in these logs", "60 incidents"), page)] == []


def test_one_fault_is_no_plural(tmp_path: Path) -> None:
    """`1 faults`, of a folder with one wrong file."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "shape.yaml").write_text("cause: code.shape\nexplains: [code.gone]\n")
    done = in_text("signatures", "check", str(tmp_path))
    said = done.stdout + done.stderr
    assert re.search(r"\b1 fault\b", said) and "1 faults" not in said


def test_few_tests_start_a_process() -> None:
    """A process takes 0.3 s, a command in this process a tenth of that: processes are for what only a process shows."""
    started = {
        str(path.relative_to(TESTS)): path.read_text().count("subprocess.run(") + path.read_text().count("subprocess.Popen(")
        for path in TESTS.rglob("*.py")
        if path.relative_to(TESTS).parts[0] not in ("capture", "hostile", "adapters")  # what they test are processes
    }
    assert sum(started.values()) <= MAX_PROCESS_CALLS, started


def test_memory_of_one_process_is_one_number_in_every_format(knowledge: Database) -> None:
    """`held 319 MiB` in a sentence, 338 in the table of processes: the table says what it counts."""
    from tests.report.samples import sample

    report = sample("jupyter_oom", knowledge)
    killed = next(p for p in report.processes if p.killed)
    own = report.causes[0].facts["anon_rss_bytes"]
    assert isinstance(own, int)
    assert killed.rss_bytes >= own  # all that was resident, files too
    for form in ("markdown", "html"):
        page = render(report, form)
        assert "resident, with files" in page
    assert "of memory of its own" in report.causes[0].summary
