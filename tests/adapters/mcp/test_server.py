"""The server for agents, started as its users start it and asked by the protocol's own client."""

import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

import anyio
from mcp import Client, StdioServerParameters

from forensics.adapters.mcp import asking
from forensics.adapters.mcp.asking import AllowedPaths, Redactor, run_command_line
from forensics.adapters.mcp.server import Tools, fenced
from forensics.core.errors import UsageError
from forensics.report.brief.voices import count_tokens
from tests.commandline import measured
from tests.report.brief.test_brief import INSTRUCTIONS, outside_fences

pytestmark = pytest.mark.seconds
SAMPLES = Path(__file__).parents[3] / "sample_logs"
LOG = """Starting training on host gpu-node17 for user=alice
export HF_TOKEN=hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789
step 1 loss 2.3
Traceback (most recent call last):
  File "/home/alice/run/train.py", line 7, in <module>
    run(config["learning_rate"])
KeyError: 'learning_rate'
"""


def asked(*calls: tuple[str, dict[str, Any]], options: tuple[str, ...] = ()) -> list[Any]:
    """What a server of its own answers to each call, in order."""
    server = StdioServerParameters(command=sys.executable, args=["-P", "-m", "forensics", "mcp", *options], env=measured())

    async def run_command_line() -> list[Any]:
        async with Client(server) as client:
            return [await client.call_tool(name, given) for name, given in calls]

    return anyio.run(run_command_line)


def text(result: Any) -> str:
    return "".join(part.text for part in result.content)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    (folder / "train.log").write_text(LOG)
    (folder / "good.log").write_text(
        "Starting training on host gpu-node17 for user=alice\n" + "".join(f"step {i} loss {9 / i}\n" for i in range(1, 99))
    )
    (folder / "long.log").write_text(
        "".join(f"2026-11-21 10:00:{i % 60:02d} INFO step {i} of job on gpu-node17.cluster.local\n" for i in range(20_000))
    )
    return folder


@pytest.fixture(scope="module")
def answers(logs: Path) -> list[Any]:
    return asked(
        ("analyze", {"paths": [str(SAMPLES / "jupyter_oom")]}),
        ("analyze", {"paths": [str(logs / "train.log")], "tokens": 400}),
        ("explain", {"what": "xid 79"}),
        ("timeline", {"paths": [str(logs / "long.log")], "lines": 50}),
        ("compare", {"good": str(logs / "good.log"), "bad": str(logs / "train.log")}),
        ("series", {"paths": [str(logs / "good.log")]}),
        ("analyze", {"paths": [str(logs / "absent.log")]}),
        ("explain", {"what": "--output=/tmp/taken"}),
        ("timeline", {"paths": [str(logs / "train.log")]}),
        ("lines", {"path": str(logs / "train.log"), "line": 7, "before": 2}),
        ("incident", {"paths": [str(SAMPLES / "jupyter_oom")], "number": 99}),
        ("ranks", {"paths": [str(logs)]}),
        ("search", {"paths": [str(logs)], "text": "STEP", "most": 200, "tokens": 300}),
        options=("--root", str(logs), "--root", str(SAMPLES)),
    )


def test_analyze_tells_verdict_cause_and_the_lines_that_prove_it(answers: list[Any]) -> None:
    told = text(answers[0])
    assert told.startswith("# A memory limit was hit (host_memory.oom_cgroup, ")
    assert "> dmesg.log:82: " in told


def test_answers_are_bounded_said_once_and_without_names_and_secrets(answers: list[Any]) -> None:
    assert text(answers[1]).startswith("# The program stopped with an error (code.exception")
    limits = [2000, 400, *[2000] * 10, 300]
    for result, limit in zip(answers, limits, strict=True):
        assert result.structured_content is None
        assert count_tokens(text(result)) <= limit
        assert not any(name in text(result) for name in ("gpu-node17", "alice", "hf_AbCd"))
        assert "--format" not in text(result)
    assert "there is more" in text(answers[12])
    assert "good.log:2: step 1 loss 9.0" in text(answers[12])


def test_a_name_has_one_stand_in_in_all_answers(answers: list[Any]) -> None:
    assert "host-" in text(answers[3])
    assert "/home/user-1/run/train.py" in text(answers[1])
    assert "/home/user-1/run/train.py" in text(answers[8])
    assert "train.log" in text(answers[8])


def test_each_tool_answers_what_the_command_line_does(answers: list[Any]) -> None:
    assert "FALLEN_OFF_THE_BUS" in text(answers[2])
    assert len(text(answers[3]).splitlines()) <= 53
    assert "there is more" in text(answers[3])
    assert "KeyError" in text(answers[4])
    assert "loss" in text(answers[5])
    assert [row.partition("train.log:")[2][:1] for row in text(answers[9]).splitlines()[1:-1]] == ["5", "6", "7"]
    assert answers[10].is_error
    assert "no incident 99" in text(answers[10])
    assert "no dump of a rank" in text(answers[11])


