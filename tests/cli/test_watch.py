"""`forensics watch`: nothing while all is well; a death, a stall and a divergence are told once; truncation and rotation survived."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from forensics.cli import watch
from forensics.cli.common import filled, unknown_names
from forensics.cli.output import OutputOptions
from forensics.cli.watch import Follower, Happening, Rules, Run, Tail, _opened, _outputs, tell
from forensics.database import Database
from tests.commandline import in_text

STEPS = "".join(f"step {i} loss {2.3 - i / 100:.2f}\n" for i in range(40))
DEATH = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)\n"
LOST = "".join(f"step {i} loss nan\n" for i in range(40, 60))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_text(STEPS)
    return path


def added(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def follower(log: Path, knowledge: Database, run: Run | None = None) -> Follower:
    return Follower([Tail(log)], Rules(stall_s=900, settle_s=10), knowledge, 0.0, run)


def told(found: Happening | None) -> tuple[str, str] | None:
    return (found.what, found.report.causes[0].id) if found else None


def test_a_death_is_told_when_nothing_follows_it(log: Path, knowledge: Database) -> None:
    follow = follower(log, knowledge)
    assert [follow.step(now) for now in (1, 2, 3)] == [None] * 3
    added(log, DEATH)
    assert follow.step(100) is None
    assert told(follow.step(111)) == ("died", "code.shape")


def test_a_run_that_goes_on_behind_an_error_is_well(log: Path, knowledge: Database) -> None:
    follow = follower(log, knowledge)
    added(log, DEATH)
    assert follow.step(1) is None
    added(log, "".join(f"step {i} loss {2.3 - i / 100:.2f}\n" for i in range(40, 90)))
    assert [follow.step(now) for now in (9, 20, 60)] == [None] * 3


def test_a_stall_is_told_once_a_spell_and_the_watch_goes_on(log: Path, knowledge: Database) -> None:
    follow = follower(log, knowledge)
    assert [told(follow.step(now)) for now in (0, 20, 899)] == [None] * 3
    stalled = follow.step(901)
    assert stalled is not None and stalled.what == "stalled" and "step 39 loss" in stalled.said and not stalled.is_last
    assert follow.step(2000) is None
    added(log, "step 40 loss 1.9\n")
    assert [follow.step(2001), follow.step(2020)] == [None, None]
    assert (again := follow.step(2910)) is not None and again.what == "stalled"


def test_a_loss_that_is_lost_is_told_once_while_the_run_goes_on(log: Path, knowledge: Database) -> None:
    follow = follower(log, knowledge)
    assert follow.step(1) is None
    added(log, LOST)
    found = [told(follow.step(now)) for now in (100, 200)]
    assert [what for what, _ in filter(None, found)] == ["diverges"]
    added(log, LOST)
    assert [told(follow.step(now)) for now in (300, 400)] == [None, None]


@pytest.mark.parametrize("before", [0, 100])
def test_a_spoiled_run_that_comes_to_its_end_ends_the_watch(before: int, log: Path, knowledge: Database) -> None:
    follow = follower(log, knowledge)
    added(log, LOST)
    found = [follow.step(now) for now in range(1, before, 20)]
    added(log, "Training finished. Saved model to out.pt\n")
    found += [follow.step(now) for now in (201, 212, 213)]
    assert [f.what for f in found if f] == ["diverges", "ended"]
    assert [f.is_last for f in found if f] == [False, True]


def test_the_end_of_the_run_is_the_end_of_the_watch(log: Path, knowledge: Database) -> None:
    living = True
    follow = follower(log, knowledge, Run(lambda: living, lambda: None))
    added(log, DEATH)
    assert [follow.step(now) for now in (1, 30, 60)] == [None] * 3
    living = False
    assert told(follow.step(61)) == ("died", "code.shape")
    log.write_text(STEPS + "Training finished\n")
    ended = follower(log, knowledge, Run(lambda: False, lambda: None)).step(1)
    assert ended is not None and ended.what == "ended"


def test_a_log_that_is_truncated_or_rotated_is_followed_on(log: Path) -> None:
    tail = Tail(log)
    assert tail.look() == len(STEPS)
    log.write_text("short\n")
    assert (tail.look(), tail.restarts, tail.last_line()) == (6, 1, "short")
    log.rename(log.with_suffix(".1"))
    added(log.with_suffix(".1"), "the last of the old one\n")
    assert (tail.look(), tail.last_line()) == (24, "the last of the old one")
    log.write_text("the first of the new one\n")
    assert (tail.look(), tail.restarts, tail.last_line()) == (25, 2, "the first of the new one")
    assert tail.look() == 0


def test_of_a_long_log_only_the_end_is_kept_and_its_lines_keep_their_numbers(
    log: Path, knowledge: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "FOLLOWED_BYTES", 500)
    follow = follower(log, knowledge)
    added(log, STEPS * 20 + DEATH)
    follow.step(1)
    assert len(follow.tails[0].kept) <= 500
    died = follow.step(12)
    assert died is not None
    assert died.report.causes[0].evidence[0].line == len((STEPS * 21 + DEATH).splitlines())


def test_the_hook_gets_the_report_and_is_not_waited_for(
    log: Path, knowledge: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORENSICS_RUNS", str(tmp_path / "runs"))
    added(log, DEATH)
    follow = follower(log, knowledge)
    follow.step(1)
    died = follow.step(20)
    assert died is not None
    start = time.monotonic()
    tell(died, OutputOptions("text"), f"cp {{report}} {tmp_path}/copy; touch {tmp_path}/there; sleep 20", notify=False)
    assert time.monotonic() - start < 10
    while not (tmp_path / "there").exists() and time.monotonic() - start < 30:
        time.sleep(0.02)
    assert "code.shape" in (tmp_path / "copy").read_text()
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.seconds
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_process_is_watched_to_its_end(tmp_path: Path) -> None:
    code = f"import time; print({STEPS!r}, flush=True); time.sleep(1.5); raise SystemExit({DEATH!r})"
    with (tmp_path / "job.log").open("w") as file:
        job = subprocess.Popen([sys.executable, "-c", code], stdout=file, stderr=file)
        threading.Thread(target=job.wait, daemon=True).start()  # a parent that waits, as a shell does
        done = in_text("watch", "--pid", job.pid, "--every", "0.1s", FORENSICS_RUNS=str(tmp_path / "runs"))
    assert "died" in done.stderr and "code.shape" in done.stdout
    (kept,) = (tmp_path / "runs").glob("*/report.json")  # the list of runs tells its cause
    assert "code.shape" in kept.read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing to watch"),
        (("no/such.log",), "cannot be followed"),
        (("--pid", "1", "--job", "2"), "both --pid and --job"),
        (("--pid", str(2**22 + 7)), "no process"),
        (("x.log", "--stall", "soon"), "soon"),
    ],
)
def test_what_cannot_be_watched_is_one_line(words: tuple[str, ...], said: str) -> None:
    done = in_text("watch", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr


def test_a_stall_shows_no_secret_of_the_last_line(
    log: Path, knowledge: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORENSICS_RUNS", str(tmp_path / "runs"))
    added(log, "export API_KEY=9f8e7d6c5b4a39281706f5e4d3c2b1a0\n")
    follow = follower(log, knowledge)
    follow.step(0)
    follow.step(20)
    stalled = follow.step(901)
    assert stalled is not None and "9f8e7d6c" in stalled.said
    tell(stalled, OutputOptions("text"), f"cp {{report}} {tmp_path}/copy", notify=False)
    shown = capsys.readouterr()
    written = "".join(path.read_text() for path in (tmp_path / "runs" / "watched").iterdir())
    assert "9f8e7d6c" not in shown.out + shown.err + written


def test_a_log_that_is_not_there_yet_is_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    late = tmp_path / "late.log"
    threading.Timer(0.1, late.write_text, ("step 1\n",)).start()
    (tail,) = _opened([late], 0.02)
    tail.close()
    assert capsys.readouterr().err == f"forensics watch: {late} is not there yet; waiting for it\n"


def test_the_hook_is_given_names_and_told_of_unknown_ones() -> None:
    values = {"report": "/a b/report.txt", "cause": "code.shape", "what": "went wrong"}
    assert filled("mail -s {cause} {what} < {report}", values) == "mail -s code.shape 'went wrong' < '/a b/report.txt'"
    assert filled("awk '{print}' ${cause} {a,b}", values) == "awk '{print}' ${cause} {a,b}"
    assert unknown_names("watch --exec", "mail {cuase} < {report}", values) == (
        "watch --exec has {cuase}, which stands for nothing; names are {cause}, {report}, {what}"
    )
    assert unknown_names("--exec", "notify {report} ${HOME} {a,b}", values) == ""


def test_the_user_ends_the_watch_with_one_quiet_line(log: Path, knowledge: Database, capsys: pytest.CaptureFixture[str]) -> None:
    def lives() -> bool:
        raise KeyboardInterrupt

    watched = follower(log, knowledge, Run(lives, lambda: None))
    assert watch._follow(watched, 0.1, lambda _: pytest.fail("nothing happened")) == 130
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1) and "what was watched continues" in err


@pytest.mark.parametrize(("standing", "told_of"), [("pid 7: wait (train.py:6)", "pid 7: wait (train.py:6)"), ("", "")])
def test_a_stall_tells_where_the_process_stands_and_asks_nothing(
    standing: str, told_of: str, log: Path, knowledge: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    follow = follower(log, knowledge, Run(lambda: True, lambda: None, lambda: standing))
    found = [f for f in map(follow.step, (1, 20, 950)) if f]
    tell(found[0], OutputOptions("text", None), "", notify=False)
    shown = capsys.readouterr()
    assert found[0].what == "stalled" and shown.out.strip() == told_of and "no output for 949 s" in shown.err


def test_what_the_watch_itself_prints_is_not_followed(capfd: pytest.CaptureFixture[str]) -> None:
    assert Path("/proc/self/fd/1").is_file()  # where pytest keeps what is printed
    assert _outputs(os.getpid()) == []
