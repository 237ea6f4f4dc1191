"""Without a dump, the stacks of the ranks show who stands in a collective call, and who does not."""

import os
from itertools import product
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace

from forensics.cli.ranks import _picture
from forensics.database import Database
from forensics.model import Line
from forensics.model.dumps import Frame
from forensics.model.ranks import ProofPlace, RankPicture, RankProcess
from forensics.model.stacks import ProcessStacks
from forensics.pipeline import analyze_paths
from forensics.ranks import picture
from forensics.ranks.by_stacks import ONE_MOMENT, OTHER_MOMENT, late_in_looks
from forensics.ranks.ended import Ended, Ends, rank_processes
from forensics.ranks.observation import reason, reason_and_rival
from forensics.ranks.threads import ranked
from forensics.readers.python.process_stacks import read_stacks
from forensics.report.overview import do_first
from forensics.report.phrases import what_happened
from forensics.report.ranks import ranks_html, ranks_markdown, ranks_text
from tests.ranks.test_captured import CAPTURED, seen

LIBRARY = "/venv/lib/python3.11/site-packages/torch"
WAITS = f"all_reduce ({LIBRARY}/distributed/distributed_c10d.py:3252)|wrapper ({LIBRARY}/distributed/c10d_logger.py:83)"
IN_CALL = f"{WAITS}|train (/run/train.py:14)|<module> (/run/train.py:20)"
LOADS = "load_shard (/run/train.py:7)|train (/run/train.py:12)|<module> (/run/train.py:20)"
WORKER = f"_worker_loop ({LIBRARY}/utils/data/_utils/worker.py:9)|run (/usr/lib/python3.11/multiprocessing/process.py:108)"
AGENT = f"_invoke_run ({LIBRARY}/distributed/elastic/agent/server/api.py:923)|<module> (/venv/bin/torchrun:10)"


def stack(rank: int | None, frames: str, pid: int = 0, state: str = "idle", kernel: str = "") -> list[str]:
    pid = pid or 100 + (rank or 0)
    whose = "" if rank is None else f", rank {rank} on gpu-1"
    head = f"forensics run: stacks of pid {pid} (python){whose}{f'; in the kernel: {kernel}' if kernel else ''}"
    lines = [f"    {frame}" for frame in frames.split("|")]
    return [head, f"Process {pid}: python train.py", "Python v3.11.7", "", f'Thread {pid} ({state}): "MainThread"', *lines]


def drawn(*stacks: list[str], **more: object) -> RankPicture:
    read = [
        one
        for n, text in enumerate(stacks)
        for one in read_stacks([Line(i, t) for i, t in enumerate(text, 1)], f"stacks/{n}.txt")
    ]
    read = ranked(read, {})
    found = picture([], read, processes=rank_processes([], [], read), **more)  # type: ignore[arg-type]
    assert found is not None and found.basis
    return found


@pytest.mark.parametrize(
    ("case", "kind"),
    [
        ("late_loader_averaging_4", "computes"),
        ("gil_held_averaging_4", "outside"),
        ("waits_for_file_averaging_4", "outside"),
        ("fewer_batches_averaging_4", "other_call"),  # its source was not looked at
        ("broken_barrier_grid_4", "barrier"),
    ],
)
def test_of_captured_jobs_the_stacks_alone_show_the_rank_and_its_line(case: str, kind: str, knowledge: Database) -> None:
    expected = yaml.safe_load((CAPTURED / case / "expected.yaml").read_text())
    found = seen(CAPTURED / case, knowledge, "stacks")
    (odd,) = found.odd
    assert (odd.rank, odd.kind, odd.place and odd.place.line) == (expected["rank"], kind, expected["line"])
    assert odd.others is not None and len(odd.waiting) == 3 and reason(odd).endswith("as their stacks show")
    assert [row.state for row in found.rows].count("waits") == (4 if kind in ("other_call", "barrier") else 3)


def test_where_several_stand_elsewhere_all_of_them_are_told(knowledge: Database) -> None:
    """Two groups: by the stacks alone, two ranks stand in other calls than the other two."""
    found = seen(CAPTURED / "other_operation_grid_4", knowledge, "stacks")
    assert [odd.rank for odd in found.odd] == [0, 1]
    found = drawn(stack(0, IN_CALL), stack(1, LOADS), stack(2, IN_CALL), stack(3, LOADS))
    assert [(odd.rank, odd.waiting) for odd in found.odd] == [(1, (0, 2)), (3, (0, 2))]
    assert found.edges == ((0, 1), (0, 3), (2, 1), (2, 3))


@pytest.mark.parametrize("frames", [IN_CALL, LOADS])
def test_where_all_stand_at_one_place_nobody_is_odd(frames: str) -> None:
    found = drawn(stack(0, frames), stack(1, frames))
    assert found.odd == () and {row.state for row in found.rows} == {"waits" if frames == IN_CALL else "outside"}
    assert "None of the 2 ranks keeps the others waiting, as far as this shows." in ranks_text(found, 5, reason, str)


def test_the_kernel_tells_for_what_it_waits() -> None:
    (odd,) = drawn(stack(0, IN_CALL, kernel="futex"), stack(1, LOADS, kernel="openat of /data/pipe")).odd
    assert odd.doing == "it waits for a file (openat of /data/pipe)"


@pytest.mark.parametrize(
    ("native", "kind", "doing"),
    [
        ("flock (libc.so.6)|fcntl_flock_impl (fcntlmodule.c:297)", "lock", "it waits for the lock of a file"),
        ("fcntl64 (libc.so.6)|fcntl_lockf (fcntlmodule.c.h:241)", "lock", "it waits for the lock of a file"),
        ("wait4 (libc.so.6)|os_waitpid (libpython3.11.so.1.0)", "outside", "it waits for another process"),
        ("0x7f1444a4 (libc.so.6)|open64 (libc.so.6)|os_open (libpython3.11.so.1.0)", "outside", "it waits for a file"),
        ("recv (libc.so.6)|sock_recv (socketmodule.c:3567)", "outside", "it waits for the network"),
    ],
)
def test_native_frames_tell_the_system_call_where_nobody_asked_the_kernel(native: str, kind: str, doing: str) -> None:
    (odd,) = drawn(stack(0, IN_CALL), with_thread(stack(1, f"{native}|build (/run/train.py:7)"), "beat (/run/beat.py:4)")).odd
    assert (odd.kind, odd.doing, odd.place and odd.place.line) == (kind, doing, 7)


def test_helpers_and_the_launcher_are_no_ranks() -> None:
    """A loader's worker has the rank of its parent in its environment, and so has a launcher under Slurm."""
    ranks = stack(0, IN_CALL), stack(1, LOADS)
    found = drawn(stack(0, AGENT, pid=50), *ranks, stack(1, WORKER, pid=900), stack(0, WORKER, pid=90))
    assert [row.pid for row in found.rows] == [100, 101]
    assert [odd.rank for odd in found.odd] == [1]


def test_a_rank_that_waits_for_the_backward_pass_waits_for_gradients() -> None:
    backward = (
        f"_engine_run_backward ({LIBRARY}/autograd/graph.py:865)|backward ({LIBRARY}/_tensor.py:630)|train (/run/train.py:15)"
    )
    found = drawn(stack(0, backward), stack(1, backward), stack(2, LOADS))
    assert [(odd.rank, odd.call, odd.waiting) for odd in found.odd] == [(2, "backward", (0, 1))]


def test_modules_that_are_imported() -> None:
    imports = "<module> (/venv/lib/python3.11/site-packages/torch/_meta.py:3)|_find_and_load (<frozen importlib._bootstrap>:1178)"
    found = drawn(stack(0, f"{imports}|<module> (/run/train.py:2)", state="active+gil"), stack(1, IN_CALL))
    assert [(odd.rank, odd.doing) for odd in found.odd] == [(0, "it imports modules")]


def test_a_rank_without_a_stack_is_told_by_its_end_or_as_missing() -> None:
    end = Ended("it raised KeyError", None, ProofPlace("job.log", 3, "KeyError: 'label'"), "code.exception")
    stacks = stack(0, IN_CALL), stack(2, IN_CALL)
    (left,) = drawn(*stacks, ends=Ends(own={1: end})).odd
    assert (left.rank, left.kind, left.cause) == (1, "left", "code.exception")
    (gone,) = drawn(*stacks).odd
    assert (gone.rank, gone.kind, gone.waiting) == (1, "no_dump", (0, 2))


def test_stacks_of_another_moment_name_nobody() -> None:
    """The ranks gave up at a line at which none of them stands in its stack."""
    told = Ended("it raised RuntimeError", None, ProofPlace("job.log", 3, "Timed out"), "")
    stacks = stack(0, IN_CALL), stack(1, LOADS)
    for line, basis in ((14, ONE_MOMENT), (99, OTHER_MOMENT)):
        frame = drawn(*stacks).odd[0].others
        assert frame is not None
        found = drawn(*stacks, ends=Ends(gave_up={0: _at(told, line)}))
        assert (found.basis, bool(found.odd)) == (basis, basis == ONE_MOMENT)


def _at(end: Ended, line: int) -> Ended:
    return replace(end, frame=Frame("/run/train.py", line, "train"))


def test_every_format_says_on_what_it_rests() -> None:
    found = drawn(stack(0, IN_CALL), stack(1, LOADS))
    pages = ranks_text(found, 5, reason, str), ranks_markdown(found, 5, reason, str), ranks_html(found, reason, str)
    for page in pages:
        assert "This is shown by their stacks" in page and "waits in all" in page


def test_one_stack_is_no_picture() -> None:
    text = stack(0, IN_CALL)
    assert late_in_looks([], {}) is None
    assert picture([], read_stacks([Line(i, t) for i, t in enumerate(text, 1)], "x")) is None