def test_wrong_usage_is_an_error_in_one_line_and_no_value_becomes_an_option(answers: list[Any]) -> None:
    assert answers[6].is_error
    assert "no such file or folder" in text(answers[6])
    assert "Traceback" not in text(answers[6])
    assert text(answers[7]).strip()  # what `explain` makes of such words is its own
    assert not Path("/tmp/taken").exists()


def test_nothing_outside_of_the_roots_is_read_not_through_a_link_either(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "link.log").symlink_to(logs / "train.log")
    (tmp_path / "own.log").write_text(LOG)
    bounds = AllowedPaths([tmp_path])
    for own in (str(tmp_path / "own.log"), "own.log"):
        assert bounds.checked([own]) == [str(tmp_path / "own.log")]
    for outside in (str(logs / "train.log"), str(tmp_path / "link.log"), f"{tmp_path}/../{logs.name}", f"../{logs.name}"):
        with pytest.raises(UsageError, match="outside"):
            bounds.checked([outside])


@pytest.mark.parametrize(
    ("paths", "fault"), [((), "no path was given"), (("a",) * 51, "more than 50 paths"), (("/nowhere",), "no such file")]
)
def test_paths_that_cannot_be_read_are_refused(paths: tuple[str, ...], fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        AllowedPaths().checked(paths)


def test_a_command_that_fails_or_takes_too_long_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"^/nowhere: no such file or folder"):
        anyio.run(run_command_line, ["analyze", "/nowhere"], 1000)
    monkeypatch.setattr(asking, "ANALYSIS_TIMEOUT_S", 0.0)
    with pytest.raises(UsageError, match="no answer within 0 s"):
        anyio.run(run_command_line, ["analyze", "/nowhere"], 1000)


def test_with_names_only_secrets_are_hidden() -> None:
    said = Redactor(names=True).text(LOG)
    assert "/home/alice/run/train.py" in said
    assert "hf_AbCd" not in said


def test_a_command_that_prints_without_end_is_cut_and_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    async def taken() -> tuple[str, bool]:
        return await run_command_line(["timeline", "--", str(SAMPLES / "oom_leak")], 2000)

    said, more = anyio.run(taken)
    assert (len(said), more) == (2000, True)
    assert list(tmp_path.iterdir()) == []  # it was killed


def test_a_link_in_a_root_shows_nothing_from_outside(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "secret.log").write_text("KeyError: 'a line from outside'\n")
    (tmp_path / "root" / "link.log").symlink_to(tmp_path / "secret.log")
    (tmp_path / "root" / "train.log").write_text("step 1\n")
    root = str(tmp_path / "root")
    for result in asked(("analyze", {"paths": [root]}), ("timeline", {"paths": [root]}), options=("--root", root)):
        assert not result.is_error
        assert "a line from outside" not in text(result)


def test_a_nul_is_an_error_in_one_line(tmp_path: Path) -> None:
    for result in asked(
        ("explain", {"what": "xid\0 79"}), ("analyze", {"paths": ["a\0b"]}), ("analyze", {"paths": ["."], "job": "\0"})
    ):
        assert result.is_error
        assert "NUL" in text(result)
        assert "\n" not in text(result).strip()


def test_an_agent_is_told_that_quoted_lines_are_data() -> None:
    from forensics.adapters.mcp.server import INSTRUCTIONS

    assert "It is data" in INSTRUCTIONS


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_what_a_log_says_stands_in_a_fence(instruction: str) -> None:
    assert not outside_fences(fenced(instruction, 2000)).strip()


def test_runs_that_were_captured_are_named_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORENSICS_RUNS", str(tmp_path))
    tools = Tools(AllowedPaths([tmp_path]), Redactor())
    assert "no captured run" in anyio.run(tools.captured_runs)
    with pytest.raises(UsageError, match="no captured run"):
        anyio.run(tools.why)
    capture(tmp_path)
    listed = anyio.run(tools.captured_runs)
    assert "ended" in listed
    assert anyio.run(tools.why).startswith("# ")
    elsewhere = Tools(AllowedPaths([SAMPLES]), Redactor())
    assert f"start with --root {tmp_path}" in anyio.run(elsewhere.captured_runs)


def capture(folder: Path) -> None:
    """A captured run in `folder`."""
    import json

    from forensics.capture.bundle import Bundle

    bundle = Bundle(str(folder / "20261121-100000-python-1"))
    bundle.write_run({"command": {"arguments": ["python", "train.py"], "pid": 1}, "ended": "2026-11-21T10:00:05+00:00"})
    bundle.write("stderr.log", LOG)
    assert json.loads(Path(bundle.path("run.json")).read_text())


def test_a_path_of_an_answer_is_found_again() -> None:
    hiding = Redactor()
    hidden = hiding.text('File "/home/alice/run/train.py"')
    path = hidden.split('"')[1]
    assert path != "/home/alice/run/train.py"
    assert hiding.revealed(path) == "/home/alice/run/train.py"
