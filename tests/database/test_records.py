"""What records prove: the built-in file is whole, and every fault of one is told with its line."""

import shutil
from pathlib import Path

import pytest

from forensics.database import Database, ProvenCause, builtin_folder, read_folders, read_table
from forensics.database.records import read_records
from forensics.signature_lint.lint import record_outcomes
from scripts.lint.builtin import record_faults

CAUSES = {"host_memory.oom_cgroup", "host_memory.oom_global", "process.segfault", "process.worker_died"}
TOLD = {"oom": ("limit", "host", "signal_11")}
GOOD = """# a comment
oom:
  outcomes:
    limit: host_memory.oom_cgroup
    host: {cause: host_memory.oom_global, decides: [host_memory.*], beside: [process.*]}
  signals: [11]
  decides: own
"""


def written(folder: Path, text: str) -> Path:
    (folder / "tables").mkdir()
    shutil.copy(builtin_folder() / "tables" / "exit_code.csv", folder / "tables")
    (folder / "records.yaml").write_text(text)
    return folder


def test_the_built_in_file_names_causes_that_are_there_for_all_that_detectors_tell() -> None:
    causes, _ = read_folders([builtin_folder()])
    assert record_faults(builtin_folder(), record_outcomes(), {c.id for c in causes}) == []


def test_what_an_outcome_says_goes_before_what_the_record_says(tmp_path: Path) -> None:
    found, faults = read_records(written(tmp_path, GOOD))
    assert faults == []
    assert found["oom"] == {
        "limit": ProvenCause("host_memory.oom_cgroup", ("host_memory.oom_cgroup",)),
        "host": ProvenCause("host_memory.oom_global", ("host_memory.*",), ("process.*",)),
        "signal_11": ProvenCause("process.segfault", ("process.segfault",)),
    }
    assert found["oom"]["host"].is_beside("process.segfault")
    assert not found["oom"]["host"].is_beside("host_memory.oom_cgroup")
    assert record_faults(tmp_path, TOLD, CAUSES) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("limit: host_memory.oom_cgroup", "limit: host_memory.no_such", 4, "oom: limit: host_memory.no_such is no cause"),
        ("[host_memory.*]", "[hosts.*]", 5, "oom: host: hosts.* is no cause"),
        ("    limit:", "    limits:", 2, "oom: the outcome limit is missing"),
        ("    limit:", "    limits:", 4, "oom: its detector tells no outcome limits"),
        ("oom:", "other:", 2, "other: there is no such record"),
        ("oom:", "other:", 1, "oom: the outcome limit is missing"),
        ("signals: [11]", "signals: []", 2, "oom: the outcome signal_11 is missing"),
        ("signals: [11]", "signals: [77]", 3, "signal 77 has no cause under `alone` in tables/exit_code.csv"),
        ("decides: own", "decide: own", 7, "unknown key decide; known are decides, outcomes, signals"),
        ("limit: host_memory.oom_cgroup", "limit: 7", 4, "limit must be a text, found 7"),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path: Path, old: str, new: str, line: int, what: str) -> None:
    faults = record_faults(written(tmp_path, GOOD.replace(old, new)), TOLD, CAUSES)
    assert (str(tmp_path / "records.yaml"), line, what) in [(f.path, f.line, f.what) for f in faults]


def test_the_cache_keeps_what_records_prove(knowledge: Database) -> None:
    assert knowledge.records == read_records(builtin_folder())[0]


def test_a_signal_alone_is_called_one_of_the_causes_that_it_may_have() -> None:
    rows = [r for r in read_table("exit_code").values() if r["alone"]]
    assert all(r["alone"] in r["causes"].split() for r in rows)