def write_look(folder: Path, *frames: str) -> None:
    folder.mkdir()
    for rank, own in enumerate(frames):
        (folder / f"{rank}.txt").write_text("\n".join(stack(rank, own)) + "\n")


@pytest.mark.seconds
def test_one_look_shows_where_ranks_stand_and_no_hang(knowledge: Database, tmp_path: Path) -> None:
    """People look at a run that is slow, too. Where one rank moved between two looks, it goes on."""
    write_look(tmp_path / "look1", IN_CALL, IN_CALL, LOADS)
    found = analyze_paths([tmp_path], "stacks", knowledge)
    assert (found.verdict, found.missing[0].what, found.causes[0].probability) == (
        "undetermined",
        "whether it makes progress",
        0.5,
    )
    assert found.ranks is not None and [odd.rank for odd in found.ranks.odd] == [2]
    shown = what_happened(found)
    assert "Rank 2 (pid 102 on gpu-1): it waits for something" in shown and "2 ranks wait at train.py:14" in shown
    assert not found.possible and do_first(found).startswith("Take the stacks again")
    write_look(tmp_path / "look2", IN_CALL, IN_CALL, LOADS.replace("train.py:7", "train.py:8"))
    moved = analyze_paths([tmp_path], "stacks", knowledge)
    assert moved.verdict == "undetermined" and moved.ranks is not None and moved.ranks.odd[0].is_only_late
    assert "rank 2 (pid 102 on gpu-1) keeps the others waiting: in each of 2 looks" in moved.notices[0].why
    (tmp_path / "job.log").write_text("step 11 loss 0.083\nTimed out waiting 60000ms for recv operation to complete\n")
    assert analyze_paths([tmp_path], "stacks", knowledge).verdict == "crash"


@pytest.mark.parametrize("with_values", [False, True])  # py-spy --locals
@pytest.mark.parametrize(("place", "first"), [("train.py:8", "stopped.user"), ("train.py:7", "distributed.timeout")])
def test_where_somebody_stopped_a_run_that_moved_between_two_looks_it_did_not_hang(
    place: str, first: str, with_values: bool, knowledge: Database, tmp_path: Path
) -> None:
    """py-spy tells no moment: the files of each look are in a folder of their own. The job's log has a dump of its own."""
    values = "".join(f"\n            value{n}: {n}" for n in range(20)) if with_values else ""
    for look, loads in (("look1", LOADS), ("look2", LOADS.replace("train.py:7", place))):
        (tmp_path / look).mkdir()
        for rank, frames in enumerate((IN_CALL, IN_CALL, loads)):
            (tmp_path / look / f"rank{rank}.txt").write_text(
                "\n".join(stack(None, frames, 30 + rank)[1:]).replace(")\n    train", f"){values}\n    train") + "\n"
            )
    steps = "".join(f"step {n} loss 0.41\n" for n in range(90))
    dumped = 'Thread 0x00007f08 (most recent call first):\n  File "/run/train.py", line 7 in load_shard\n'
    (tmp_path / "job.log").write_text(f"{steps}{dumped}SignalException: Process 2374 got signal: 2\n")
    assert analyze_paths([tmp_path], "stopped", knowledge).causes[0].id == first


@pytest.mark.parametrize(("state", "verdict"), [("active", "undetermined"), ("idle", "crash")])
def test_where_all_ranks_compute_in_two_looks_no_hang_is_shown(
    state: str, verdict: str, knowledge: Database, tmp_path: Path
) -> None:
    frames = "compress (/usr/lib/python3.11/lzma.py:328)|save (/run/shards.py:10)"
    for look in (1, 2):
        for rank in (0, 1):
            (tmp_path / f"rank{rank}_{look}.txt").write_text("\n".join(stack(None, frames, 30 + rank, state=state)[1:]) + "\n")
    assert analyze_paths([tmp_path], "slow", knowledge).verdict == verdict


@pytest.mark.seconds
def test_the_report_names_the_rank_by_the_stacks(knowledge: Database, tmp_path: Path) -> None:
    for n in range(2):
        write_look(tmp_path / f"look{n}", IN_CALL, IN_CALL, LOADS)
    first = analyze_paths([tmp_path], "stacks", knowledge).causes[0]
    assert (first.id, first.facts["culprit_rank"]) == ("distributed.timeout", 2)
    assert "rank 2" in first.where and "train.py:7" in first.where
    assert "Find out what rank 2 waits for at load_shard" in first.remediations[0].action


@pytest.mark.seconds
@pytest.mark.parametrize(("status", "is_told"), [(0, False), (1, True)])
def test_stacks_of_a_pause_name_nobody_in_a_run_that_ended_well(
    status: int, is_told: bool, knowledge: Database, tmp_path: Path
) -> None:
    for rank, frames in enumerate((IN_CALL, IN_CALL, LOADS)):
        (tmp_path / f"{rank}.txt").write_text("\n".join(stack(rank, frames)) + "\n")
    end = (
        f"[2026-08-22T03:00:08+00:00] forensics run: the command, pid 99 (torchrun), ended with exit status {status} after 65.3 s"
    )
    (tmp_path / "job.log").write_text(f"step 11 loss 0.083\n{end}\n")
    found = analyze_paths([tmp_path], "stacks", knowledge)
    assert any(one.facts.get("culprit_rank") == 2 for one in found.causes) == is_told
    assert (found.ranks is not None) == is_told


@pytest.mark.seconds
def test_stacks_name_nobody_where_a_log_tells_another_reason(knowledge: Database, tmp_path: Path) -> None:
    """Stacks of a pause are there, too, where a run failed later for a reason of its own."""
    for rank, frames in enumerate((IN_CALL, IN_CALL, LOADS)):
        (tmp_path / f"{rank}.txt").write_text("\n".join(stack(rank, frames)) + "\n")
    log = (CAPTURED / "exception_averaging_4" / "job.log").read_text().splitlines()
    own = [line for line in log if "KeyError" in line or "Traceback" in line or "File" in line]
    (tmp_path / "job.log").write_text("\n".join(own) + "\n")
    first = analyze_paths([tmp_path], "stacks", knowledge).causes[0]
    assert first.id != "distributed.timeout" and "culprit_rank" not in first.facts


SPAWNED = f"_wrap ({LIBRARY}/multiprocessing/spawn.py:87)|run (/usr/lib/python3.11/multiprocessing/process.py:108)"
FUTURE = "wait (/usr/lib/python3.11/threading.py:320)|result (/usr/lib/python3.11/concurrent/futures/_base.py:451)"


def with_thread(main: list[str], frames: str) -> list[str]:
    return [*main, 'Thread 999 (idle): "exchange_0"', *(f"    {frame}" for frame in frames.split("|"))]


def test_ranks_that_torch_spawned_are_known_by_the_order_of_their_start() -> None:
    loader = f"{WORKER}|_bootstrap (/usr/lib/python3.11/multiprocessing/process.py:314)"
    launcher = f"join ({LIBRARY}/multiprocessing/spawn.py:170)|start_processes ({LIBRARY}/multiprocessing/spawn.py:300)"
    found = drawn(
        stack(None, f"{IN_CALL}|{SPAWNED}", 703),
        stack(None, f"{LOADS}|{SPAWNED}", 702),
        stack(None, f"{IN_CALL}|{SPAWNED}", 701),
        stack(None, f"{loader}|{LOADS}|{SPAWNED}", 704),
        stack(None, launcher, 700),
    )
    (odd,) = found.odd
    assert (odd.rank, odd.pid, odd.waiting) == (1, 702, (0, 2))
    assert str(odd.place and odd.place.place) == "train.py:7"
    assert found.world == 3


def test_a_rank_waits_in_a_call_that_a_thread_makes_for_it() -> None:
    def asks(rank: int, line: int) -> list[str]:
        main = f"{FUTURE}|mean (/run/comm.py:9)|learn (/run/train.py:{line})|<module> (/run/train.py:30)"
        return with_thread(stack(rank, main), f"{WAITS}|_mean (/run/comm.py:4)")

    (odd,) = drawn(asks(0, 14), with_thread(stack(1, LOADS), FUTURE), asks(2, 14)).odd
    assert (odd.rank, odd.kind, odd.waiting) == (1, "outside", (0, 2))
    (odd,) = drawn(asks(0, 14), asks(1, 22), asks(2, 14)).odd  # the thread stands at one line for all of them
    assert (odd.rank, odd.kind, odd.waiting) == (1, "other_call", (0, 2))
    assert [str(one and one.place) for one in (odd.place, odd.others)] == ["train.py:22", "train.py:14"]
    assert not drawn(asks(0, 14), asks(1, 14)).odd


@pytest.mark.parametrize(
    ("kernel", "told"), [("do_signal_stop", "it is stopped by a signal"), ("cgroup_freeze", "its control group is frozen")]
)
def test_a_rank_that_was_stopped_is_told_even_inside_of_a_call(kernel: str, told: str) -> None:
    (odd,) = drawn(stack(0, IN_CALL), stack(1, IN_CALL, kernel=kernel), stack(2, IN_CALL)).odd
    assert (odd.rank, odd.kind, odd.waiting) == (1, "outside", (0, 2))
    assert odd.doing.startswith(told)


def test_a_moment_in_which_the_ranks_stood_elsewhere_before_and_behind_is_a_pause() -> None:
    """All wait in the first look, and go on from there: in two later ones, one keeps the others waiting."""
    pauses = _look(5, IN_CALL, IN_CALL.replace(":14", ":18"), IN_CALL)
    (odd,) = drawn(*pauses, *_look(20, IN_CALL, LOADS, IN_CALL), *_look(40, IN_CALL, LOADS, IN_CALL)).odd
    assert (odd.rank, odd.kind, odd.place and odd.place.line) == (1, "outside", 7)


