"""Which alarming lines at the ends of a source count."""

import tracemalloc

import pytest
from forensics.diagnose.region import alarming

from forensics.model import Line, Observation, Scan, Source

LINES = 1_000_000_000


def scan() -> Scan:
    head = (Line(1, "error: one"), Line(2, "step 1"))
    tail = (Line(LINES - 1, "error: two"), Line(LINES, "error: three"))
    return Scan(Source("log", lambda _warn: iter(())), 1, LINES, (), {}, head, tail)


def test_lines_of_anothers_event_do_not_count_however_far_it_reaches() -> None:
    """A message that repeats is one event from its first place to its last; in a large log these lie gigabytes apart."""
    far = Observation("series/x", "a", "hint", "log", 2, LINES - 1, ())
    elsewhere = Observation("series/x", "a", "hint", "other", 1, LINES, ())
    tracemalloc.start()
    told = alarming([scan()], [far, elsewhere])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert told == ("error: one", "error: three")
    assert most < 1 << 20


def loud(*lines: str) -> tuple[str, ...]:
    numbered = tuple(Line(i, text) for i, text in enumerate(lines, 1))
    return alarming([Scan(Source("log", lambda _warn: iter(())), 1, len(lines), (), {}, numbered, numbered)])


def test_alarms_that_a_training_works_on_behind_do_not_count() -> None:
    steps = [f"iter: {i}  total_loss: 1.{i}" for i in range(3)]
    assert loud("3 keys not found", *steps) == ()
    assert loud("3 keys not found", *steps[:2]) == ("3 keys not found",)
    assert loud("3 keys not found", *steps, "worker lost") == ("3 keys not found", "worker lost")


def test_a_line_that_tells_the_way_around_does_not_count() -> None:
    around = ("failed to connect; trying again in 2.5 seconds", "failed to build, switch to native implementation")
    assert loud(*around, "sample 12 is corrupt, skipping") == ()
    assert loud("failed to connect") == ("failed to connect",)


def test_the_next_lines_may_tell_the_way_around_where_the_log_goes_on_behind_them() -> None:
    told = ("error while fetching part 3: read timed out", "trying to resume the download")
    assert loud(*told, "part 3 done") == ()
    assert loud(*told) == told[:1]
    assert loud(told[0], "host a", "port 7", told[1], "part 3 done") == ()
    assert loud(told[0], "host a", "port 7", "path /b", told[1], "part 3 done") == told[:1]


def test_where_the_middle_of_a_log_is_not_kept_no_line_of_it_is_asked_for() -> None:
    head, tail = (Line(1, "step 1"), Line(2, "error: one")), (Line(4, "step 9"), Line(5, "step 10"))
    found = alarming([Scan(Source("log", lambda _warn: iter(())), 1, 5, (), {}, head, tail)])
    assert found == ("error: one",)


def test_a_line_that_says_itself_that_it_is_no_failure_does_not_count() -> None:
    assert loud("workers get a signal at the end: this is expected", "exit messages can be safely ignored", "not a failure") == ()
    assert loud("error: 3 columns are expected, not 2") == ("error: 3 columns are expected, not 2",)


def test_error_names_the_stream_where_progress_bars_have_it_too() -> None:
    bar, saved = "ERROR  worker0  31%|##    | 59/191 [31:21<59:25,  3.6it/s]", "ERROR  worker0  Configuration saved in /tmp/a"
    assert loud(bar, saved) == ()
    assert loud(saved) == (saved,)
    assert loud(bar, "ERROR  worker0  failed to save") == ("ERROR  worker0  failed to save",)


@pytest.mark.parametrize("line", [
    "Nov 20 11:22:33 cn12 sshd[2345]: error: maximum authentication attempts exceeded for root",
    "Nov 20 11:22:33 cn12 systemd-timesyncd[600]: Timed out waiting for reply from 203.0.113.7:123",
    "Nov 20 11:22:33 cn12 systemd-logind[700]: Failed to get load state of reboot.target: Connection reset by peer",
    "$ journalctl -k | grep -iE 'killed process|out of memory'",
    "[    4.596952] acpi PNP0A03:00: fail to add a window, cannot use it",
    "Nov 20 11:22:33 cn12 kernel: [   12.100000] platform x.0: lost its clock",
])  # fmt: skip
def test_services_and_a_kernel_that_starts_say_nothing_of_a_job(line: str) -> None:
    assert loud(line) == ()


