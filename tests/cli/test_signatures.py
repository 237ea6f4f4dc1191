"""`forensics signatures list|show|check|test`, and databases of the user's own on every command that analyses."""

import json
import os
import re
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.database import builtin_folder
from scripts.wordings import main
from tests.commandline import forensics

pytestmark = pytest.mark.seconds
MINE = """\
cause: storage.full
signatures:
  - id: our_quota
    weight: proof
    message: 'flurble quota of {user} exceeded'
    source: our storage system
    examples:
      match:
        - {text: 'E42 flurble quota of alice exceeded', fields: {user: alice}}
      no_match:
        - {text: 'flurble quota of alice is fine', why: nothing was exceeded}
remedies:
  - {do: Ask the flurble desk for more, who: user, why: They raise it within a day.}
"""
MESSAGE = "message: 'flurble quota of {user} exceeded'"
LINE = "E42 flurble quota of bob exceeded"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "mine" / "storage").mkdir(parents=True)
    (tmp_path / "mine" / "storage" / "full.yaml").write_text(MINE)
    return tmp_path / "mine"


FAULTY = """\
id: storage.falcon
summary: The ring lost its token.
traits: [sudden]
signatures:
  - id: lost
    weight: sure
    message: 'ring lost its token'
    examples:
      match: ['ring lost its token']
      no_match:
        - {text: 'ring is fine'}
remedies:
  - {do: Call the team, command: falconctl status}
"""
FAULTS = (
    "1: unknown key id", "1: missing key cause, means, title", "2: summary must be a list", "3: trait 'sudden'",
    "5: missing key source", "6: weight 'sure'", "9: match holds mappings", "11: missing key why",
    "13: unknown key command", "13: missing key who, why",
)  # fmt: skip


def test_the_check_tells_all_faults_at_once(mine: Path) -> None:
    (mine / "storage" / "falcon.yaml").write_text(FAULTY)
    (mine / "storage" / "full.yaml").write_text(MINE.replace("of alice exceeded", "of alice was exceeded"))
    told = forensics("signatures", "check", mine).stdout.decode()
    for fault in FAULTS:
        assert f"falcon.yaml:{fault}" in told
    assert "does not match its example" in told


def test_a_file_with_a_fault_is_a_note_and_the_report_is_made(mine: Path, logs: Path) -> None:
    (mine / "storage" / "falcon.yaml").write_text(FAULTY)
    run = forensics("analyze", logs, "--exit-code", FORENSICS_SIGNATURES=str(mine))
    told = " ".join(run.stdout.decode().split())
    assert (run.returncode, "Ask the flurble desk" in told) == (1, True)
    assert re.search(r"note:\S+falcon\.yaml:1:notused:.*?;9more:forensicssignaturescheck", told.replace(" ", ""))


@pytest.mark.parametrize(
    ("cause", "line"), [("storage.falcon", 'E42 ring of {x} lost: "token" # 3'), ("storage.full", "flurble is full")]
)
def test_a_file_for_a_line_is_printed_that_the_check_accepts_once_it_is_completed(tmp_path: Path, cause: str, line: str) -> None:
    family, _, name = cause.partition(".")
    (tmp_path / family).mkdir()
    file, printed = tmp_path / family / f"{name}.yaml", forensics("signatures", "new", cause, line).stdout.decode()
    file.write_text(printed)
    told = forensics("signatures", "check", tmp_path).stdout.decode()
    (file,) = tmp_path.rglob("*.yaml")
    rows = [n for n, row in enumerate(file.read_text().splitlines(), 1) for _ in range(row.count("'?"))]
    assert [int(row.split(":")[1]) for row in told.splitlines() if "is still to be completed" in row] == rows
    file.write_text(printed.replace("'? ", "'").replace("'?'", "'answered'"))
    assert b"0 faults" in forensics("signatures", "check", tmp_path).stderr
    (tmp_path / "job.log").write_text(f"step 1\n{line}\n")
    assert (
        f"{cause}/my_{name}" in forensics("analyze", tmp_path / "job.log", "--signatures", tmp_path, "-f", "json").stdout.decode()
    )


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "cases" / "one").mkdir(parents=True)
    (tmp_path / "cases" / "one" / "train.log").write_text(LINE + "\n")
    return tmp_path / "cases" / "one"


def test_list_names_every_signature_once_and_json_has_its_pattern() -> None:
    ids = [line.split()[0] for line in forensics("signatures", "list").stdout.decode().splitlines()]
    assert len(ids) == len(set(ids)) > 1000
    rows = json.loads(forensics("signatures", "list", "host_memory.shm", "-f", "json").stdout)
    assert {r["cause"] for r in rows} == {"host_memory.shm"}
    assert [r["id"] for r in rows] == [i for i in ids if i.startswith("host_memory.shm/")]
    assert all(r["pattern"] and r["anchors"] for r in rows)


