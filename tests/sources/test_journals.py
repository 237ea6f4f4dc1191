"""systemd's journal in all its forms gives the same lines. The samples are one journal, printed in every mode; see
scripts/journal_samples.py."""

import json
import lzma
import shutil
from pathlib import Path

import pytest

from tests.sources.helpers import Read, read_bytes, read_path

SAMPLES = Path(__file__).parent / "journal_samples"
LINES = [
    "2025-08-22T03:00:07.123456+00:00 gpu-node-7 kernel: [11686.888104] python3 invoked oom-killer: "
    "gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
    "2025-08-22T03:00:07.373456+00:00 gpu-node-7 kernel: [11687.138109] Out of memory: Killed process 4242 (python3) "
    "total-vm:30290680kB, anon-rss:9234320kB, file-rss:4kB, shmem-rss:0kB, UID:1000 pgtables:59264kB oom_score_adj:0",
    "2025-08-22T03:00:08.623456+00:00 gpu-node-7 systemd[1]: jupyter.service: Failed with result 'oom-kill'.",
    "2025-08-22T03:00:09.623456+00:00 gpu-node-7 jupyter-lab[991]: multi",
    "line message",
    "2025-08-22T03:00:10.623456+00:00 gpu-node-7 train[992]: \x1b[31mred\x1b[0m text",
    "-- Boot 5936b00ee7ee04cff9afb308244ef8aa --",
    "2025-08-22T03:01:37.123456+00:00 gpu-node-7 kernel: [    0.001000] Linux version 6.8.0-45-generic",
]
STARTS = {
    "export.log": [12, 24, 39, 54, 55, 69, 81, 81],
    "json.log": [1, 2, 3, 4, 4, 5, 6, 6],
    "json-seq.log": [1, 2, 3, 4, 4, 5, 6, 6],
    "json-sse.log": [1, 3, 5, 7, 7, 9, 11, 11],
    "verbose.log": [10, 19, 31, 42, 43, 53, 63, 63],
}


def only(path: Path) -> Read:
    (found,), _ = read_path(path)
    return found


def message_lines() -> list[int]:
    """In json-pretty, which prints the fields of an entry in any order, the lines with the messages."""
    rows = (SAMPLES / "journalctl_json-pretty.log").read_text().splitlines()
    at = [number for number, row in enumerate(rows, 1) if row.strip().startswith('"MESSAGE" ')]
    return [at[entry - 1] for entry in STARTS["json.log"]]


@pytest.mark.parametrize("mode", [*STARTS, "json-pretty.log"])
def test_every_mode_gives_the_same_lines(mode: str) -> None:
    found = only(SAMPLES / f"journalctl_{mode}")
    wanted = [line if mode != "verbose.log" else line.replace("\x1b[31mred\x1b[0m text", "[17B blob data]") for line in LINES]
    assert found.numbered == list(zip(STARTS.get(mode) or message_lines(), wanted, strict=True))


@pytest.mark.skipif(shutil.which("journalctl") is None, reason="no journalctl here")
@pytest.mark.parametrize("packed", [True, False])
def test_a_binary_journal_is_read_by_journalctl(packed: bool, tmp_path: Path) -> None:
    data = (SAMPLES / "system.journal.xz").read_bytes()
    (tmp_path / "j").write_bytes(data if packed else lzma.decompress(data))
    found = only(tmp_path / "j")
    assert found.numbered == list(zip(STARTS["json.log"], LINES, strict=True))
    assert found.format == "journal binary"


@pytest.mark.skipif(shutil.which("journalctl") is None, reason="no journalctl here")
def test_a_damaged_binary_journal_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "j").write_bytes(b"LPKSHHRH" + bytes(1000))
    found = only(tmp_path / "j")
    assert (found.lines, [w.kind for w in found.warnings]) == ([], ["truncated"])


def test_an_export_with_a_binary_field() -> None:
    message = b"one\ntwo\x1b[0m\n\nthree"
    entry = b"__CURSOR=s=1\n__REALTIME_TIMESTAMP=1755831607123456\n_HOSTNAME=n\nSYSLOG_IDENTIFIER=train\n_PID=7\n"
    data = (entry + b"MESSAGE\n" + len(message).to_bytes(8, "little") + message + b"\n\n") * 2
    found = read_bytes(data)
    front = "2025-08-22T03:00:07.123456+00:00 n train[7]: "
    assert found.lines == [front + "one", "two\x1b[0m", "", "three"] * 2
    assert found.numbers == [7, 8, 9, 10, 18, 19, 20, 21]


def test_an_export_cut_inside_a_binary_field() -> None:
    entry = b"__REALTIME_TIMESTAMP=1755831607123456\n_HOSTNAME=n\nSYSLOG_IDENTIFIER=train\nMESSAGE\n"
    found = read_bytes(entry + (10_000).to_bytes(8, "little") + b"begun")
    assert found.lines == ["2025-08-22T03:00:07.123456+00:00 n train: begun"]
    assert [w.kind for w in found.warnings] == ["truncated"]


def test_json_values_of_every_kind() -> None:
    def entry(message: object) -> str:
        fields = {"__REALTIME_TIMESTAMP": "1755831607123456", "_HOSTNAME": "n", "_COMM": "a b", "MESSAGE": message}
        return json.dumps(fields) + "\n"

    text = entry("plain") + entry([111, 110, 101, 10, 195, 164]) + entry(None) + entry(["first", "second"]) + "{damaged\n"
    found = read_bytes(text.encode())
    front = "2025-08-22T03:00:07.123456+00:00 n a_b: "
    assert found.numbered == [(1, front + "plain"), (2, front + "one"), (2, "ä"), (4, front + "second")]
    assert [(w.kind, w.line) for w in found.warnings] == [("damaged", 5)]