def test_ends_in_logs_alone_make_a_picture_where_that_is_asked_for() -> None:
    place = ProofPlace("job.log", 3, "KeyError: 'b'")
    own = {1: Ended("it raised KeyError: 'b'", Frame("/run/train.py", 9, "train"), place, "code.exception")}
    gave_up = {rank: Ended("it raised RuntimeError", None, place, "") for rank in (0, 2)}
    assert picture([], ends=Ends(own, gave_up)) is None
    found = picture([], ends=Ends(own, gave_up), by_logs=True)
    assert found is not None and found.world == 3
    (odd,) = found.odd
    assert (odd.rank, odd.kind, odd.waiting, odd.doing) == (1, "left", (0, 2), "it raised KeyError: 'b'")


CHILD = "_bootstrap (/usr/lib/python3.11/multiprocessing/process.py:314)"
BACKWARD = f"_engine_run_backward ({LIBRARY}/autograd/graph.py:979)|learn (/run/train.py:14)"
LOOP = "select (/usr/lib/python3.11/selectors.py:468)|_run_once (/usr/lib/python3.11/asyncio/base_events.py:1898)"
QUEUE = "wait (/usr/lib/python3.11/threading.py:327)|get (/usr/lib/python3.11/queue.py:171)|next (/run/train.py:9)"


def child(number: int, frames: str, pid: int) -> list[str]:
    head, *rest = stack(None, f"{frames}|{CHILD}", pid)
    return [f"{head}, child {number} of pid 700 on gpu-1", *rest]


def test_children_that_a_program_started_are_ranks_by_their_number() -> None:
    """Child 1 is gone: the order of those that are left would not tell it."""
    given = child(0, IN_CALL, 701), child(2, LOADS, 703), child(3, BACKWARD, 704)
    (odd,) = drawn(*given, stack(None, f"worker (/usr/lib/python3.11/multiprocessing/pool.py:114)|{CHILD}", 705)).odd
    assert (odd.rank, odd.pid, odd.waiting) == (2, 703, (0, 3))
    assert picture([], read_stacks([Line(n, t) for n, t in enumerate(child(0, LOADS, 701), 1)], "a")) is None


def test_children_none_of_which_waits_in_a_call_are_no_ranks() -> None:
    given = [Line(n, t) for n, t in enumerate([*child(0, LOADS, 701), *child(1, LOADS, 702)], 1)]
    assert rank_processes([], [], read_stacks(given, "stacks")) == {}


@pytest.mark.parametrize("main", [QUEUE, LOOP])
def test_while_the_main_thread_waits_for_another_one_that_is_at_work(main: str) -> None:
    def rank(state: str) -> list[str]:
        return [*stack(1, main), f'Thread 999 ({state}): "prefetch"', "    decode (/run/data.py:3)"]

    (odd,) = drawn(stack(0, IN_CALL), rank("active+gil"), stack(2, IN_CALL)).odd
    assert (odd.rank, odd.kind, str(odd.place and odd.place.place)) == (1, "computes", "data.py:3")
    (odd,) = drawn(stack(0, IN_CALL), rank("idle"), stack(2, IN_CALL)).odd
    assert (odd.rank, odd.kind) == (1, "outside")


def test_of_several_moments_the_one_in_which_most_wait_counts() -> None:
    def at(second: int, one: list[str]) -> list[str]:
        return [f"{one[0]} at 2026-11-29T20:55:{second}.000000+00:00", *one[1:]]

    starts = f"{WAITS}|init_process_group ({LIBRARY}/distributed/distributed_c10d.py:9)|<module> (/run/train.py:2)"
    hung = [at(20, stack(rank, LOADS if rank == 1 else IN_CALL)) for rank in range(3)]
    told = _at(Ended("it raised RuntimeError", None, ProofPlace("job.log", 3, "Timed out"), ""), 14)
    for second, other, ends in ((10, starts, Ends()), (40, "raised (/run/train.py:90)", Ends(gave_up={0: told}))):
        (odd,) = drawn(*hung, *(at(second, stack(rank, other)) for rank in range(3)), ends=ends).odd
        assert (odd.rank, odd.kind, odd.waiting) == (1, "outside", (0, 2))


@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize(("later", "named"), [(IN_CALL, [1]), (LOADS, [])], ids=["they still wait", "they went on"])
def test_a_run_whose_waiting_ranks_stand_elsewhere_in_a_later_look_works(timed: bool, later: str, named: list[int]) -> None:
    def look(second: int, waiting: str, line: int) -> list[list[str]]:
        state = "active" if waiting == LOADS else "idle"
        rows = [stack(rank, waiting if rank != 1 else LOADS.replace(":7", f":{line}"), state=state) for rank in range(3)]
        return [[f"{head} at 2026-11-29T20:55:{second}.000000+00:00", *rest] if timed else [head, *rest] for head, *rest in rows]

    found = drawn(*look(20, IN_CALL, 7), *look(40, later, 8))
    assert [odd.rank for odd in found.odd] == named
    assert found.basis == f"by their stacks {'at 2 moments' if named else 'in 2 looks, which do not number the calls'}"


def test_a_run_whose_odd_rank_waits_with_the_others_in_a_later_look_works(tmp_path: Path) -> None:
    """All others stand where they stood, which may be one step later. The job's log has a stack of no known process."""
    dumped = f'Current thread 0x00007f08 (most recent call first):\n  File "{LIBRARY}/distributed/distributed_c10d.py", line 7 in all_reduce\n'
    (tmp_path / "job.log").write_text(f"step 1\n{dumped}step 2\n")
    for look, frames in (("look1", LOADS), ("look2", IN_CALL)):
        (tmp_path / look).mkdir()
        write_stacks(tmp_path / look, {0: IN_CALL, 1: frames, 2: IN_CALL})
        assert bool(_picture([tmp_path], 1).odd) == (look == "look1")


def test_a_wait_of_no_name_is_one_if_it_lasts() -> None:
    def look(*frames: str) -> list[list[str]]:
        return [stack(rank, own, kernel="futex") for rank, own in enumerate(frames)]

    for first, named in ((AT_WAIT, [1]), ("read (/run/data.py:4)", [])):
        found = drawn(*look(first, "read (/run/data.py:5)", first), *look(AT_WAIT, LOADS, AT_WAIT))
        assert [odd.rank for odd in found.odd] == named


def test_a_rank_at_the_line_of_the_others_is_not_odd_as_it_was_seen_at_work() -> None:
    given = [stack(rank, AT_WAIT, state="active" if rank == 1 else "idle") for rank in range(3)]
    assert drawn(*given).odd == ()
    assert [odd.rank for odd in drawn(given[0], stack(1, LOADS, state="active"), given[2]).odd] == [1]


def test_a_rank_behind_a_barrier_left_it_out_whatever_function_makes_it() -> None:
    def at(call: str, helper: str, line: int) -> str:
        return (
            f"{call} ({LIBRARY}/distributed/distributed_c10d.py:9)|{helper}|fit (/run/work.py:{line})|<module> (/run/train.py:30)"
        )

    save = "meet (/run/keep.py:4)|save (/run/keep.py:62)"
    (odd,) = drawn(
        *(stack(n, at("barrier", save, 115)) for n in (0, 2)), stack(1, at("broadcast", "tell (/run/w.py:9)", 116))
    ).odd
    assert (odd.rank, odd.kind, "left that barrier out" in odd.doing) == (1, "barrier", True)
    (odd,) = drawn(
        *(stack(n, at("all_reduce", save, 115)) for n in (0, 2)), stack(1, at("broadcast", "tell (/run/w.py:9)", 116))
    ).odd
    assert (odd.rank, odd.kind) == (1, "other_batches")


def test_of_looks_that_nothing_dates_the_picture_is_of_one(knowledge: Database, tmp_path: Path) -> None:
    """Files that were copied have times in any order. Each rank moves: what one look shows must not stand beside the other."""
    places = {"first": (IN_CALL, LOADS, LOADS), "second": (LOADS, IN_CALL, LOADS)}
    for n, (look, frames) in enumerate(places.items()):
        for rank, own in enumerate(frames):
            file = tmp_path / f"rank{rank}_{look}.txt"
            file.write_text("\n".join(stack(None, own, 30 + rank)[1:]) + "\n")
            os.utime(file, (1_796_000_000, 1_796_000_000 + (rank + n) % 2 * 1e-3))
    found = analyze_paths([tmp_path], "stacks", knowledge).ranks
    assert found is None or [row.state for row in found.rows].count("waits") == 1


def test_a_rank_that_waits_for_the_report_of_guard_has_no_stack() -> None:
    left = "wait (/run/forensics/capture/guard.py:80)|__exit__ (/run/forensics/capture/guard.py:240)|<module> (/run/train.py:99)"
    found = drawn(stack(0, IN_CALL), stack(1, left), stack(2, IN_CALL))
    assert [(one.rank, one.kind) for one in found.odd] == [(1, "no_dump")]


def test_where_the_stacks_are_of_another_moment_the_logs_tell_the_end() -> None:
    place = ProofPlace("job.log", 3, "KeyError: 'b'")
    ends = Ends(
        {1: Ended("it raised KeyError", None, place, "code.exception")}, {0: _at(Ended("it raised", None, place, ""), 99)}
    )
    given = stack(0, IN_CALL), stack(1, LOADS), stack(2, IN_CALL)
    assert drawn(*given, ends=ends).basis == OTHER_MOMENT
    (odd,) = drawn(*given, ends=ends, by_logs=True).odd
    assert (odd.rank, odd.kind) == (1, "left")


