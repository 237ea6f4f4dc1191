"""What is remembered, by what it is known again, and what is said of it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

pytest.importorskip("sqlalchemy", reason="needs the extra history")

from forensics.core.errors import UsageError
from forensics.history.again import seen_before
from forensics.history.exchange import export, incidents_in, reports_in
from forensics.history.fingerprint import Incident, RunFacts, before_dash, fingerprint, incident_of
from forensics.history.jobs import expand_nodes, read_jobs
from forensics.history.opening import open_store, open_to_read
from forensics.history.page import page, trend
from forensics.history.store import Store
from forensics.model import Line, Report
from forensics.report import render
from forensics.report.overview import seen_before as sentence
from tests.commandline import in_text
from tests.history.made import incident, report

HERE = Path(__file__).parent
SAMPLES = HERE.parents[1] / "sample_logs"
SALT = b"salt"
# fingerprints of the reports that an earlier version stored, as this version made them when it was new
STORED = HERE / "stored_reports.jsonl"


def remember(store: Store, *reports: Report) -> list[Incident]:
    made = [incident_of(r, 0, store.salt) for r in reports]
    store.add(made)
    return made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(str(tmp_path / "history.db"))
    yield opened
    opened.close()


def test_what_differs_from_run_to_run_is_not_in_a_fingerprint() -> None:
    one = report("[rank3]: ValueError: shard 17 of /data/a7f2/x.bin on gpu-0412 has 12 rows", host="gpu-0412", pid=4711)
    two = report("[rank0]: ValueError: shard 9 of /data/b111/x.bin on gpu-0007 has 8 rows", 3, host="gpu-0007", pid=12)
    assert fingerprint(one) == fingerprint(two)
    assert fingerprint(report(user="bob")) == fingerprint(report(day=9, case="other-8811"))


def test_another_message_function_or_cause_is_another_failure() -> None:
    base, message, function, file, cause = (
        report(),
        report("ValueError: momentum outside"),
        report(function="load"),
        report(file="/home/alice/proj/finetune.py"),
        report(cause="data.corrupt"),
    )
    prints = [fingerprint(r) for r in (base, message, function, file, cause)]
    assert len({p.exact for p in prints}) == 5
    assert len({p.similar for p in prints}) == 4
    assert prints[3].similar == prints[0].similar
    assert fingerprint(report("KeyError: 'labels'")).similar != fingerprint(report("KeyError: 'image'")).similar


def with_code(code: str, told: Report, head: str = "") -> Report:
    """`told`, whose evidence quotes the frame and the line of code below it."""
    (first,) = told.causes
    place = f'{head}  File "{first.facts["file"]}", line {first.facts["line_no"]}, in {first.facts["function"]}'
    proof = replace(first.evidence[0], text=place, weight="hint", after=(Line(9, f"{head}    {code}"), Line(10, "x")))
    return replace(told, causes=(replace(first, evidence=(*first.evidence, proof)),))


def test_the_failing_line_of_code_tells_apart_what_is_alike_in_all_else(store: Store) -> None:
    base = fingerprint(with_code("loss = model(x, 32)", report()))
    assert before_dash(base.exact) == fingerprint(report()).exact
    assert fingerprint(with_code("loss =  model(x, 64)", report(day=4), "[rank3]: ")) == base
    other = fingerprint(with_code("loss = model(y)", report()))
    assert (other.exact == base.exact, other.similar == base.similar) == (False, True)
    remember(store, report(), *(with_code("loss = model(x)", report(day=d)) for d in (1, 2)))
    levels = [
        seen_before(store, incident_of(r, 0, store.salt)) for r in (with_code("loss = model(x)", report(day=5)), report(day=5))
    ]
    assert [(found.level, found.seen) for found in levels] == [("exact", 3), ("exact", 3)]  # one of them without a line of code
    levels = [seen_before(store, incident_of(with_code(c, report(day=5)), 0, store.salt)) for c in ("loss = model(y)", "f(x)")]
    assert [(found.level, found.seen) for found in levels] == [("exact", 1), ("exact", 1)]


def test_where_no_code_is_named_the_run_tells_programs_apart(store: Store) -> None:
    def killed(day: int) -> Report:
        return report("Killed process 9 (python)", day, "host_memory.oom_cgroup", file="", function="")

    store.add([incident_of(killed(n), 0, store.salt, RunFacts(run=f"train-{n}.py")) for n in range(3)])
    for run, told in (("train-7.py", 3), ("eval.py", 0), ("", 3)):
        asked = incident_of(killed(9), 0, store.salt, RunFacts(run=run))
        found = seen_before(store, asked)
        assert (found.level, found.seen) == (("exact", told) if told else ("similar", 3))


def test_where_no_code_and_no_run_is_known_what_followed_tells_failures_apart() -> None:
    def killed(day: int, *followed: str) -> Report:
        told = report("Killed process 9 (python)", day, "host_memory.oom_cgroup", file="", function="")
        (first,) = told.causes
        return replace(told, causes=(first, *(replace(first, id=name, role="symptom") for name in followed)))

    kernel, worker, bare = killed(1, "notebook.kernel_died"), killed(2, "process.worker_died"), killed(3)
    prints = [fingerprint(r) for r in (kernel, worker, bare)]
    assert len({p.exact for p in prints}) == 3
    assert len({p.similar for p in prints}) == len({before_dash(p.exact) for p in prints}) == 1
    assert fingerprint(killed(7, "notebook.kernel_died")) == prints[0]
    assert fingerprint(kernel, "train.py") == fingerprint(worker, "train.py") == fingerprint(bare, "train.py")


def test_fingerprints_of_stored_reports_stay() -> None:
    stored = {r.case: r for r in reports_in(STORED)}
    assert len(stored) == 12
    expected = dict(line.split() for line in (HERE / "stored_prints.txt").read_text().splitlines())
    assert {case: before_dash(fingerprint(r).exact) for case, r in stored.items()} == expected


@pytest.mark.parametrize("case", ["jupyter_oom", "nan_loss", "torchrun_keyerror"])
def test_this_version_knows_again_what_an_earlier_one_stored(case: str) -> None:
    from forensics import pipeline

    old = next(r for r in reports_in(STORED) if r.case == case)
    new = pipeline.analyze_paths([SAMPLES / case], case, pipeline.database())
    assert before_dash(fingerprint(new).exact) == before_dash(fingerprint(old).exact)
    assert fingerprint(new).similar == fingerprint(old).similar


def test_the_same_report_is_remembered_once(store: Store) -> None:
    made = incident_of(report(), 0, store.salt)
    assert (store.add([made]), store.add([made]), store.add([made] * 3, at_once=10), store.count()) == (1, 0, 0, 1)


def test_persons_are_pseudonyms_and_nodes_are_not(store: Store, tmp_path: Path) -> None:
    told = report("ValueError: /home/alice/x on gpu-0412 of alice@example.org", host="gpu-0412", job="4711", job_name="alice-run")
    (made,) = remember(store, told)
    assert made.node == "gpu-0412"
    assert made.job == "4711"
    assert made.user.startswith("user-")
    assert "alice" not in str(store.shown(1))
    assert "alice" not in "".join(p.read_bytes().decode("latin-1") for p in tmp_path.iterdir())
    kept = open_store(str(tmp_path / "names.db"), keep_names=True)
    assert remember(kept, told)[0].user == "alice"
    assert (store.forget("bob"), store.forget("alice"), store.count()) == (0, 1, 0)
    assert kept.forget("alice") == 1
    kept.close()


def test_the_report_says_when_and_where_it_was_seen_before(store: Store) -> None:
    assert (
        sentence(replace(report(), history=seen_before(store, incident_of(report(), 0, store.salt))))
        == "The history has nothing like it."
    )
    remember(store, *(report(day=d, host="gpu-0412" if d < 5 else "gpu-0007") for d in range(7)))
    asked = incident_of(report(day=20), 0, store.salt)
    store.add([asked])
    found = seen_before(store, asked)
    told = replace(report(day=20), history=found)
    assert (found.seen, found.level, found.node_count) == (7, "exact", 2)
    assert (
        sentence(told)
        == "Seen 7 times since 3 Oct 2026, on 2 nodes; 5 of them on gpu-0412; 6 of the 6 next runs that are known failed in the same way."
    )
    store.resolve(1, "lower the rate", 0)
    noted = replace(told, history=seen_before(store, asked))
    for form in ("text", "markdown", "html", "json"):
        assert "lower the rate" in render(noted, form)
    other = seen_before(store, incident_of(report(file="/home/alice/proj/finetune.py"), 0, store.salt))
    assert (other.level, other.seen) == ("similar", 8)
    well = replace(told.causes[0], id="none.healthy")
    assert sentence(replace(told, verdict="no_crash", causes=(well,))) == ""


SACCT = """JobID|JobName|User|State|Start|End|NodeList|ReqMem|Timelimit|AllocTRES
11|train|alice|OUT_OF_MEMORY|2026-10-03T07:00:00|2026-10-03T09:00:00|gpu-[01-02]|32G|1-00:00:00|gres/gpu=8,node=2
11.batch|batch||OUT_OF_MEMORY|2026-10-03T07:00:00|2026-10-03T09:00:00|gpu-01|||
12|train|alice|COMPLETED|2026-10-03T10:00:00|2026-10-04T10:00:00|gpu-01|64G|1-00:00:00|gres/gpu=8,node=2
13|eval|bob|RUNNING|2026-10-05T10:00:00|Unknown|gpu-03|8G|1-00:00:00|
"""


def test_what_helped_is_told_by_the_next_run(store: Store, tmp_path: Path) -> None:
    accounts = tmp_path / "sacct.csv"
    accounts.write_text(SACCT)
    jobs = read_jobs(accounts)
    assert [j["job"] for j in jobs] == ["11", "12"]
    remember(store, report("Killed process 9 (python)", cause="host_memory.oom_cgroup", job="11", job_name="train"))
    store.add_jobs(jobs)
    new = incident_of(report("Killed process 8 (python)", 5, "host_memory.oom_cgroup", job="20", job_name="train"), 0, store.salt)
    assert seen_before(store, new).outcome == "after --mem 64G it did not return"
    assert store.shown(1)["gpu_hours"] == 16
    assert (expand_nodes("gpu-[01-03,07],login"), trend(store)[0].gpu_hours) == (
        ["gpu-01", "gpu-02", "gpu-03", "gpu-07", "login"],
        16,
    )


def test_a_run_that_ended_well_tells_that_it_helped_without_accounts(store: Store) -> None:
    remember(store, report(), replace(report(day=1), verdict="no_crash"))
    assert seen_before(store, incident_of(report(day=9), 0, store.salt)).outcome == "the next run ended well"


@pytest.mark.parametrize(
    ("place", "told"), [("/home/bob/other/train.py", ""), ("/home/alice/proj/train.py", "the next run ended otherwise")]
)
def test_another_program_of_the_same_name_is_no_next_run(place: str, told: str, store: Store) -> None:
    remember(store, report(), report("KeyError: 'weights'", day=1, file=place))
    assert seen_before(store, incident_of(report(day=9), 0, store.salt)).outcome == told


def test_exported_incidents_are_imported_again(store: Store, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    remember(store, *(report(day=d) for d in range(5)))
    other = open_store(str(tmp_path / "other.db"))
    for name in ("x.parquet", "x.csv", "x.jsonl"):
        assert export(store.every(), tmp_path / name) == 5
    assert other.add(incidents_in(tmp_path / "x.parquet", 0, None, RunFacts()), 100) == 5
    assert [i.key for i in other.every()] == [i.key for i in store.every()]
    other.close()
    with pytest.raises(UsageError, match="unknown format"):
        export(store.every(), tmp_path / "x.xml")


def test_incidents_before_a_day_are_pruned(store: Store) -> None:
    store.add(incident(n) for n in range(10))
    assert (store.prune(incident(4).time), store.count()) == (4, 6)


def test_the_page_cannot_be_written_into(store: Store) -> None:
    store.add([incident(1, title="<script>alert(1)</script>", node="<b>", line="a\x1b[0m")])
    made = page(store, "History")
    assert "&lt;t" not in made  # its own tables are no text
    assert "<script>" not in made
    assert "<b>" not in made
    assert "\x1b" not in made


WRITER = """
import sys
from forensics.history.opening import open_store
from tests.history.made import incident
store = open_store(sys.argv[1])
first = int(sys.argv[2])
for n in range(first, first + int(sys.argv[3])):
    store.add([incident(n)])
    if n == first: print("going", flush=True)
