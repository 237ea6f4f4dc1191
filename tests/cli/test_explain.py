"""`forensics explain` as a user types it."""

import json

import pytest

from forensics.database import HEALTHY, Database, builtin_folder
from forensics.database.causefiles import read_cause
from forensics.explain import explain
from tests.commandline import forensics

LOST = "NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, name=python3, GPU has fallen off the bus."
KILLED = "Memory cgroup out of memory: Killed process 4711 (python3) total-vm:9042104kB, anon-rss:444796kB, file-rss:0kB"


def told(*args: str, stdin: bytes = b"") -> str:
    done = forensics("explain", *args, stdin=stdin)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    return done.stdout.decode()


def test_a_cause_is_explained_with_remedies_and_signatures() -> None:
    text = told("host_memory.oom_cgroup")
    assert text.startswith("host_memory.oom_cgroup  ")
    assert "host_memory.oom_cgroup/kernel_killed  proof" in text
    assert "may lead to: " in text
    assert "$ " in text and "https://" in text
    assert "{" not in text.split("signatures\n")[0].replace("{{", "")


def test_a_signature_and_a_family_are_explained() -> None:
    assert "host_memory.oom_cgroup/kernel_killed  proof" in told("host_memory.oom_cgroup/kernel_killed")
    text = told("host_hardware")
    assert all(f"host_hardware.{name}" in text for name in ("memory", "cpu", "thermal", "power", "pcie", "nic"))


@pytest.mark.parametrize("args", [["xid 79"], ["xid", "79"], ["Xid:79"], ["ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS"]])
def test_a_code_may_be_one_argument_or_several(args: list[str]) -> None:
    text = told(*args)
    assert "Xid 79  ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS" in text
    assert "gpu_hardware.fallen_off_bus" in text and "source: " in text


def test_a_negative_exit_code_is_no_option() -> None:
    assert "exit status -9  SIGKILL" in told("exit", "-9")


def test_a_line_fills_fields_and_remedies_with_its_own_numbers() -> None:
    text = told(KILLED)
    assert "anon_rss_bytes: 434 MiB" in text and "pid: 4711" in text
    assert "python3" in text.split("host_memory.oom_cgroup  ")[1]
    assert "Xid 79" in told(LOST) and "0000:3b:00" in told(LOST)


def test_lines_come_on_standard_input() -> None:
    text = told("-", stdin=f"epoch 3\n{LOST}\n{KILLED}\n".encode())
    assert "line 2  xid/79" in text
    assert "line 3  " in text
    assert "gpu_hardware.fallen_off_bus" in text and "host_memory.oom_cgroup" in text


def test_bytes_of_any_kind_may_come() -> None:
    done = forensics("explain", "-", stdin=bytes(range(256)) * 50)
    assert done.returncode == 1
    assert b"\x1b" not in done.stdout


def test_json_has_the_same() -> None:
    document = json.loads(told("--format", "json", LOST))
    assert document["codes"][0]["number"] == "79"
    assert document["matches"][0]["cause"] == "gpu_hardware.fallen_off_bus"
    assert document["matches"][0]["fields"]["pci"] == "0000:3b:00"
    assert document["causes"][0]["advice"]


def test_what_is_not_known_exits_with_1_and_offers_what_looks_alike() -> None:
    done = forensics("explain", "host_memory.oom_cgrup")
    assert done.returncode == 1
    assert b"Did you mean host_memory.oom_cgroup?" in done.stdout
    assert forensics("explain", "xid 9999").returncode == 1


def test_a_status_that_no_posix_system_gives_is_told_as_one_of_windows() -> None:
    for status in (300, 999):
        assert "only Windows has" in told(f"exit {status}")
    assert "Windows" not in told("exit 42")


@pytest.mark.parametrize("args", [["-f", "yaml", "xid 79"], ["--nosuch", "words"], ["-x"], [""], []])
def test_wrong_usage_is_exit_2(args: list[str]) -> None:
    done = forensics("explain", *args)
    assert done.returncode == 2
    assert done.stdout == b""


@pytest.mark.seconds
def test_a_line_that_a_healthy_message_silences_says_so(knowledge: Database) -> None:
    healthy, _ = read_cause(builtin_folder() / "none" / "healthy.yaml")
    assert healthy is not None
    texts = [e.text for s in healthy.signatures for e in s.match]
    matches = [m for m in explain("\n".join(texts), knowledge).matches if m.cause != HEALTHY or not m.silenced]
    assert any(m.silenced and m.cause != HEALTHY for m in matches)
    assert any(not m.silenced and m.cause == HEALTHY for m in matches)


def test_the_answer_stands_before_what_it_was_read_from() -> None:
    text = told("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB")
    assert text.index("gpu_memory.capacity  ") < text.index("cuda_oom") and "code.exception  The" not in text


@pytest.mark.parametrize("asked", ["loss is NaN after some steps", "loss becomes nan after 30 steps, lr 1.2"])
def test_a_question_in_the_words_of_a_message_is_a_question(asked: str) -> None:
    assert "lower the learning rate tenfold" in " ".join(told(asked).split())


def test_words_say_what_they_were_taken_for() -> None:
    text = told("memory", "leak")
    assert text.startswith("read as words: memory leak\n")
    assert "host_memory.leak  " in text and "gpu_memory.leak  " in text
    assert "what to do: forensics explain gpu_memory.leak" in text
    assert json.loads(told("-f", "json", "deadlock"))["terms"][0]["name"] == "deadlock"


def test_a_number_is_an_exit_status_before_an_xid() -> None:
    text = told("137")
    assert text.startswith("read as an exit status or an Xid\n")
    assert text.index("exit status 137") < text.index("Xid 137")