def test_stacks_are_of_another_moment_if_a_rank_that_waits_in_them_raised_an_exception_of_its_own() -> None:
    place = ProofPlace("job.log", 3, "KeyError: 'b'")
    raised = Ends({1: Ended("it raised KeyError", Frame("/run/train.py", 30, "train"), place, "code.exception")})
    given = stack(0, IN_CALL), stack(1, f"{WAITS}|train (/run/train.py:19)"), stack(2, IN_CALL)
    assert [one.rank for one in drawn(*given).odd] == [1]
    assert drawn(*given, ends=raised).basis == OTHER_MOMENT


def test_an_event_loop_that_waits_says_so() -> None:
    (odd,) = drawn(stack(0, IN_CALL), stack(1, f"{LOOP}|main (/run/train.py:3)"), stack(2, IN_CALL)).odd
    assert (odd.kind, odd.doing.partition(" waits")[0]) == ("outside", "its event loop")


def test_in_the_backward_pass_the_thread_that_runs_a_hook_is_at_work() -> None:
    hook = [*stack(1, BACKWARD), 'Thread 999 (idle): "Dummy-1"', "    on_gradient (/run/train.py:33)"]
    (odd,) = drawn(stack(0, IN_CALL), hook, stack(2, IN_CALL)).odd
    assert (odd.rank, odd.kind, str(odd.place and odd.place.place)) == (1, "hook", "train.py:33")


def test_a_main_thread_that_waits_for_no_other_is_at_work_itself() -> None:
    loads = with_thread(stack(1, LOADS), f"{WAITS}|_mean (/run/comm.py:4)")
    (odd,) = drawn(stack(0, IN_CALL), loads, stack(2, IN_CALL)).odd
    assert (odd.rank, odd.kind, str(odd.place and odd.place.place)) == (1, "outside", "train.py:7")


@pytest.mark.parametrize("main", [FUTURE, LOOP])
def test_what_a_thread_of_a_pool_waits_for_is_what_its_caller_waits_for(main: str) -> None:
    def rank(inner: str) -> list[str]:
        work = f"{inner}|run (/usr/lib/python3.11/concurrent/futures/thread.py:58)".split("|")
        beat = ['Thread 998 (idle): "beat"', "    beat (/run/beat.py:4)"]
        return [*stack(1, f"{main}|next (/run/train.py:9)"), *beat, 'Thread 999 (idle): "pool_0"', *(f"    {f}" for f in work)]

    (odd,) = drawn(stack(0, IN_CALL), rank("read_index (/run/data.py:5)"), stack(2, IN_CALL)).odd
    assert (odd.rank, odd.kind, str(odd.place and odd.place.place)) == (1, "outside", "data.py:5")
    idle = "_worker (/usr/lib/python3.11/concurrent/futures/thread.py:81)"
    (odd,) = drawn(stack(0, IN_CALL), rank(idle), stack(2, IN_CALL)).odd
    assert str(odd.place and odd.place.place) == "train.py:9"


@pytest.mark.parametrize("program", ["capture/__main__.py", "__main__.py"])
def test_what_watches_a_rank_is_no_rank_although_it_has_its_number(program: str) -> None:
    watcher = stack(1, f"readable (/venv/forensics/capture/proc.py:127)|<module> (/venv/forensics/{program}:30)", 900)
    (odd,) = drawn(watcher, child(0, IN_CALL, 701), child(1, LOADS, 702)).odd
    assert (odd.rank, odd.pid, str(odd.place and odd.place.place)) == (1, 702, "train.py:7")


def test_stacks_of_the_start_say_nothing_of_a_rank_that_left_later() -> None:
    end = Ended("it ended with exit status 3", None, ProofPlace("job.log", 9, "pid 101 (python), child 1"), "")
    found = drawn(stack(0, LOADS), stack(1, LOADS), stack(2, IN_CALL), ends=Ends(own={1: end}))
    assert (found.odd, found.basis) == ((), OTHER_MOMENT)
    (odd,) = drawn(stack(0, IN_CALL), stack(1, LOADS), stack(2, IN_CALL), ends=Ends(own={1: end})).odd
    assert (odd.rank, odd.doing) == (1, "it waits for something outside of all collectives")


@pytest.mark.parametrize(
    ("inner", "doing"),
    [
        ("load (/run/train.py:7)", "it loads data"),
        ("decide (/run/train.py:7)", "it computes or waits; its stack does not show which"),
        ("acquire_lock (/run/train.py:7)", "it waits for a lock"),
    ],
)
def test_faulthandler_tells_no_state_of_a_thread(inner: str, doing: str) -> None:
    def text(frames: str) -> list[str]:
        rows = (frame.rstrip(")").split(" (") for frame in frames.split("|"))
        lines = [f'  File "{file.rpartition(":")[0]}", line {file.rpartition(":")[2]} in {name}' for name, file in rows]
        return ["Timeout (0:00:07)!", "Thread 0x00007eff687c4b80 (most recent call first):", *lines]

    def read(rank: int, frames: str) -> list[ProcessStacks]:
        lines = [Line(n, row) for n, row in enumerate(text(frames), 1)]
        return [replace(one, rank=rank) for one in read_stacks(lines, "")]

    found = picture([], [*read(0, IN_CALL), *read(1, f"{inner}|train (/run/train.py:12)"), *read(2, IN_CALL)])
    assert found is not None
    assert [(odd.rank, odd.doing) for odd in found.odd] == [(1, doing)]


AT_WAIT = "answer (/run/plan.py:25)|run (/run/plan.py:21)|<module> (/run/train.py:20)"
LOADER = f"Queue.get (/usr/lib/python3.11/multiprocessing/queues.py:113)|_try_get_data ({LIBRARY}/utils/data/dataloader.py:1291)"


def test_a_line_at_which_a_rank_gave_up_waiting_is_that_of_a_call() -> None:
    """`work.wait()`: a stack has no frame of PyTorch there. Two ranks stand at such a line, and two elsewhere."""
    stacks = stack(0, AT_WAIT), stack(1, LOADS), stack(2, AT_WAIT), stack(3, LOADS)
    assert drawn(*stacks).odd == ()
    gave_up = {0: Ended("it raised", Frame("/run/plan.py", 25, "answer"), ProofPlace("job.log", 3, "Timed out"), "")}
    found = drawn(*stacks, ends=Ends(gave_up=gave_up))
    assert [(odd.rank, odd.call, odd.waiting) for odd in found.odd] == [
        (1, "a collective call", (0, 2)),
        (3, "a collective call", (0, 2)),
    ]


def test_where_most_ranks_wait_at_one_line_of_the_program_the_others_are_odd() -> None:
    (odd,) = drawn(*(stack(n, AT_WAIT, kernel="futex") for n in (0, 1, 3)), stack(2, LOADS)).odd
    assert (odd.rank, odd.call, odd.waiting, odd.others and odd.others.line) == (2, "one call", (0, 1, 3), 25)
    for others in (
        [stack(n, AT_WAIT, kernel="nanosleep") for n in (0, 1, 3)],  # they sleep
        [stack(n, AT_WAIT, state="active") for n in (0, 1, 3)],  # they compute
        [stack(0, AT_WAIT), stack(1, AT_WAIT), stack(3, LOADS)],  # not more than half of the ranks
    ):
        assert drawn(*others, stack(2, LOADS)).odd == ()


@pytest.mark.parametrize("by_rank", [True, False])
def test_a_rank_that_waits_for_its_data_loader_is_where_the_worker_is(by_rank: bool) -> None:
    waiting = stack(1, f"{LOADER}|train (/run/train.py:12)")
    worker = stack(
        1 if by_rank else None, f"smoothed (/run/data.py:37)|{WORKER}|train (/run/train.py:12)", pid=900, state="active"
    )
    idle = stack(1 if by_rank else None, f"{WORKER}|train (/run/train.py:12)", pid=901)
    if not by_rank:
        worker[0], idle[0] = (f"{one[0]}, child {n} of pid 101" for n, one in enumerate((worker, idle)))
    for extra, line in (([idle, worker], 37), ([idle], 12)):
        (odd,) = drawn(stack(0, IN_CALL), waiting, stack(2, IN_CALL), *extra).odd
        assert (odd.rank, odd.place and odd.place.line) == (1, line)
        assert ("in worker 900 of its data loader" in odd.doing) == (line == 37)
        assert odd.kind == "computes" and "load" in odd.doing


def test_in_a_trainer_s_loop_the_stacks_of_the_odd_rank_part_from_those_of_the_others() -> None:
    """All ranks wait at one line of the program. Rank 2 has left the loop over batches, and ranks 0 and 1 stand apart inside of it."""

    def at(loop: int, inner: str) -> str:
        return f"{WAITS}|{inner}|run (/venv/lib/python3.11/site-packages/trainer/loop.py:{loop})|main (/run/fit.py:83)"

    step, sync, end = (f"{name} (/venv/lib/python3.11/site-packages/trainer/{name}.py:9)" for name in ("step", "sync", "end"))
    (odd,) = drawn(stack(0, at(153, sync)), stack(1, at(153, step)), stack(2, at(154, end))).odd
    assert (odd.rank, odd.kind, odd.place and odd.place.line) == (2, "other_call", 83)
    assert odd.doing == "it is at run (loop.py:154), where others are at run (loop.py:153)"
    for other in (
        [stack(0, at(153, step)), stack(1, at(153, sync))],  # no rank has the majority
        [stack(n, at(153, step)) for n in (0, 1, 2)],
        [
            stack(0, at(153, step)),
            stack(1, at(153, step)),
            stack(2, at(153, step).replace("c10d_logger.py:83", "c10d_logger.py:97")),
        ],
    ):
        assert drawn(*other).odd == ()


