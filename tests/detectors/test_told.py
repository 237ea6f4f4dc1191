"""From lines to sentences: what the records find reaches the report, and the hits inside them do not speak twice.

The lines are made for these tests from the words of the programs that print them.
"""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
XID = "[{at:12.6f}] NVRM: Xid (PCI:0000:{pci}:00): {code}, pid={pid}, name={task}, {words}\n"
KUBECTL = """Name:             train-0
Containers:
  main:
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
    Limits:
      memory:  512Mi
"""
FAULT = """Fatal Python error: Segmentation fault

Current thread 0x00007f3e2b7fe640 (most recent call first):
  File "/opt/v/lib/python3.11/site-packages/cv2/__init__.py", line 12 in resize
  File "/home/u/train.py", line 88 in load
"""
MCE = """mce: [Hardware Error]: CPU 18: Machine Check Exception: 5 Bank 7: be00000001010091
mce: [Hardware Error]: TSC ae4b410af0b8 ADDR 314d193000 MISC 200400c008002086
mce: [Hardware Error]: PROCESSOR 0:50657 TIME 1605843017 SOCKET 1 APIC 40 microcode 5000021
"""
AER = """[1.0] pcieport 0000:00:02.0: AER: Uncorrected (Fatal) error received: id=0010
[1.0] pcieport 0000:00:02.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, id=0010(Receiver ID)
[1.0] pcieport 0000:00:02.0:   device [8086:6f04] error status/mask=00000020/00000000
[1.0] pcieport 0000:00:02.0:    [ 5] Surprise Down Error    (First)
[1.0] nvidia 0000:02:00.0: device has no AER-aware driver
"""
BFC = """2023-01-02 03:04:05.1: W tensorflow/tsl/framework/bfc_allocator.cc:479] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00GiB
2023-01-02 03:04:05.2: I tensorflow/tsl/framework/bfc_allocator.cc:1039] total_region_allocated_bytes_: 8589934592 memory_limit_: 8589934592
"""
SXID = "[1.0] nvidia-nvswitch3: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 30 LTSSM Fault Up (First)\n"


@pytest.mark.parametrize(
    ("text", "cause", "words", "kind"),
    [
        (KUBECTL, "host_memory.oom_cgroup", "main", "kubectl_describe"),
        (FAULT, "process.segfault", "/home/u/train.py:88 in load", "faulthandler"),
        (MCE, "host_hardware.memory", "CPU 18, bank 7", "mce"),
        (AER, "gpu_hardware.pcie", "Surprise Down Error", "aer"),
        (BFC, "gpu_memory.capacity", "8 GiB", "bfc_allocator"),
        (SXID, "gpu_hardware.nvlink", "LTSSM", "sxid/20034"),
    ],
)
def test_the_summary_tells_what_the_record_read(analyze: Analyze, text: str, cause: str, words: str, kind: str) -> None:
    report = analyze(some_log=text)
    first = report.causes[0]
    assert first.id == cause
    assert words in first.summary
    assert [m.event for m in report.timeline if m.cause == cause] == [kind]


def test_a_flood_of_one_xid_is_one_event_a_gpu_and_one_in_the_timeline(analyze: Analyze) -> None:
    words = "Row Remapper: New row ({i:#x}) marked for remapping, reset gpu to activate."
    lines = [
        XID.format(at=100 + i / 1000, pci="3b" if i % 2 else "5e", code=63, pid=9, task="python", words=words.format(i=i))
        for i in range(4000)
    ]
    report = analyze(dmesg_log="".join(lines))
    assert [m.event for m in report.timeline if m.cause] == ["xid/63", "xid/63"]


def test_the_reason_for_program_or_gpu_is_told(analyze: Analyze) -> None:
    warp = "Graphics SM Warp Exception on (GPC 3, TPC 1, SM 0): Out Of Range Address"
    lines = [XID.format(at=i, pci="3b", code=13, pid=i, task=name, words=warp) for i, name in enumerate(("train", "infer"), 1)]
    first = analyze(dmesg_log="".join(lines)).causes[0]
    assert first.id == "gpu_program.illegal_access"
    assert "different programs (infer, train)" in first.summary


def test_an_xid_behind_an_ecc_error_is_its_consequence(analyze: Analyze) -> None:
    ecc = XID.format(
        at=1, pci="3b", code=48, pid=9, task="python", words="An uncorrectable double bit error (DBE) has been detected"
    )
    fault = XID.format(at=2, pci="3b", code=31, pid=9, task="python", words="Ch 00000008, intr 00000000. MMU Fault")
    report = analyze(dmesg_log=ecc + fault)
    assert [c.id for c in report.causes] == ["gpu_hardware.ecc"]
