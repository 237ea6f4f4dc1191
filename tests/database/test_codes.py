"""Every code of the tables answers, in the words people use; the tables name known causes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.database import Database, read_rows, read_table
from forensics.database.codes import codes_asked_for, codes_in_line
from forensics.database.nvlink5 import decode, decode_line

# Words as their drivers print them; the numbers are invented within the layout of the table.
LINK_DOWN = "NVRM: Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 09 (0x025525c6 0x00000000 0x00000000)"
SAW = "NVRM: Xid (PCI:0000:01:00): 144, SAW_MVB Nonfatal XC0 i0 Link 00 (0x00000001 0x00000002 0x00000000)"


def test_all_xids_and_sxids_answer() -> None:
    xids, sxids = read_table("xid"), read_table("sxid")
    assert (len(xids), len(sxids)) == (177, 399)
    for kind, table in (("Xid", xids), ("SXid", sxids)):
        for number, row in table.items():
            (code,) = codes_asked_for(f"{kind} {number}") or []
            assert (code.kind, code.number, code.name) == (kind, number, row["name"])
            assert code.meaning and code.action and code.source
            assert code in (codes_asked_for(f"{kind.lower()}:{row['name']}") or [])


@pytest.mark.parametrize(
    ("text", "label", "cause"),
    [
        ("exit 137", "exit status 137", "host_memory.oom_cgroup"),
        ("exit code -11", "exit status -11", "process.segfault"),
        ("exited with code 139", "exit status 139", "process.segfault"),
        ("exit 245", "exit status 245", "process.segfault"),
        ("exit status 265", "exit status 265", "stopped.time_limit"),
        ("exit 136", "exit status 136", "process.abort"),
        ("exitcode: 0xC0000005", "NTSTATUS 0xc0000005", "process.segfault"),
        ("-1073741819", "NTSTATUS 0xc0000005", "process.segfault"),
        ("3221226505", "NTSTATUS 0xc0000409", "process.abort"),
        ("STATUS_DLL_NOT_FOUND", "NTSTATUS 0xc0000135", "code.import"),
        ("signal 9", "signal 9", "host_memory.oom_cgroup"),
        ("sigbus", "signal 7", "host_memory.shm"),
        ("CUDA error 802", "CUDA error 802", "gpu_driver.fabric"),
        ("cuda runtime error (59)", "CUDA error 59", "gpu_program.device_assert"),
        ("cudaErrorIllegalAddress", "CUDA error 700", "gpu_program.illegal_access"),
        ("CUDA_ERROR_NO_DEVICE", "CUDA error 100", "gpu_driver.unavailable"),
        ("ncclSystemError", "NCCL result 2", "distributed.network"),
        ("nccl error 6", "NCCL result 6", "distributed.peer_lost"),
        ("Xid 79", "Xid 79", "gpu_hardware.fallen_off_bus"),
    ],
)
def test_codes_are_found_as_people_write_them(text: str, label: str, cause: str) -> None:
    code = (codes_asked_for(text) or [])[0]
    assert code.label == label
    assert code.causes[0] == cause


def test_a_number_that_cuda_moved_has_two_meanings() -> None:
    assert [c.name.split(",")[0] for c in codes_asked_for("cuda 4") or []] == [
        "cudaErrorCudartUnloading",
        "cudaErrorLaunchFailure",
    ]


def test_unknown_codes_and_no_codes_are_told_apart() -> None:
    assert codes_asked_for("xid 9999") == []
    assert codes_asked_for("cuda error 555") == []
    assert codes_asked_for("the loss is 79") is None
    assert (codes_asked_for("exit 3") or [])[0].causes == ()


@pytest.mark.parametrize(
    ("line", "labels"),
    [
        (LINK_DOWN, ["Xid 149"]),
        ("Xid (PCI:0000:dc:00): 45, pid=7, name=python3, Ch 00000001 caused by previous Xid 149", ["Xid 45", "Xid 149"]),
        ("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress", ["SXid 12028"]),
        ("RuntimeError: cuda runtime error (59) : device-side assert triggered", ["CUDA error 59"]),
        ("worker exited with exit code 137 (SIGKILL)", ["exit status 137", "signal 9"]),
        ("Process finished with exit code -1073741819 (0xC0000005)", ["NTSTATUS 0xc0000005"]),
        ("exitcode : -9 (pid: 4711)", ["exit status -9"]),
        ("[rank0]: ncclUnhandledCudaError: Call to CUDA function failed.", ["NCCL result 1"]),
        ("the ncclResult_t of ncclAllReduce", []),
        ("epoch 137 step 79 loss 0.9 acc 700", []),
        ("see https://host/exit 12 and code 9", []),
    ],
)
def test_the_codes_in_a_line_are_found(line: str, labels: list[str]) -> None:
    assert [c.label for c in codes_in_line(line)] == labels


@given(st.text(max_size=60))
def test_any_text_may_be_asked(text: str) -> None:
    codes_asked_for(text)
    codes_asked_for("exit " + text)
    codes_in_line(text + " exit code " + text)


def test_tables_name_known_causes_and_their_source(knowledge: Database) -> None:
    for table in ("cuda_error", "exit_code", "nccl_result", "ntstatus"):
        for row in read_rows(table):
            assert set(row["causes"].split()) <= set(knowledge.causes), row
            assert row["meaning"] and row["source"], row
            assert None not in row
    assert {r["cause"] for r in read_rows("sxid")} <= set(knowledge.causes)


def test_no_code_stands_twice_in_a_table() -> None:
    for table, key in (
        ("cuda_error", ("code", "toolkit")),
        ("exit_code", ("kind", "code")),
        ("nccl_result", ("code",)),
        ("ntstatus", ("code",)),
    ):
        keys = [tuple(r[k] for k in key) for r in read_rows(table)]
        assert len(keys) == len(set(keys))


def test_nvlink5_lines_are_decoded_by_the_layout_of_their_driver() -> None:
    (row,) = decode_line(LINK_DOWN)
    assert (row["reason"], row["driver"], row["at_once"]) == (str(0x25), "before R575", "reset the GPU")
    assert "the other end" in row["then"]
    (row,) = decode_line(SAW)
    assert (row["driver"], row["severity"]) == ("R575 or later", "fatal")
    assert list(decode_line(SAW.replace("SAW_MVB", "TREX"))) == []
    assert list(decode_line("NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.")) == []


def test_every_nvlink5_rule_is_found_by_its_own_words() -> None:
    rows = read_rows("nvlink5")
    assert len(rows) == 98
    for row in rows:
        status = int((row["error_status"] or "0").split()[0], 16)
        for suffix in ("", "_before_r575"):
            value, mask = (int(row[name + suffix], 16) for name in ("info_value", "info_mask"))
            assert value & ~mask == 0
            found = decode(int(row["xid"]), row["unit" + suffix], value, status)
            assert {k: row[k] for k in ("at_once", "then", "severity")} in [
                {k: f[k] for k in ("at_once", "then", "severity")} for f in found
            ]