def test_show_tells_where_it_is_written_and_its_proof(mine: Path) -> None:
    done = forensics("signatures", "show", "storage.full/our_quota", "--signatures", str(mine))
    text = done.stdout.decode()
    assert f"{mine / 'storage' / 'full.yaml'}:3" in text
    for part in ("message  flurble quota of {user}", "pattern  (?:", "match    E42", "no match flurble", "our storage system"):
        assert part in text


@pytest.mark.parametrize("command", ["list", "show"])
def test_an_unknown_name_is_one_line_and_exit_2(command: str) -> None:
    done = forensics("signatures", command, "no.such_thing")
    assert done.returncode == 2
    assert done.stderr.decode().startswith("forensics: no signature, cause or family has the name no.such_thing")


def test_check_of_a_good_folder_is_silent(mine: Path) -> None:
    done = forensics("signatures", "check", str(mine))
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.decode().startswith("1 cause, 1 signature: 0 faults")


def test_check_of_one_file_takes_no_time(mine: Path) -> None:
    """It took 9 s once. Processor time, which other programs of the machine do not lengthen."""
    start = time.process_time()
    assert forensics("signatures", "check", str(mine / "storage" / "full.yaml")).returncode in (0, 2)
    assert time.process_time() - start <= 3.0


def test_check_tells_every_fault_with_its_line_in_one_run(mine: Path) -> None:
    path = mine / "storage" / "full.yaml"
    (mine / "code").mkdir()
    (mine / "code" / "shape.yaml").write_text("cause: code.shape\nexplains: [code.gone]\nsummary: ['{nowhere} broke']\n")
    path.write_text(MINE.replace("user: alice}", "user: carol}").replace("quota of alice is fine", "quota of alice exceeded"))
    done = forensics("signatures", "check", str(mine))
    assert done.returncode == 1
    told = done.stdout.decode().splitlines()
    lines = path.read_text().splitlines()
    assert [t.split(": ")[0] for t in told] == [
        f"{mine / 'code' / 'shape.yaml'}:1",
        f"{mine / 'code' / 'shape.yaml'}:1",
        f"{path}:{next(i for i, x in enumerate(lines, 1) if 'carol' in x)}",
        f"{path}:{next(i for i, x in enumerate(lines, 1) if 'why:' in x)}",
    ]
    assert "explains code.gone" in told[0] and "{nowhere}" in told[1]


def test_check_tells_a_slow_pattern_and_one_that_takes_anothers_message(mine: Path) -> None:
    path = mine / "storage" / "full.yaml"
    path.write_text(
        MINE.replace(MESSAGE, "pattern: '(?:.*o.*e.*flurble!)?mat1 and mat2 shapes|flurble quota of (?P<user>\\w+) exceeded'")
    )
    done = forensics("signatures", "check", str(mine))
    assert done.returncode == 1
    assert " ms on a line of" in done.stdout.decode()
    assert f"{path}:3: storage.full/our_quota matches an example of code.shape/" in done.stdout.decode()


def test_test_runs_the_examples(mine: Path) -> None:
    done = forensics("signatures", "test", str(mine), "--all")
    assert done.returncode == 0
    assert done.stdout.decode() == f"{mine / 'storage' / 'full.yaml'}:3: storage.full/our_quota: ok\n"
    (mine / "storage" / "full.yaml").write_text(MINE.replace("user: alice}", "user: carol}"))
    done = forensics("signatures", "test", str(mine))
    assert done.returncode == 1
    assert "gives {'user': 'alice'}, expected {'user': 'carol'}" in done.stdout.decode()


def test_check_and_test_of_a_folder_without_cause_files_are_exit_2(tmp_path: Path) -> None:
    for command in ("check", "test"):
        for folder in (tmp_path, tmp_path / "gone"):
            done = forensics("signatures", command, str(folder))
            assert done.returncode == 2
            assert done.stderr.decode().count("\n") == 1


def test_own_signatures_are_used_by_every_command(mine: Path, logs: Path) -> None:
    own = ["--signatures", str(mine)]
    for done in (
        forensics("analyze", str(logs), *own),
        forensics("batch", str(logs.parent), *own),
        forensics("stdin", *own, stdin=LINE.encode()),
        forensics("explain", LINE, *own),
    ):
        assert done.returncode == 0, done.stderr
        assert "storage.full" in done.stdout.decode()
        assert "Ask the flurble desk for more" in done.stdout.decode()
    assert "Ask the flurble desk for more" not in forensics("analyze", str(logs)).stdout.decode()


def test_own_signatures_come_by_the_environment_and_the_file(mine: Path, logs: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "storage").mkdir(parents=True)
    (other / "storage" / "full.yaml").write_text("cause: storage.full\ntitle: Full as told by the other folder\n")
    config, kept = tmp_path / "config.yaml", tmp_path / "kept"
    config.write_text("signatures: [mine, other]\ncache: kept\n")
    told = forensics("analyze", str(logs), FORENSICS_CONFIG=str(config), FORENSICS_CACHE="").stdout.decode()
    (compiled,) = kept.glob("*.db")
    assert "storage.full" in told and "Full as told by the other folder" in told
    named = os.pathsep.join([str(mine), str(other)])
    assert forensics("analyze", str(logs), FORENSICS_SIGNATURES=named, FORENSICS_CACHE=str(kept)).stdout.decode() == told
    assert list(kept.glob("*.db")) == [compiled]  # the same signatures are not compiled again