@pytest.mark.parametrize("line", [
    "Nov 20 11:22:33 cn12 kernel: nvidia 0000:3b:00.0: probe failed",
    "[    4.596952] nvme nvme0: failed to start",
    "[ 8812.596952] acpi PNP0A03:00: fail to add a window, cannot use it",
    "Nov 20 11:22:33 cn12 slurmd[812]: error: cannot reach the controller",
    "trainer failed to reach sshd",
])  # fmt: skip
def test_what_a_job_needs_is_heard(line: str) -> None:
    assert loud(line) == (line,)


def test_words_of_failures_in_a_path_alarm_nobody() -> None:
    assert loud(r"0.0 seconds: C:\ui\custom_nodes\task-killer", "loading /w/failed/runs/one.yaml") == ()
    assert loud(r"cannot open C:\ui\custom_nodes\one.py") == (r"cannot open C:\ui\custom_nodes\one.py",)


def test_words_that_only_begin_like_those_of_failures_alarm_nobody() -> None:
    assert loud("node1: Invalidate trace cache @ step 402: expected module 1207, but got module 1206") == ()
    assert loud("(EmbodiedActor pid=77) the agent's skills were loaded") == ()
    assert loud("{'beta_end'} was not found in config. Values will be initialized to default values.") == ()
    assert loud("/bin/sh: line 1: type: cmake: not found") == ()
    assert loud("Hostfile /job/hostfile not found, creating hostfile.") == ()
    assert loud("Failed to allocate memory: the KV cache will not be stored.") == ()
    assert loud("invalid cache, to be invalidated") == ("invalid cache, to be invalidated",)


@pytest.mark.parametrize("line", [
    '[ 8341.933370] audit: type=1400 audit(1621966268.393:633): apparmor="DENIED" operation="ptrace" comm="fit" denied_mask="read"',
    "[2031-01-24T14:33:48.002] debug4: xsignal: Swap signal PIPE[13] to 0x1 from 0x1",
    "  Normal   SandboxChanged   4m (x4 over 4m)  kubelet, gpu-7  Pod sandbox changed, it will be killed and re-created.",
    "I0304 10:00:01.112233    1042 kubelet.go:814] cannot measure the memory of a pod that is gone",
    'time="2031-10-16T23:12:24.7Z" level=error msg="invalid metric type for a21c59" error="<nil>"',
])  # fmt: skip
def test_what_is_routine_by_its_form_alarms_nobody(line: str) -> None:
    assert loud(line) == ()


@pytest.mark.parametrize("line", [
    "[ 8341.933370] audit: type=1701 audit(1621966268.393:633): auid=1000 uid=1000 pid=812 comm=\"fit\" sig=11 killed",
    "[2031-01-24T14:33:48.002] error: slurm_receive_msg: cannot read",
    "  Warning  SandboxChanged   4m (x4 over 4m)  kubelet, gpu-7  Pod sandbox changed, it will be killed and re-created.",
    "E0304 10:00:01.112233    1042 kubelet.go:814] cannot measure the memory of a pod that is gone",
    'time="2031-10-16T23:12:24.7Z" level=error msg="invalid metric type for a21c59" error="no such container"',
])  # fmt: skip
def test_what_differs_from_it_is_heard(line: str) -> None:
    assert loud(line) == (line,)


def test_a_field_or_a_list_that_is_empty_alarms_nobody() -> None:
    assert loud("Recent failures:", "~> TaskHandler[id: 18; name: fit; status: NEW; exit: -; error: -; workDir: /w/d5]") == ()
    failed = "~> TaskHandler[id: 18; name: fit; status: NEW; exit: 1; error: -1; workDir: /w/d5]"
    assert loud(failed, "Recent failures: gpu-7") == (failed, "Recent failures: gpu-7")