"""


def writer(place: str, first: int, count: int) -> "subprocess.Popen[bytes]":
    made = [sys.executable, "-c", WRITER, place, str(first), str(count)]
    return subprocess.Popen(made, cwd=HERE.parents[1], stdout=subprocess.PIPE)


@pytest.mark.seconds
def test_two_writers_lose_nothing_and_a_killed_one_loses_the_report_at_hand(tmp_path: Path) -> None:
    place = str(tmp_path / "history.db")
    killed = writer(place, 10_000, 1_000_000)
    assert killed.stdout and killed.stdout.readline()
    both = [writer(place, n, 100) for n in (0, 100)]
    assert [w.wait(60) for w in both] == [0, 0]
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    store = open_store(place)
    keys = sorted(int(i.key[3:]) for i in store.every())
    assert keys[:200] == list(range(200))
    assert keys[200:] == list(range(10_000, 10_000 + len(keys) - 200))  # without a gap
    assert store.add([incident(5000)]) == 1
    store.close()
    for process in (*both, killed):
        if process.stdout:
            process.stdout.close()


FIRST_WRITER = """
import sys
from forensics.history.opening import open_store
from tests.history.made import incident
sys.stdin.readline()
store = open_store(sys.argv[1])
store.add([incident(int(sys.argv[2]))])
"""


@pytest.mark.seconds
def test_six_first_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    place = str(tmp_path / "h.db")
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", FIRST_WRITER, place, str(number)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=HERE.parents[1],
        )
        for number in range(6)
    ]
    for writer in writers:
        assert writer.stdin
        writer.stdin.write(b"go\n")
        writer.stdin.flush()
    said = [writer.communicate()[1].decode() for writer in writers]
    assert [w.returncode for w in writers] == [0] * 6, said
    assert open_store(place).count() == 6


@pytest.mark.seconds
def test_what_is_remembered_is_listed_compared_exported_and_forgotten(tmp_path: Path) -> None:
    place = str(tmp_path / "h.db")
    env = {"FORENSICS_HISTORY": place}
    first = in_text("analyze", SAMPLES / "nan_loss", "--remember", **env)
    assert (first.returncode, "The history has nothing like it." in first.stdout) == (0, True)
    copy = shutil.copytree(SAMPLES / "nan_loss", tmp_path / "again" / "nan_again")
    assert "nothing like it" in in_text("analyze", copy, **env).stdout  # the same log elsewhere is the same incident
    later = copy / "train.log"
    later.write_text(later.read_text().replace("2026-11-21", "2026-11-22"))
    assert "Seen once before" in in_text("analyze", copy, **env).stdout
    assert "Seen" not in in_text("analyze", copy, "--no-remember", **env).stdout
    assert "2 new" not in in_text("batch", tmp_path / "again", **env).stderr
    assert in_text("history", "list", "-f", "json", **env).stdout.count('"numerics.nan"') >= 2
    assert "case" not in in_text("history", "list", **env).stdout  # a pseudonym tells nothing
    assert "Seen" in in_text("history", "same", copy, **env).stdout
    assert in_text("history", "trend", "-f", "csv", **env).stdout.startswith("cause,incidents")
    assert "the hours of work are unknown" in in_text("history", "nodes", "--lemons", **env).stderr
    assert in_text("history", "trend", "-f", "html", **env).stdout.startswith("<!DOCTYPE html>")
    assert "numerics.nan" in in_text("history", "show", 1, **env).stdout
    (shown,) = json.loads(in_text("history", "show", 1, "-f", "json", **env).stdout)
    assert shown["cause"] == "numerics.nan"
    (tmp_path / "report.json").write_text(in_text("analyze", copy, "-f", "json", "--no-remember", **env).stdout)
    again = json.loads(in_text("history", "same", tmp_path / "report.json", "-f", "json", **env).stdout)
    assert again["seen"] == 1
    assert "Seen once before" in in_text("history", "same", 1, **env).stdout
    assert in_text("history", "export", tmp_path / "h.csv", **env).stderr == f"2 incidents in {tmp_path / 'h.csv'}\n"
    (tmp_path / "hours.csv").write_text("node,hours\ngpu-1,500\ngpu-2,500\n")
    assert in_text("history", "nodes", "--exposure", tmp_path / "hours.csv", **env).returncode == 0
    assert in_text("history", "forget", "--user", "nobody-here", **env).stderr == "0 incidents forgotten\n"
    for asked, said in (
        (("list", "-f", "xml"), "unknown format 'xml'"),
        (("same", copy, "-f", "xml"), "unknown format 'xml'"),
        (("same", 77), "no incident 77"),
        (("nodes", "--since", "soon"), "'soon' is not a date"),
        (("add", tmp_path / "absent.json"), "no such file"),
        (("add", later), "this is not a report"),
        (("export", tmp_path / "absent" / "h.csv"), "cannot be written (No such file or directory)"),
    ):
        refused = in_text("history", *asked, **env)
        assert (refused.returncode, said in refused.stderr, refused.stderr.count("\n")) == (2, True, 1), refused
    assert in_text("history", "resolve", 1, "--note", "smaller steps", **env).returncode == 0
    assert "Noted: smaller steps" in in_text("history", "same", copy, **env).stdout
    assert "forgotten" in in_text("history", "prune", "--before", "2030-01-01", **env).stderr
    assert in_text("history", "list", **env).stdout.strip() == "nothing"


def test_a_table_that_holds_no_incidents_is_refused(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    (tmp_path / "broken.parquet").write_text("no table")
    with pytest.raises(UsageError, match="this is not a table of incidents"):
        list(incidents_in(tmp_path / "broken.parquet", 0, None, RunFacts()))
    parquet.write_table(pyarrow.table({"node": ["a"]}), tmp_path / "other.parquet")
    with pytest.raises(UsageError, match=r"no column added, case, .* give the output of `history export` or `fleet`"):
        list(incidents_in(tmp_path / "other.parquet", 0, None, RunFacts()))


def test_names_in_a_table_from_elsewhere_become_pseudonyms(store: Store, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    export([incident(1, case="alices_case", user="alice", line="/home/alice/run 17 failed")], tmp_path / "x.parquet")
    (kept,) = incidents_in(tmp_path / "x.parquet", 0, store.salt, RunFacts())
    assert (kept.case.partition("-")[0], kept.user.partition("-")[0]) == ("case", "user")
    assert "alice" not in f"{kept.case} {kept.user} {kept.line}"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("list",), "there is no history"),
        (("add",), "nothing to add"),
        (("trend", "--by", "x"), "there is no history"),
        (("prune", "--before", "never"), "there is no history"),
        (("list", "--history", "mysql://x/y"), "SQLite file or PostgreSQL"),
        (("list", "--history", str(HERE)), "this is a folder"),
        (("list", "--history", "postgresql://someone:secret@127.0.0.1:9/h"), "postgresql://someone:***@127.0.0.1:9/h"),
    ],
)
def test_wrong_usage_is_one_line(asked: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = in_text("history", *asked, FORENSICS_HISTORY=str(tmp_path / "none.db"))
    assert (done.returncode, said in done.stderr, done.stderr.count("\n")) == (2, True, 1)


def test_a_history_that_is_broken_does_not_cost_the_report(tmp_path: Path) -> None:
    place = tmp_path / "h.db"
    place.write_text("no database at all, and long enough to be looked at" * 20)
    done = in_text("analyze", SAMPLES / "nan_loss", "--remember", FORENSICS_HISTORY=str(place))
    assert (done.returncode, "numerics.nan" in done.stdout, "not remembered" in done.stderr) == (0, True, True)


def _postgres() -> Path | None:
    return next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real server on a port of its own; it refuses to run as root."""
    pytest.importorskip("psycopg", reason="needs the extra postgres")
    home = _postgres()
    if home is None or (os.geteuid() == 0 and not shutil.which("runuser")):
        pytest.skip("no PostgreSQL server: apt-get install postgresql")
    folder = Path(
        subprocess.run(["mktemp", "-d", "/tmp/forensics-pg-XXXXXX"], capture_output=True, text=True, check=True).stdout.strip()
    )
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if user:
        shutil.chown(folder, "postgres")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/"}
    subprocess.run([*user, home / "initdb", "-D", folder / "d", "-A", "trust", "-U", "me", "--no-sync"], check=True, **quiet)  # type: ignore[call-overload]
    server = subprocess.Popen(
        [*user, home / "postgres", "-D", folder / "d", "-p", str(port), "-k", folder, "-c", "fsync=off"],
        **quiet,  # type: ignore[call-overload]
    )
    url = f"postgresql://me@127.0.0.1:{port}/postgres"
    for _ in range(100):
        try:
            open_store(url).close()
            break
        except UsageError:
            time.sleep(0.1)
    yield url
    server.terminate()
    server.wait(20)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.seconds