def test_of_moments_without_a_call_that_has_a_name_that_with_the_most_ranks_counts() -> None:
    """Ranks 0 and 1 gave up and ended; rank 2 goes on to load."""

    def at(moment: int, one: list[str]) -> list[str]:
        return [f"{one[0]} at 2026-11-29T20:5{moment}:59.370000+00:00", *one[1:]]

    early = [at(1, stack(0, AT_WAIT)), at(1, stack(1, AT_WAIT)), at(1, stack(2, LOADS))]
    (odd,) = drawn(*early, at(2, stack(2, LOADS))).odd
    assert (odd.rank, odd.waiting) == (2, (0, 1))


@pytest.mark.seconds
def test_stacks_of_faulthandler_are_those_of_the_rank_in_the_name_of_the_file(knowledge: Database, tmp_path: Path) -> None:
    for rank, inner in enumerate(
        (f"{LIBRARY}/distributed/distributed_c10d.py", "/run/data.py", f"{LIBRARY}/distributed/distributed_c10d.py")
    ):
        frames = [f'  File "{inner}", line 7 in all_reduce', '  File "/run/train.py", line 12 in train']
        text = ["Timeout (0:00:07)!", "Thread 0x00007eff687c4b80 (most recent call first):", *frames]
        (tmp_path / f"rank{rank}.log").write_text("\n".join(text) + "\n")
    found = analyze_paths([tmp_path], "stacks", knowledge).ranks
    assert found is not None
    assert [(odd.rank, odd.place and odd.place.line, odd.waiting) for odd in found.odd] == [(1, 7, (0, 2))]


def test_a_file_of_stacks_is_not_what_hung(tmp_path: Path, knowledge: Database) -> None:
    for n in range(2):
        write_look(tmp_path / f"look{n}", LOADS, IN_CALL, IN_CALL)
    (tmp_path / "job.log").write_text("".join(f"step {i} loss {1 / (i + 1):.3f}\n" for i in range(9)))
    found = analyze_paths([tmp_path], "case", knowledge)
    assert found.causes[0].evidence[0].source.endswith(".txt")
    assert found.subject is not None and found.subject.name.endswith("job.log")


@pytest.mark.parametrize("frames", [IN_CALL, LOADS], ids=["all wait", "one is elsewhere"])
@pytest.mark.parametrize(
    ("end", "later_s", "looks", "verdict"),
    [
        ("training complete", 60, 2, "no_crash"),
        ("training complete", 1, 2, "crash"),
        ("stage 2 finished", 60, 2, "crash"),
        ("training complete", 1, 1, "no_crash"),
        ("stage 2 finished", 60, 1, "undetermined"),
    ],
)
def test_stacks_of_a_run_that_went_on_to_a_good_end_tell_no_standstill(
    end: str, later_s: int, looks: int, verdict: str, frames: str, tmp_path: Path, knowledge: Database
) -> None:
    """Somebody looked at it. Files that were copied together tell nothing of what came first."""
    for look, rank in product(range(looks), range(3)):
        file = tmp_path / f"look{look}" / f"rank{rank}.txt"
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join(stack(rank, IN_CALL if rank else frames)[1:]))
        os.utime(file, (1_796_000_000, 1_796_000_000))
    log = tmp_path / "job.log"
    log.write_text("".join(f"step {i} loss {1 / (i + 1):.3f}\n" for i in range(9)) + f"{end}\n")
    os.utime(log, (1_796_000_000 + later_s, 1_796_000_000 + later_s))
    assert analyze_paths([tmp_path], "case", knowledge).verdict == verdict


def of_program(command: str, frames: str, pid: int) -> list[str]:
    """Stacks that tell neither rank nor parent, as a person takes them with py-spy."""
    head, _, *rest = stack(None, frames, pid)
    return [head, f"Process {pid}: {command}", *rest]


def test_processes_whose_commands_differ_by_a_number_are_ranks_if_one_waits() -> None:
    """Helpers of a rank have its command."""
    given = [
        of_program(f"python main.py trainer.rank={n} port=29500", frames, 10 + n) for n, frames in enumerate((IN_CALL, LOADS))
    ]
    (odd,) = drawn(of_program("python main.py trainer.rank=1 port=29500", WORKER, 90), *given).odd
    assert (odd.rank, odd.pid, odd.waiting) == (1, 11, (0,))
    waiting = [of_program(f"python fold.py --fold {n}", LOADS, 10 + n) for n in range(2)]
    read = [one for text in waiting for one in read_stacks([Line(n, line) for n, line in enumerate(text, 1)], "x")]
    assert {one.rank for one in ranked(read, {})} == {None}


def test_sources_whose_names_differ_by_a_number_are_ranks(knowledge: Database, tmp_path: Path) -> None:
    """faulthandler tells neither pid nor rank. The thread of a rank that began where those of others did that wait is looked at."""
    main = 'Thread 0x00007eff687c4b80 (most recent call first):\n  File "/usr/lib/python3.11/threading.py", line 1139 in join'
    waits = f'  File "{LIBRARY}/distributed/distributed_c10d.py", line 7 in all_reduce\n  File "/run/w.py", line 9 in rounds'
    loads = '  File "/run/w.py", line 30 in fetch\n  File "/run/w.py", line 8 in rounds'
    for number, inner in enumerate((waits, loads, waits)):
        text = f"Timeout (0:00:07)!\nThread 0x00007eff60000b80 (most recent call first):\n{inner}\n\n{main}\n"
        (tmp_path / f"stacks_worker_{number}.txt").write_text(text)
    found = analyze_paths([tmp_path], "stacks", knowledge).ranks
    assert found is not None
    assert [(odd.rank, odd.place and odd.place.line, odd.waiting) for odd in found.odd] == [(1, 30, (0, 2))]


def test_a_rank_that_several_processes_share_at_one_moment_is_that_of_what_started_them() -> None:
    """`srun` starts a program that spawns its ranks: all of them have its SLURM_PROCID."""

    def shared(frames: str, pid: int, taken: bool = True) -> list[str]:
        head, *rest = stack(0, f"{frames}|{SPAWNED}", pid)
        return [f"{head}{' at 2026-11-30T00:28:43.392046+00:00' if taken else ''}", *rest]

    (odd,) = drawn(shared(IN_CALL, 701), shared(IN_CALL, 703), shared(LOADS, 702)).odd
    assert (odd.rank, odd.pid, odd.waiting) == (1, 702, (0, 2))
    again = ranked(
        [
            one
            for pid in (701, 702)
            for one in read_stacks([Line(n, text) for n, text in enumerate(shared(IN_CALL, pid, taken=False), 1)], "x")
        ],
        {},
    )
    assert {one.rank for one in again} == {0}  # two attempts of one rank


NATIVE = "pthread_cond_wait (libc.so.6)|std::condition_variable::wait (libstdc++.so.6)|c10d::Work::wait (libtorch_cpu.so)"


def test_frames_of_native_code_hide_no_collective_call() -> None:
    """py-spy's `--native` has them in front of those of Python, as many as the library calls."""
    native = f"{NATIVE}|pybind11::cpp_function::initialize (libtorch_python.so)|pybind11::dispatcher (libtorch_python.so)"
    (odd,) = drawn(stack(0, f"{native}|{IN_CALL}"), stack(1, f"{NATIVE}|{LOADS}"), stack(2, f"{native}|{IN_CALL}")).odd
    assert (odd.rank, odd.waiting) == (1, (0, 2))


def test_a_log_that_names_rank_and_pid_tells_the_ranks_of_stacks() -> None:
    unnamed = [stack(None, frames, pid) for pid, frames in ((31, IN_CALL), (32, LOADS), (33, IN_CALL))]
    read = [one for text in unnamed for one in read_stacks([Line(n, line) for n, line in enumerate(text, 1)], "x")]
    assert [one.rank for one in ranked(read, {}, {31: 2, 32: 0, 33: 1})] == [2, 0, 1]


@pytest.mark.parametrize(
    ("logged", "ranks"),
    [({}, [0, 1, 2]), ({32: 1}, [0, 1, 2]), ({33: 3}, [None, None, 3])],
    ids=["none is told", "one that fits", "one process is missing"],
)
def test_processes_that_run_one_command_are_ranks_in_the_order_of_their_pids(
    logged: dict[int, int], ranks: list[int | None]
) -> None:
    """A launcher starts them one after the other. A worker of a data loader has the command of its rank."""
    frames = (31, IN_CALL), (32, LOADS), (33, IN_CALL), (40, f"{WORKER}|<module> (/run/train.py:20)")
    given = [of_program("python -u train.py", text, pid) for pid, text in frames]
    read = [one for text in given for one in read_stacks([Line(n, line) for n, line in enumerate(text, 1)], "x")]
    assert [one.rank for one in ranked(read, {}, logged)] == [*ranks, None]


def test_a_program_that_calls_native_code_itself_waits_in_a_collective_call_by_its_frames() -> None:
    """Work.wait of a call that was made with `async_op` has no frame of Python's library."""
    wait = (
        f"{NATIVE}|pybind11::cpp_function::dispatcher (libtorch_python.so)|share (/run/train.py:14)|<module> (/run/train.py:20)"
    )
    lock = "_multiprocessing_SemLock_acquire (semaphore.c:357)|put (/run/board.py:34)|<module> (/run/train.py:20)"
    (odd,) = drawn(stack(0, lock), stack(1, wait), stack(2, wait)).odd
    assert (odd.rank, odd.kind, odd.place and odd.place.line, odd.waiting) == (0, "lock", 34, (1, 2))


def test_stacks_that_tell_a_rank_tell_it_of_all_stacks_of_that_process() -> None:
    given = stack(1, LOADS, 11), [line.replace(", rank 1", "") for line in stack(1, LOADS, 11)], stack(0, IN_CALL, 10)
    read = [one for text in given for one in read_stacks([Line(n, line) for n, line in enumerate(text, 1)], "x")]
    assert [one.rank for one in ranked(read, {})] == [1, 1, 0]
    (odd,) = drawn(*given).odd
    assert (odd.rank, odd.pid) == (1, 11)


