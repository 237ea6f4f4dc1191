"""Program or GPU: what stands beside an Xid decides, and the reason is told. Lines made for these tests in the driver's forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.model import Region
from forensics.readers.base import Record
from forensics.readers.gpu import xid
from forensics.readers.gpu.xid import resolve_xids, slot
from forensics.readers.kernel import aer
from tests.readers.regions import knowledge, proven, regions

WARP = "Graphics SM Warp Exception on (GPC {gpc}, TPC {tpc}, SM 0): Out Of Range Address"


def line(code: int, detail: str, pci: str = "0000:3b:00", task: str = "python", pid: int = 7) -> str:
    return f"[   10.000000] NVRM: Xid (PCI:{pci}): {code}, pid={pid}, name={task}, {detail}"


def settled(*lines: str) -> list[Record]:
    text = "\n".join(lines)
    found = {
        kind.TRIGGER.kind: [r for g in regions(text, kind.TRIGGER) if (r := proven(kind.read(g)))]  # type: ignore[attr-defined]
        for kind in (xid, aer)
    }
    return resolve_xids(found, knowledge())["xid"]


def test_an_ecc_error_before_it_makes_the_fault_a_consequence() -> None:
    ecc, fault = settled(line(48, "An uncorrectable double bit error"), line(31, "Ch 00000010, intr 00000000. MMU Fault"))
    assert (ecc.weight, fault.cause, fault.weight) == ("proof", "gpu_hardware.ecc", "hint")
    assert "Xid 48" in str(fault.fields["reason"])


def test_an_ecc_error_of_another_gpu_or_after_it_changes_nothing() -> None:
    other, _ = settled(line(31, "MMU Fault"), line(48, "double bit error"))
    assert other.cause == "gpu_program.illegal_access"
    _, apart = settled(line(48, "double bit error", pci="0000:5e:00"), line(31, "MMU Fault"))
    assert "reason" not in apart.fields


def test_pcie_errors_before_it_make_the_fault_a_consequence() -> None:
    report = "nvidia 0000:3b:00.0: AER: PCIe Bus Error: severity=Uncorrected (Fatal), type=Physical Layer, (Receiver ID)"
    (fault,) = settled(report, line(32, "Channel ID 0000000a"))
    assert fault.cause == "gpu_hardware.pcie"
    assert "AER" in str(fault.fields["reason"])


def test_many_units_of_one_program_speak_for_the_program() -> None:
    found = settled(*(line(13, WARP.format(gpc=g, tpc=t)) for g in range(3) for t in range(2)))
    assert {r.cause for r in found} == {"gpu_program.illegal_access"}
    assert all("6 or more units" in str(r.fields["reason"]) and "gpu_suspected" not in r.fields for r in found)


def test_different_programs_on_one_unit_speak_against_the_gpu() -> None:
    found = settled(
        *(line(13, WARP.format(gpc=3, tpc=1), task=name, pid=i) for i, name in enumerate(["train", "infer", "bench"], 1))
    )
    assert all(r.fields["gpu_suspected"] == "yes" and "GPC 3 TPC 1" in str(r.fields["reason"]) for r in found)
    alone = settled(line(13, WARP.format(gpc=3, tpc=1)))
    assert "reason" not in alone[0].fields


def test_the_words_of_an_nvlink_xid_are_decoded() -> None:
    (record,) = settled(
        "NVRM: Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 09 (0x025525c6 0x00000000 0x00000000 0x00000000)"
    )
    assert record.fields["nvlink_driver"] == "before R575"
    assert "other end" in str(record.fields["nvlink_then"])


@pytest.mark.parametrize(
    ("pci", "same"), [("0000:3b:00.0", "3b:00"), ("00000000:3B:00.1", "3b:00"), ("3b:00", "3b:00"), ("0018:01:00", "18:01:00")]
)
def test_an_address_is_one_slot_in_every_spelling(pci: str, same: str) -> None:
    assert slot(pci) == same


@given(st.text(alphabet="0123456789abcdefABCDEF:.", max_size=20))
def test_any_address_has_a_slot(pci: str) -> None:
    assert slot(pci) == slot(pci.upper())


@given(st.lists(st.tuples(st.sampled_from([13, 31, 43, 48, 79, 149, 9999]), st.text(max_size=60)), max_size=8))
def test_no_xid_is_lost(given: list[tuple[int, str]]) -> None:
    made = [r for i, (code, words) in enumerate(given) if (r := proven(xid.read(Region("log", i + 1, line(code, words)))))]
    assert [r.kind for r in resolve_xids({"xid": made}, knowledge())["xid"]] == [r.kind for r in made]