def test_postgresql_does_the_same(postgres: str, tmp_path: Path) -> None:
    store = open_store(postgres)
    remember(store, *(report(day=d, host="gpu-0412" if d < 5 else "gpu-0007") for d in range(7)))
    found = seen_before(store, incident_of(report(day=20), 0, store.salt))
    assert (found.seen, found.node_count, found.nodes[0].seen) == (7, 2, 5)
    accounts = tmp_path / "sacct.csv"
    accounts.write_text(SACCT)
    store.add_jobs(read_jobs(accounts))
    assert trend(store)[0].total == 7
    assert "<table>" in page(store, "History")
    workers = [writer(postgres, n, 50) for n in (0, 25)]  # half of them twice
    assert [w.wait(60) for w in workers] == [0, 0]
    assert (store.count(), store.prune(0), len(list(store.every()))) == (82, 0, 82)
    assert store.forget("alice") == 7
    reader = open_to_read(postgres)
    with pytest.raises(Exception, match="read-only"):
        reader.forget("alice")
    assert reader.count() == store.count()
    reader.close()
    store.close()
    for process in workers:
        if process.stdout:
            process.stdout.close()


def test_the_node_is_that_of_the_place_where_no_line_of_the_evidence_names_it(store: Store) -> None:
    told = replace(report().causes[0], where="host gpu-a07, step 3", facts={"exc_type": "KeyError"})
    assert incident_of(replace(report(), causes=(told,), incidents=()), 0, store.salt).node == "gpu-a07"


def test_good_ends_are_listed_only_when_asked_for_and_no_lemon_is_said(store: Store) -> None:
    remember(store, report(), replace(report(day=1), verdict="no_crash"))
    listed = in_text("history", "list", "-f", "json", "--history", store.place)
    assert [row["verdict"] for row in json.loads(listed.stdout)] == ["crash"]
    assert "--all lists them" in listed.stderr
    assert len(json.loads(in_text("history", "list", "--all", "-f", "json", "--history", store.place).stdout)) == 2
    looked = in_text("history", "nodes", "--lemons", "--unit", "dimm", "--history", store.place)
    assert "no dimm ended a job by a fault of its own, among 2 incidents" in looked.stderr