def test_a_program_that_is_installed_has_lines_of_its_own() -> None:
    site = "/venv/lib/python3.11/site-packages"
    outer = f"main ({site}/orchard/cli.py:6)|<module> ({site}/orchard/cli.py:10)|_run_code (<frozen runpy>:88)"
    waits, loads = (
        f"{WAITS}|average ({site}/orchard/fit.py:9)|{outer}",
        f"read ({site}/numpy/io.py:3)|rows ({site}/orchard/store.py:7)|{outer}",
    )
    (odd,) = drawn(stack(0, waits), stack(1, loads)).odd
    assert [str(one and one.place) for one in (odd.place, odd.others)] == ["store.py:7", "fit.py:9"]


def test_ranks_whose_stacks_part_first_are_odd_although_all_lines_differ() -> None:
    """The two others wait in two groups, as they do in each round."""
    inner = [
        f"{WAITS}|{call}|rounds (/run/w.py:{line})"
        for call, line in (("end (/run/w.py:4)", 57), ("a (/run/w.py:5)", 50), ("b (/run/w.py:6)", 50))
    ]
    (odd,) = drawn(*(stack(rank, f"{frames}|<module> (/run/w.py:70)") for rank, frames in enumerate(inner))).odd
    assert (odd.rank, odd.kind, odd.place and odd.place.line) == (0, "other_call", 4)


def test_a_call_at_the_same_loop_or_of_a_helper_in_it_is_not_behind_the_loop() -> None:
    """Ranks 1 and 2 wait for rank 0 in the barrier of their own group, which they enter in the step, behind the line of others."""
    shared = f"{WAITS}|targets (/run/w.py:32)|step (/run/w.py:50)|main (/run/w.py:65)"
    own = f"{WAITS.replace('all_reduce', 'barrier')}|lockstep (/run/order.py:21)|student (/run/w.py:37)|step (/run/w.py:56)"
    found = drawn(*(stack(rank, shared) for rank in range(3)), *(stack(rank, f"{own}|main (/run/w.py:65)") for rank in (3, 4)))
    assert {odd.kind for odd in found.odd} == {"barrier"}


@pytest.mark.parametrize(("line", "function", "kind"), [(10, "norm", "other_order"), (30, "norm", "other_call")])
def test_one_operation_at_an_earlier_line_is_of_another_group(line: int, function: str, kind: str) -> None:
    """Two calls of one group and operation meet, wherever they were made."""
    usual = f"{WAITS}|data (/run/w.py:5)|step (/run/w.py:20)"
    other = f"{WAITS}|{function} (/run/w.py:7)|step (/run/w.py:{line})"
    (odd,) = drawn(stack(0, usual), stack(1, usual), stack(2, other)).odd
    assert (odd.rank, odd.kind, odd.place and odd.place.line, odd.others and odd.others.line) == (2, kind, 7, 5)


@pytest.mark.parametrize("others", [2, 4])  # half of the ranks are enough
def test_of_calls_that_were_made_crosswise_the_rank_that_came_by_an_unusual_line_is_odd(others: int) -> None:
    """Rank 4 makes the call of `balance` first, and rank 5 waits for it in `exchange`, which comes first for all others."""
    usual = f"{WAITS}|balance (/run/moe.py:24)|forward (/run/moe.py:33)|main (/run/w.py:26)"
    waits = f"{WAITS}|exchange (/run/moe.py:18)|forward (/run/moe.py:32)|main (/run/w.py:26)"
    (odd,) = drawn(*(stack(n, usual) for n in range(others)), stack(4, usual.replace(":33", ":29")), stack(5, waits)).odd
    assert (odd.rank, odd.kind, odd.place and odd.place.line, odd.others and odd.others.line) == (4, "other_order", 24, 18)
    barrier = usual.replace("all_reduce", "barrier")
    (odd,) = drawn(*(stack(n, barrier) for n in range(others)), stack(4, barrier.replace(":33", ":29")), stack(5, waits)).odd
    assert (odd.rank, odd.kind, "two groups" in odd.doing) == (4, "barrier", False)


def crossed(line: int, same: int, helper: str, rank: int) -> list[str]:
    """The stack of a rank that calls a helper at `line` of the function `step`, which makes the same call at the line `same`."""
    head, *rest = stack(rank, f"{WAITS}|{helper} (/run/w.py:6)|step (/run/w.py:{line})|main (/run/w.py:24)")
    return [head, *([f"forensics run: at /run/w.py:{line}: the same call at lines {same}"] if same else []), *rest]


@pytest.mark.parametrize("is_first", [True, False])
def test_of_calls_through_one_helper_that_is_crosswise_which_comes_from_the_line_of_another_branch(is_first: bool) -> None:
    """Ranks 0 and 1 wait in the call of all for rank 2, which is in it by its other branch, while rank 3 waits for it in a pair."""
    odd_line, pair, world = (12, 15, 16) if is_first else (15, 11, 12)
    others = [crossed(world, odd_line, "agree", 0), crossed(world, odd_line, "agree", 1)]
    third = crossed(pair, odd_line + 1, "agree", 3)
    (odd,) = drawn(*others, crossed(odd_line, world, "agree", 2), third).odd
    assert (odd.rank, odd.kind, odd.place and odd.place.line, odd.others and odd.others.line) == (
        2,
        "other_order",
        odd_line,
        pair,
    )
    unseen = drawn(*(crossed(line, 0, "agree", rank) for rank, line in enumerate((world, world, odd_line, pair))))
    assert 2 in {odd.rank for odd in unseen.odd}


@pytest.mark.parametrize(("line", "same", "kind"), [(12, 0, "other_order"), (19, 17, "other_order"), (19, 0, "other_call")])
def test_the_line_of_a_call_through_a_helper_is_that_of_its_caller(line: int, same: int, kind: str) -> None:
    """Behind the line of the others it may have left a call out, unless the function makes that call in another branch, too."""
    usual = [crossed(16, 0, "agree", rank) for rank in (0, 1)]
    (odd,) = drawn(*usual, crossed(line, same, "agree", 2)).odd
    assert (odd.rank, odd.kind, odd.place and odd.place.line, odd.others and odd.others.line) == (2, kind, line, 16)


def test_a_rank_whose_main_thread_ended_by_an_exception_is_told_by_the_log() -> None:
    """A thread of it goes on, and the process with it."""
    ending = stack(0, "_shutdown (/usr/lib/python3.11/threading.py:1590)")
    writes = ['Thread 7 (idle): "writer"', "    get (/usr/lib/python3.11/queue.py:171)", "    run (/run/writer.py:18)"]
    raised = Ended(
        "it raised RuntimeError", Frame("/run/model.py", 14, "forward"), ProofPlace("job.log", 41, "..."), "code.shape"
    )
    for told, expected in ((raised, ("left", 14)), (replace(raised, frame=None), ("outside", 18))):
        (odd,) = drawn([*ending, *writes], stack(1, IN_CALL), ends=Ends(own={0: told})).odd
        assert (odd.rank, (odd.kind, odd.place and odd.place.line)) == (0, expected)


def test_of_two_ranks_the_one_in_the_barrier_is_not_the_one_that_left_it_out() -> None:
    barrier = f"{WAITS.replace('all_reduce', 'barrier')}|save (/run/w.py:18)"
    for first in (0, 1):
        (odd,) = drawn(stack(first, f"{WAITS}|save (/run/w.py:22)"), stack(1 - first, barrier)).odd
        assert (odd.rank, odd.kind) == (first, "barrier")


@pytest.mark.parametrize(("call", "kind"), [("backward", "other_batches"), ("all_reduce", "other_call")])
def test_a_function_that_calls_the_model_has_a_loop_where_no_source_was_seen(call: str, kind: str) -> None:
    inner = f"_engine_run_backward ({LIBRARY}/autograd/graph.py:9)|backward ({LIBRARY}/_tensor.py:5)"
    usual = f"{inner if call == 'backward' else WAITS}|train_epoch (/run/w.py:18)|main (/run/w.py:39)"
    (odd,) = drawn(stack(0, f"{WAITS}|main (/run/w.py:42)"), *(stack(n, usual) for n in (1, 2, 3))).odd
    assert (odd.rank, odd.kind) == (0, kind)


@pytest.mark.parametrize(("inner", "line"), [("store/table.py:21", 21), ("numpy/io.py:21", 18), ("json/decoder.py:21", 18)])
def test_short_paths_of_folders_that_are_no_known_package_are_of_the_program(inner: str, line: int) -> None:
    short = f"Table.write ({inner})|serve (server.py:18)"
    waits = "all_reduce (torch/distributed/distributed_c10d.py:9)|serve (server.py:17)"
    (odd,) = drawn(stack(0, waits), stack(1, short), stack(2, waits)).odd
    assert (odd.rank, odd.place and odd.place.line) == (1, line)


def test_the_one_rank_of_which_no_log_tells_that_it_waited_is_told(knowledge: Database) -> None:
    gave_up = {n: Ended("it raised", Frame("/run/w.py", 9, "step"), ProofPlace("job.log", n, "..."), "") for n in (0, 2, 3)}
    processes = {rank: RankProcess(100 + rank) for rank in range(4)}

    def told(ranks: tuple[int, ...]) -> list[tuple[int, str]]:
        found = picture([], (), Ends(gave_up={n: gave_up[n] for n in ranks}), processes, by_logs=True)
        return [(odd.rank, odd.kind) for odd in found.odd] if found else []

    assert (told((0, 2, 3)), told((0, 2))) == ([(1, "elsewhere")], [])