def test_an_own_database_that_is_not_there_is_one_line(mine: Path, logs: Path) -> None:
    done = forensics("analyze", str(logs), "--signatures", str(mine / "gone"))
    assert (done.returncode, done.stderr.decode()) == (2, f"forensics: {mine / 'gone'}: no such folder of signatures\n")


def test_the_readme_teaches_what_works(tmp_path: Path) -> None:
    readme = (builtin_folder() / "README.md").read_text(encoding="utf-8")
    line, answer = re.search(r"\$ forensics explain '(E42[^']*)'\n +(Nothing is known[^\n]*)", readme).groups()  # type: ignore[union-attr]
    assert forensics("explain", line).stdout.decode().splitlines()[0] == answer
    block = re.search(r"mkdir -p mine/storage && cat > (\S+) <<'END'\n(.*?)\n +END\n", readme, re.DOTALL)
    assert block
    path = tmp_path / block[1]
    path.parent.mkdir(parents=True)
    path.write_text(textwrap.dedent(block[2]) + "\n")
    done = forensics("signatures", "check", str(tmp_path / "mine"), "--notes")
    assert (done.returncode, done.stdout) == (0, b"")
    assert "storage.full" in forensics("explain", line, "--signatures", str(tmp_path / "mine")).stdout.decode()


def test_list_searches_for_what_is_no_id() -> None:
    found = forensics("signatures", "list", "oom").stdout.decode().splitlines()
    assert any(line.startswith("host_memory.oom_cgroup/") for line in found) and len(found) < 200
    nothing = forensics("signatures", "list", "qwertyuiop")
    assert nothing.returncode == 2 and b"the name qwertyuiop, and no text mentions it" in nothing.stderr


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """The source code of a program that prints the message of MINE."""
    (tmp_path / "sources" / "flurble").mkdir(parents=True)
    (tmp_path / "sources" / "flurble" / "VERSION").write_text("4.2\n")
    (tmp_path / "sources" / "flurble" / "quota.c").write_text(
        'fprintf(stderr, "E42 flurble quota of the account %s exceeded", name);\n'
    )
    return tmp_path / "sources"


@pytest.fixture
def wordings(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Looks up wordings with these arguments: the exit status, what it wrote to stdout, and to stderr."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["wordings", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), *capsys.readouterr()

    return run


def test_wordings_are_looked_up_in_the_sources_of_programs(
    mine: Path, programs: Path, tmp_path: Path, wordings: Callable[..., tuple[int, str, str]]
) -> None:
    path, text = mine / "storage" / "full.yaml", MINE.replace("quota of", "quota of the account")
    path.write_text(text)
    said = "storage.full/our_quota: source does not name flurble quota.c, which says 'flurble quota of the account'"
    assert wordings(programs, "--own", mine)[:2] == (1, f"{path}:3: {said}\n")
    path.write_text(text.replace("our storage system", "flurble quota.c"))
    status, written, told = wordings(programs, "--own", mine, "--record", tmp_path / "verified.csv")
    assert (status, written) == (0, "")
    assert told.startswith("1 signatures: 1 found in the sources, 0 texts in none")
    assert (tmp_path / "verified.csv").read_text().splitlines()[1].split(",")[-3:] == ["flurble", "4.2", "quota.c"]


def test_a_wording_that_no_source_has_is_a_note(
    mine: Path, programs: Path, wordings: Callable[..., tuple[int, str, str]]
) -> None:
    (mine / "storage" / "full.yaml").write_text(MINE.replace("flurble", "gurgle"))
    status, written, _ = wordings(programs, "--own", mine, "--notes")
    assert status == 0
    assert "'gurgle quota of' is in none of the sources (note)" in written


def test_a_line_of_a_log_is_taught_by_its_place(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("step 1\n2026-11-30 04:02:11 ERROR E4711 lease of shard 12 expired, 5 renewals\n")
    into = tmp_path / "mine"
    told = forensics("signatures", "new", "storage.falcon", f"{log}:2", "--into", into)
    written = (into / "storage" / "falcon.yaml").read_text()
    assert told.returncode == 0
    assert 'message: "E4711 lease of shard {n1:int} expired, {n2:int} renewals"' in written
    assert forensics("signatures", "new", "storage.falcon", f"{log}:2", "--into", into).returncode == 2
    assert (into / "storage" / "falcon.yaml").read_text() == written
    assert b"no such line" in forensics("signatures", "new", "storage.falcon", f"{log}:9").stderr
