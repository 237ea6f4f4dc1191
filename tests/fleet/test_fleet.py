"""Many cases on a cluster of this machine: the rows of `batch`, whatever dies meanwhile."""

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="needs the extra fleet")
pytest.importorskip("pyarrow")
pytest.importorskip("sqlalchemy")

from forensics.core.errors import SourceError, UsageError
from forensics.database import Database
from forensics.fleet import worker
from forensics.fleet.cases import cases_in
from forensics.fleet.correlated import correlated_failures, families_of, read_topology
from forensics.fleet.engine import client_of, reports
from forensics.fleet.worker import Helper, Limits, Parts, analyse_case
from forensics.history.fingerprint import Incident
from tests.commandline import in_text
from tests.history.made import incident

SAMPLES = Path(__file__).parents[2] / "sample_logs"
CASES = ("nan_loss", "missing_module", "shape_error", "segfault_shell_only", "healthy_train", "open_files")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for case in CASES:
        shutil.copytree(SAMPLES / case, tmp_path / "in" / case)
    return tmp_path / "in"


@pytest.fixture(autouse=True)
def _fresh_helper() -> Iterator[None]:
    yield
    from forensics.fleet.worker import HELPER

    HELPER.stop()


def rows(output: Path) -> dict[str, tuple[str, str]]:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(output).to_pylist()
    assert len({r["case"] for r in table}) == len(table)
    return {r["case"]: (r["report"], r["failure"]) for r in table}


@pytest.mark.seconds
def test_a_killed_worker_and_a_restarted_client_change_no_row(folder: Path, tmp_path: Path) -> None:
    wanted = {json.loads(line)["case"]: line for line in in_text("batch", folder).stdout.splitlines()}
    output, limits = tmp_path / "reports.parquet", Limits()
    parts = Parts(output, resume=False)
    with client_of("local", 1) as client:
        for n, one in enumerate(reports(client, cases_in([str(folder)])[:4], limits)):
            parts.add(one)
            if n == 0:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    parts.flush()
    again = in_text("fleet", folder, "-o", output)
    assert (again.returncode, "the folder has reports already" in again.stderr) == (2, True)
    done = in_text("fleet", folder, "-o", output, "--resume", "--workers", 1)
    assert (done.returncode, "2 of 2" in done.stderr) == (0, True)
    assert {case: json.loads(r) for case, (r, _) in rows(output).items()} == {case: json.loads(w) for case, w in wanted.items()}
    assert output.with_suffix(".html").read_text().startswith("<!DOCTYPE html>")
    place = str(tmp_path / "h.db")
    assert f"{len(CASES)} new incidents" in in_text("history", "add", output, FORENSICS_HISTORY=place).stderr
    assert b"/home/user/" not in Path(place).read_bytes()


@pytest.mark.seconds
def test_a_helper_that_holds_much_of_what_is_done_is_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = cases_in([str(folder)])[0]
    first = analyse_case(case, Limits())
    assert worker.HELPER.process is not None
    monkeypatch.setattr(worker, "MAX_IDLE_MIB", 1)
    assert json.loads(analyse_case(case, Limits()).report) == json.loads(first.report)
    assert worker.HELPER.process is None


@pytest.mark.seconds
def test_what_takes_too_long_or_too_much_is_told_and_the_next_case_stands(folder: Path) -> None:
    poisoned = folder / "poisoned"
    poisoned.mkdir()
    (poisoned / "train.log").write_text(
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'x'\n" * 400_000
    )
    first, healthy = (next(c for c in cases_in([str(folder)]) if c.name == name) for name in ("poisoned", "healthy_train"))
    analyse_case(healthy, Limits())  # the knowledge is loaded
    slow = analyse_case(first, Limits(seconds=0.3))
    assert "took longer than 0.3 s" in slow.failure
    assert json.loads(slow.report)["case"] == "poisoned"
    assert "took longer" in json.loads(slow.report)["warnings"][0]["message"]
    assert "used more than 20 MiB" in analyse_case(first, Limits(memory_mib=20)).failure
    assert analyse_case(healthy, Limits()).failure == ""


def test_a_helper_that_dies_is_told() -> None:
    from forensics.fleet.worker import HelperRequest, OverLimitError, _started

    helper = Helper()
    helper.process, helper.connection = _started()
    helper.process.kill()
    helper.process.wait()
    with pytest.raises(OverLimitError, match="died"):
        helper.ask(HelperRequest(cases_in([str(SAMPLES)])[0]), Limits())
    assert helper.process is None


def test_folders_patterns_and_urls_become_cases_by_group(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    assert [c.name for c in cases_in(["in"])] == sorted(CASES)
    assert [c.name for c in cases_in(["in/n*/*.log", "in/nan_loss/train.log"], "file")] == ["in/nan_loss/train.log"]
    assert {c.name for c in cases_in(["in"], "in/([a-z]+)_")} == {"nan", "missing", "shape", "segfault", "healthy", "open"}
    assert [c.name for c in cases_in([f"file://{folder}"])] == sorted(CASES)
    for wrong, said in ((["in"], "no group"), (["nowhere"], "no such file")):
        with pytest.raises(UsageError, match=said):
            cases_in(wrong, "x" if wrong == ["in"] else "folder")
    with pytest.raises(SourceError, match="no cases"):
        cases_in(["in/nan_loss"])
    with pytest.raises(UsageError, match="cannot be opened"):
        cases_in(["nosuchscheme://x/y"])


def test_logs_at_a_url_are_analysed_as_if_they_lay_here(folder: Path) -> None:
    (case,) = (c for c in cases_in([f"file://{folder}"]) if c.name == "nan_loss")
    found = json.loads(analyse_case(case, Limits()).report)
    assert (found["causes"][0]["id"], found["sources"][0]["name"]) == ("numerics.nan", "nan_loss/train.log")


@pytest.fixture
def shared(knowledge: Database) -> dict[str, str]:
    return families_of(knowledge.causes)


def spread(nodes: range, start: int, step: int = 5, cause: str = "storage.network_fs") -> list[Incident]:
    return [incident(start + n * step, key=f"{start}-{n}", node=f"gpu-{n}", cause=cause) for n in nodes]


def test_one_outage_on_forty_nodes_is_one_group_with_its_first_sign(shared: dict[str, str]) -> None:
    background = [incident(n * 40_000, key=f"b{n}", node=f"gpu-{n % 500}", cause="storage.full") for n in range(60)]
    (group,) = correlated_failures(background + spread(range(100, 140), 1_000_000), shared)
    assert (len(group.nodes), group.first.node, group.label) == (40, "gpu-100", "all nodes")
    assert "40 incidents on 40 nodes" in str(group)
    assert not correlated_failures(background, shared)
    assert not correlated_failures(
        spread(range(100, 140), 1_000_000, cause="code.exception"), shared
    )  # a program's own fault, 40 times


def test_a_switch_that_went_bad_is_named(tmp_path: Path, shared: dict[str, str]) -> None:
    table = tmp_path / "topology.csv"
    table.write_text("node,rack,switch\n" + "".join(f"gpu-{n},r{n // 50},s{n // 10}\n" for n in range(500)))
    (group,) = correlated_failures(spread(range(120, 130), 1_000_000, cause="distributed.network"), shared, read_topology(table))
    assert (group.label, len(group.nodes)) == ("switch s12", 10)
    (wide,) = correlated_failures(spread(range(0, 500, 10), 1_000_000, cause="distributed.network"), shared, read_topology(table))
    assert wide.label == "all nodes"