@pytest.mark.parametrize("states", [("active+gil", "active+gil"), ("idle", "active+gil"), ("active+gil",)])
def test_a_thread_that_holds_the_lock_in_each_look_keeps_its_rank_from_going_on(states: tuple[str, ...]) -> None:
    looks = []
    for moment, state in enumerate(states):
        for rank in range(3):
            one = stack(rank, IN_CALL)
            one[0] += f" at 2026-11-30T07:29:0{moment}+00:00"
            held = state if rank == 1 else "idle"
            looks.append(
                [*one, f'Thread 7{rank} ({held}): "tokenize"', "    clean (/run/text.py:8)", "    fill (/run/text.py:42)"]
            )
    found = [(odd.rank, odd.kind, odd.place and odd.place.line, odd.waiting) for odd in drawn(*looks).odd]
    assert found == ([(1, "lock", 8, (0, 2))] if len(states) > 1 and "idle" not in states else [])


def test_a_lock_that_one_rank_holds_is_told_before_the_lines_at_which_others_wait() -> None:
    """In the first look the rank still imports modules, and has no such thread."""
    looks = []
    for moment in range(3):
        for rank in range(3):
            one = stack(rank, IN_CALL.replace(":14", f":{14 + rank}"))
            one[0] += f" at 2026-11-30T07:29:0{moment}+00:00"
            held = [f'Thread 7{rank} ({"active+gil" if rank == 1 else "idle"}): "tokenize"', "    clean (/run/text.py:8)"]
            looks.append([*one, *(held if moment else [])])
    assert [(odd.rank, odd.kind, odd.place and odd.place.line) for odd in drawn(*looks).odd] == [(1, "lock", 8)]


def _look(moment: int, *places: str) -> list[list[str]]:
    looks = [stack(rank, frames) for rank, frames in enumerate(places)]
    return [[f"{one[0]} at 2026-11-30T07:29:{moment:02d}+00:00", *one[1:]] for one in looks]


IN_PCONTEXT = [f"{name} ({LIBRARY}/distributed/elastic/multiprocessing/api.py:9)" for name in ("close", "_poll", "wait", "start")]
ENDS_RANKS = "|".join(["wait (/usr/lib/python3.11/threading.py:327)", *IN_PCONTEXT, *IN_PCONTEXT, AGENT])


def test_a_launcher_that_ends_its_ranks_is_none_of_them() -> None:
    """It has the variable of a rank, and waits for the logs of its ranks."""
    ranks = [stack(rank, IN_CALL) for rank in range(3)]
    launcher = stack(0, ENDS_RANKS, pid=90)
    for given in ([*ranks, launcher], [launcher, *ranks]):
        assert drawn(*given).odd == ()


@pytest.mark.parametrize("whole", [True, False])
def test_a_look_at_some_of_the_ranks_tells_nothing_of_the_others(whole: bool) -> None:
    """As guard() takes them, which looks at its own rank."""
    looks = [*_look(10, IN_CALL, LOADS, IN_CALL), *_look(40, IN_CALL, LOADS, IN_CALL)]
    third = _look(50, IN_CALL, IN_CALL, IN_CALL)
    read = [one for text in (*looks, *(third if whole else third[1:])) for one in _read(text)]
    late = late_in_looks(read, {})
    assert ([odd.rank for odd in late.odd] if late else []) == ([] if whole else [1])


def test_of_several_looks_the_place_of_most_is_told_of_a_late_rank() -> None:
    step = "backward (/run/train.py:44)|train (/run/train.py:13)|<module> (/run/train.py:20)"
    looks = [text for n, at in enumerate((LOADS, LOADS, step)) for text in _look(10 + 10 * n, IN_CALL, at, IN_CALL)]
    late = late_in_looks([one for text in looks for one in _read(text)], {})
    assert late and [(odd.rank, odd.kind, odd.place and odd.place.line) for odd in late.odd] == [(1, "late", 7)]
    assert "in most of them" in late.odd[0].doing


def _read(text: list[str]) -> list[ProcessStacks]:
    return list(read_stacks([Line(i, t) for i, t in enumerate(text, 1)], f"stacks/{text[0]}.txt"))


@pytest.mark.parametrize(
    ("native", "kind"),
    [
        ("pybind11::gil_scoped_release::~gil_scoped_release (libtorch_python.so)", "lock"),
        ("take_gil (python3.11)|PyEval_RestoreThread (python3.11)", "lock"),
        ("std::condition_variable::wait (libstdc++.so.6)|Store::get<pybind11::gil_scoped_release> (libtorch_python.so)", ""),
    ],
)
def test_a_rank_that_waits_for_the_interpreter_behind_a_call_is_in_none(native: str, kind: str) -> None:
    found = drawn(stack(0, IN_CALL), stack(1, f"{native}|{IN_CALL}"), stack(2, IN_CALL))
    assert [odd.kind for odd in found.odd] == ([kind] if kind else [])
    assert not kind or found.odd[0].doing.startswith("it waits for the interpreter's lock")


@pytest.mark.parametrize(
    ("second", "told"), [((IN_CALL, LOADS, IN_CALL), True), ((LOADS, IN_CALL, IN_CALL), False), ((IN_CALL,) * 3, False)]
)
def test_a_rank_that_is_late_in_each_look_is_worth_knowing(
    second: tuple[str, ...], told: bool, tmp_path: Path, knowledge: Database
) -> None:
    """The run was stopped by somebody: no rank ended it, and the verdict says nothing of ranks."""
    (tmp_path / "job.log").write_text("step 7 loss 0.41\nSignalException: Process 2374 got signal: 15\n")
    (tmp_path / "stacks").mkdir()
    for n, text in enumerate([*_look(10, IN_CALL, LOADS, IN_CALL), *_look(40, *second)]):
        (tmp_path / "stacks" / f"{n}.txt").write_text("\n".join([*text, ""]))
    report = analyze_paths([tmp_path], "stopped", knowledge)
    late = [notice.why for notice in report.notices if "keeps the others waiting" in notice.why]
    assert (len(late), "culprit_rank" in report.causes[0].facts) == (int(told), False)
    assert not told or (late[0].startswith("rank 1 (pid 101 on gpu-1) keeps") and "in each of 2 looks" in late[0])


@pytest.mark.parametrize(("function", "told"), [("wait_for_file", True), ("wait_for_turn", False), ("read_with_retries", False)])
def test_a_sleep_in_a_function_that_waits_for_a_file_is_that_wait(function: str, told: bool) -> None:
    sleeps = f"{function} (/run/staging.py:19)|main (/run/train.py:28)"
    (odd,) = drawn(stack(0, IN_CALL), stack(1, sleeps, kernel="clock_nanosleep"), stack(2, IN_CALL)).odd
    assert (odd.rank, "waits for a file" in odd.doing) == (1, told)


@pytest.mark.parametrize(
    ("line", "loops", "kind", "told"),
    [
        (22, "", "barrier", "it left that barrier out"),
        (18, "", "barrier", "it left that barrier out"),
        (18, "in loops of lines 17-19", "other_batches", "it had more batches"),
    ],
)
def test_a_rank_in_another_call_than_the_barrier_of_the_others_left_it_out_unless_it_has_more_batches(
    line: int, loops: str, kind: str, told: str
) -> None:
    usual = f"{WAITS.replace('all_reduce', 'barrier')}|save (/run/ckpt.py:12)|main (/run/w.py:20)"
    head, *rest = stack(2, f"{WAITS}|norm (/run/w.py:7)|main (/run/w.py:{line})")
    looked_at = [f"forensics run: at /run/w.py:{line}: {loops}"] if loops else []
    (odd,) = drawn(stack(0, usual), stack(1, usual), [head, *looked_at, *rest]).odd
    assert (odd.rank, odd.kind, told in odd.doing) == (2, kind, True)


@pytest.mark.parametrize("state", ["idle", "active+gil"])
def test_beside_a_main_thread_that_waits_for_a_lock_the_thread_that_may_hold_it_is_told(state: str) -> None:
    """py-spy shows no lock of the interpreter that a call into C keeps; one that it does show is told itself, in two looks."""
    looks = []
    for moment in range(2):
        held = [*stack(1, LOADS, kernel="futex"), f'Thread 71 ({state}): "Thread-1"', "    settle (/run/native.py:8)"]
        given = [stack(0, IN_CALL), [*held, 'Thread 72 (idle): "forensics dumps"', "    ask (/run/x.py:1)"], stack(2, IN_CALL)]
        for head, *rest in given:
            who, _, kernel = head.partition("; in")
            looks.append([f"{who} at 2026-11-30T07:29:0{moment}+00:00{kernel and f'; in{kernel}'}", *rest])
    (odd,) = drawn(*looks).odd
    idle = "it waits for a lock or another thread (its thread Thread-1 is at settle (native.py:8))"
    held_long = "its thread Thread-1 holds the interpreter's lock for long"
    assert (odd.doing, odd.place and odd.place.line) == ((idle, 7) if state == "idle" else (held_long, 8))


def test_a_wait_of_no_name_beside_a_rank_that_computes_is_one_for_a_call_made_before() -> None:
    waits = stack(2, "<listcomp> (/run/comm.py:27)|main (/run/w.py:9)", kernel="futex")
    (odd,) = drawn(stack(0, IN_CALL), stack(1, LOADS, state="active+gil"), waits).odd
    assert (odd.rank, odd.kind) == (1, "computes")


