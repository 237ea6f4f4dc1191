"""The samples of systemd's journal in tests/sources/journal_samples: one journal, printed in every mode of journalctl.

    python -m scripts.journal_samples         # needs journalctl and systemd-journal-remote

No machine of a test has two boots and a kernel that kills, so the six entries are made here, with the fields that journald gives
them. systemd-journal-remote writes the journal of them, and journalctl prints it; nothing is written by hand behind that.
"""

import lzma
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

TARGET = Path(__file__).parent.parent / "tests" / "sources" / "journal_samples"
REMOTE = os.environ.get("JOURNAL_REMOTE", "/lib/systemd/systemd-journal-remote")
SEQUENCE = "e991dd5775894620914f2f7126aae6c1"
BOOTS = ("493676ee7ee04cff9afb308244ef893c", "5936b00ee7ee04cff9afb308244ef8aa")
START_US, BOOTED_US = 1_755_831_607_123_456, 11_686_888_109  # of the first entry: since 1970, and since the boot
KERNEL = {"SYSLOG_FACILITY": "0", "SYSLOG_IDENTIFIER": "kernel", "_TRANSPORT": "kernel"}
KILL = (
    "Out of memory: Killed process 4242 (python3) total-vm:30290680kB, anon-rss:9234320kB, file-rss:4kB, shmem-rss:0kB, "
    "UID:1000 pgtables:59264kB oom_score_adj:0"
)
UNIT = {"_SYSTEMD_UNIT": "jupyter.service", "_TRANSPORT": "stdout"}
# Boot, microseconds behind the first entry and since the boot, fields
ENTRIES: tuple[tuple[int, int, int, dict[str, str]], ...] = (
    (0, 0, BOOTED_US, {"PRIORITY": "4", **KERNEL, "_SOURCE_MONOTONIC_TIMESTAMP": str(BOOTED_US - 5),
                       "MESSAGE": "python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0"}),
    (0, 250_000, BOOTED_US + 250_000, {"PRIORITY": "3", **KERNEL, "MESSAGE": KILL}),
    (0, 1_500_000, BOOTED_US + 1_500_000, {
        "PRIORITY": "4", "SYSLOG_IDENTIFIER": "systemd", "_PID": "1", "_COMM": "systemd", "_SYSTEMD_UNIT": "init.scope",
        "UNIT": "jupyter.service", "_TRANSPORT": "journal", "MESSAGE": "jupyter.service: Failed with result 'oom-kill'.",
        "MESSAGE_ID": "d9b373ed55a64feb8242e02dbe79a49c"}),
    (0, 2_500_000, BOOTED_US + 2_500_000,
     {"PRIORITY": "6", "SYSLOG_IDENTIFIER": "jupyter-lab", "_PID": "991", **UNIT, "MESSAGE": "multi\nline message"}),
    (0, 3_500_000, BOOTED_US + 3_500_000,
     {"PRIORITY": "6", "SYSLOG_IDENTIFIER": "train", "_PID": "992", **UNIT, "MESSAGE": "\x1b[31mred\x1b[0m text"}),
    (1, 90_000_000, 1000, {"PRIORITY": "5", **KERNEL, "MESSAGE": "Linux version 6.8.0-45-generic"}),
)  # fmt: skip
MODES = (
    *("short", "short-full", "short-iso", "short-iso-precise", "short-precise", "short-monotonic", "short-delta", "short-unix"),
    *("with-unit", "cat", "verbose", "export", "json", "json-pretty", "json-sse", "json-seq"),
)


def export() -> bytes:
    """The entries in the export format; a value with a line end or a control character is binary, behind its length."""
    rows: list[bytes] = []
    for number, (boot, after_us, booted_us, fields) in enumerate(ENTRIES, 1):
        moment = START_US + after_us
        cursor = f"s={SEQUENCE};i={number};b={BOOTS[boot]};m={booted_us:x};t={moment:x};x=9ceeb77ef4331563"
        head = {"__CURSOR": cursor, "__REALTIME_TIMESTAMP": str(moment), "__MONOTONIC_TIMESTAMP": str(booted_us)}
        about = {"_BOOT_ID": BOOTS[boot], "_MACHINE_ID": "a447b9eff9fe40a890e8e376e92a4ede", "_HOSTNAME": "gpu-node-7"}
        rows += [_field(name, value.encode()) for name, value in {**head, **about, **fields}.items()]
        rows.append(b"\n")
    return b"".join(rows)


def _field(name: str, value: bytes) -> bytes:
    if value.isascii() and all(byte >= 32 for byte in value):
        return name.encode() + b"=" + value + b"\n"
    return name.encode() + b"\n" + len(value).to_bytes(8, "little") + value + b"\n"


def main() -> None:
    """Make the journal, and print it in every mode."""
    TARGET.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        journal = Path(scratch, "system.journal")
        subprocess.run([REMOTE, f"--output={journal}", "-"], input=export(), check=True)
        for mode in MODES:
            (TARGET / f"journalctl_{mode}.log").write_bytes(_printed(journal, "-o", mode))
        west = _printed(journal, "-o", "short-iso", zone="America/New_York").splitlines(keepends=True)
        (TARGET / "journalctl_short-iso_tz.log").write_bytes(b"".join(west[:2]))
        with journal.open("rb") as data, lzma.open(TARGET / "system.journal.xz", "wb") as packed:
            shutil.copyfileobj(data, packed)


def _printed(journal: Path, *options: str, zone: str = "UTC") -> bytes:
    command = ["journalctl", f"--file={journal}", "--no-pager", *options]
    return subprocess.run(command, env=os.environ | {"TZ": zone}, check=True, capture_output=True).stdout


if __name__ == "__main__":
    main()