@pytest.mark.parametrize(("line", "odd_rank"), [(14, 2), (99, 0)])
def test_of_several_moments_that_counts_in_which_ranks_wait_where_they_gave_up(line: int, odd_rank: int) -> None:
    """Two looks at the start, when rank 0 prepares and the others wait for it, and one at the hang, which rank 2 brought about."""
    prepares = f"{WAITS}|prepare (/run/train.py:4)"
    looks = [*_look(10, LOADS, prepares, prepares), *_look(20, LOADS, prepares, prepares), *_look(50, IN_CALL, IN_CALL, LOADS)]
    gave_up = {0: Ended("it raised", Frame("/run/train.py", line, "train"), ProofPlace("job.log", 3, "Timed out"), "")}
    found = drawn(*looks, ends=Ends(gave_up=gave_up))
    shown = {row.rank for row in found.rows if row.state in ("elsewhere", "outside")}
    assert shown == {odd_rank}


def test_a_pause_in_which_all_waited_where_ranks_gave_up_is_not_the_moment_in_which_as_many_wait() -> None:
    looks = [*_look(10, *(IN_CALL,) * 3), *(one for at in (50, 55) for one in _look(at, IN_CALL, IN_CALL, LOADS))]
    end = Ended("it raised", Frame("/run/train.py", 14, "train"), ProofPlace("job.log", 3, "Timed out"), "")
    (odd,) = drawn(*looks, ends=Ends(gave_up={0: end, 1: end})).odd
    assert odd.rank == 2


@pytest.mark.parametrize(("beside", "kind"), [("active", "lock"), ("idle", "computes")])
def test_a_thread_of_a_rank_that_cannot_go_on_where_others_sleep_waits_for_the_interpreter_s_lock(beside: str, kind: str) -> None:
    def beating(rank: int, frames: str, state: str, other: str) -> list[str]:
        return [*stack(rank, frames, state=state), f'Thread 999 ({other}): "beat"', "    beat (/run/train.py:27)"]

    ranks = [beating(0, IN_CALL, "idle", "idle"), beating(1, LOADS, "active+gil", beside), beating(2, IN_CALL, "idle", "idle")]
    (odd,) = drawn(*ranks).odd
    assert (odd.rank, odd.kind, "its thread beat waits at beat (train.py:27)" in odd.doing) == (1, kind, kind == "lock")


def test_hooks_and_wrappers_hide_no_call_of_the_model() -> None:
    """A sharded model makes its collective calls in hooks. Rank 1 is behind the loop in which the others call the model."""
    hook = f"{WAITS}|FSDPState._pre_forward ({LIBRARY}/distributed/fsdp/_fully_shard/_fsdp_state.py:314)"
    wrapped = f"DisableContext.__call__.<locals>._fn ({LIBRARY}/_dynamo/eval_frame.py:1446)"
    module = f"Module._wrapped_call_impl ({LIBRARY}/nn/modules/module.py:1778)"
    in_model = f"{hook}|{wrapped}|{module}|play (/run/online.py:15)|main (/run/online.py:31)"
    behind = f"{WAITS}|agree (/run/rounds.py:23)|main (/run/online.py:32)"
    (odd,) = drawn(stack(0, in_model), stack(1, behind), stack(2, in_model)).odd
    assert (odd.rank, odd.kind, odd.call) == (1, "other_batches", "forward")


@pytest.mark.parametrize(("first", "since", "told"), [(LOADS, 2, 1), (LOADS, 31, 0), (IN_CALL, 2, 0)])
def test_a_rank_for_which_the_others_waited_before_the_job_went_on_was_late_before(first: str, since: int, told: int) -> None:
    """Two looks at one silence show one wait."""

    def silent(moment: int, begun: int, *places: str) -> list[list[str]]:
        return [[f"{head}, silent since 2026-11-30T07:29:{begun:02d}+00:00", *rest] for head, *rest in _look(moment, *places)]

    looks = [*silent(10, since, IN_CALL, first, IN_CALL), *silent(40, 31, IN_CALL, LOADS, IN_CALL)]
    (odd,) = drawn(*looks, *silent(50, 31, IN_CALL, LOADS, IN_CALL)).odd
    assert (odd.rank, odd.late_waits) == (1, (8.0,) * told)
    assert ("in 1 silence of the job before (at least 8 s)" in reason(odd)) == bool(told)
    assert "as their stacks show; nothing was printed since 2026-11-30T07:29:31Z" in reason(odd)


def test_a_look_at_the_start_says_nothing_of_a_rank_that_is_late(tmp_path: Path, knowledge: Database) -> None:
    (tmp_path / "job.log").write_text("step 7 loss 0.41\nSignalException: Process 2374 got signal: 15\n")
    (tmp_path / "stacks").mkdir()
    for n, text in enumerate(
        [*_look(5, LOADS, LOADS, LOADS), *_look(10, IN_CALL, LOADS, IN_CALL), *_look(40, IN_CALL, LOADS, IN_CALL)]
    ):
        (tmp_path / "stacks" / f"{n}.txt").write_text("\n".join([*text, ""]))
    report = analyze_paths([tmp_path], "stopped", knowledge)
    assert any("in each of 2 looks" in notice.why for notice in report.notices)
    assert what_happened(report).endswith("in the last one it waits for something outside of all collectives (train.py:7).")
    assert "Until then, rank 1" in what_happened(report)


FAILED_LOOK = "Process {pid}: python train.py\nPython v3.11.7\n\nError: Failed to get stack traces\n\nCaused by:\n    0: Failed to suspend process\n"
PS = "  PID  PPID STAT     ELAPSED WCHAN                COMMAND\n"


def write_stacks(folder: Path, frames: dict[int, str]) -> None:
    """What py-spy printed of each rank, in files named by rank and pid; an empty text stands for a look that failed."""
    for rank, own in frames.items():
        text = "\n".join(stack(None, own, 30 + rank)[1:]) if own else FAILED_LOOK.format(pid=30 + rank)
        (folder / f"pyspy_rank{rank}_pid{30 + rank}.txt").write_text(text + "\n")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"ps.txt": PS + "   30     9 Ssl        00:17 futex_do_wait        python train.py\n   31     9 Tsl        00:17 do_signal_stop"
                         "       python train.py\n"}, "ps.txt:3"),
        ({"nodectl.log": "03:31:11 preemptd[97]: sent SIGSTOP to pid 31\n"}, "nodectl.log:1"),
        ({"nodectl.log": "03:31:11 preemptd[97]: sent SIGSTOP to pid 31\n03:31:19 preemptd[97]: sent SIGCONT to pid 31\n"}, ""),
        ({"ps.txt": PS + "   31     9 Ssl        00:17 futex_do_wait        python train.py\n"}, ""),
    ],
    ids=["ps", "who did it", "who let it go on", "not stopped"],
)  # fmt: skip
@pytest.mark.parametrize("looked", [True, False], ids=["its stack", "no stack"])
def test_a_rank_whose_process_is_stopped_is_told_by_other_files(
    files: dict[str, str], told: str, looked: bool, tmp_path: Path
) -> None:
    write_stacks(tmp_path, {0: IN_CALL, 1: IN_CALL if looked else "", 2: IN_CALL})
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = [
        (odd.rank, odd.kind, f"{Path(odd.proofs[0].source).name}:{odd.proofs[0].line}") for odd in _picture([tmp_path], 1).odd
    ]
    assert found == ([(1, "outside", told)] if told else [] if looked else [(1, "no_dump", "pyspy_rank0_pid30.txt:7")])


IN_STORE = "total (/run/board.py:20)|main (/run/board.py:58)"


@pytest.mark.parametrize("frames", [IN_CALL, IN_STORE], ids=["in a call", "in a store"])
def test_a_rank_that_lines_of_the_log_name_and_that_nobody_looked_at_has_left(frames: str, tmp_path: Path) -> None:
    write_stacks(tmp_path, {0: frames, 1: frames, 2: frames})
    log = tmp_path / "job.log"
    log.write_text("rank 0: 3 shards\nrank 1: 3 shards\nrank 2: 2 shards\nrank 3: 0 shards\nrank 3: nothing to do\n")
    (odd,) = _picture([tmp_path], 1).odd
    assert (odd.rank, odd.kind, odd.waiting, odd.proofs[0].text) == (3, "ended_well", (0, 1, 2), "rank 3: nothing to do")
    assert odd.rival.startswith("it could not be looked at")
    for text in ("rank 0: 3 shards\nrank 3: 2 rows\n", "rank 0\nrank 1\nrank 2\nrank 7\n", "rank 0\nrank 1\nrank 2\n"):
        log.write_text(text)  # a number of something else, or of no rank more
        assert _picture([tmp_path], 1).odd == ()
    log.write_text("rank 0\nrank 1\nrank 2\nrank 3\n")
    write_stacks(tmp_path, {3: ""})
    assert [odd.kind for odd in _picture([tmp_path], 1).odd] == ["no_dump"]


def test_a_rank_that_parted_by_another_branch_is_told_with_it() -> None:
    def at(helper: int, line: int) -> str:
        return f"{WAITS}|call{helper} (/run/comm.py:{helper})|run (/run/work.py:{line})|<module> (/run/train.py:30)"

    (odd,) = drawn(stack(0, at(4, 17)), stack(1, at(9, 21)), stack(2, at(4, 17))).odd
    assert (odd.rank, [f.place for f in odd.fork or ()]) == (1, ["work.py:21", "work.py:17"])
    assert "as their stacks show; in run it went on from work.py:21, and they from work.py:17." in reason_and_rival(odd)


def test_the_function_of_a_hook_is_told_beside_the_line_where_it_waits() -> None:
    hook = f"scale (/run/calib.py:11)|squeeze (/run/hookdef.py:8)|{BACKWARD}"
    (odd,) = drawn(stack(0, IN_CALL), stack(1, hook), stack(2, IN_CALL)).odd
    assert (odd.kind, odd.place and odd.place.place) == ("hook", "calib.py:11")
    assert odd.doing.endswith("in a hook of the backward pass (squeeze, hookdef.py:8)")
