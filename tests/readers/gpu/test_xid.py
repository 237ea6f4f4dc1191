"""Every grammar of an Xid line gives its code, GPU and process; the table names the cause; an unknown code is told as unknown."""

import pytest

from forensics.database import read_table
from forensics.model import Region
from forensics.readers.base import Record
from forensics.readers.gpu import xid
from tests.readers.regions import proven


def read(region: Region) -> Record | None:
    return proven(xid.read(region))


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (
            "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus.",
            {"xid": 79, "pci": "0000:3b:00", "pid": 1234, "task": "python"},
        ),
        ("NVRM: Xid (0000:03:00): 13, 0001 00000000 0000a0c0", {"xid": 13, "pci": "0000:03:00"}),
        ("NVRM: Xid (PCI:0000:44:00): 31, pid='<unknown>', name=<unknown>, Ch 00000008", {"xid": 31}),
        ("NVRM: Xid (PCI:0000:44:00 GPU-I:05 GPU-CI:00): 45, pid=77, name=train, Ch 0000001c", {"xid": 45, "pid": 77}),
        ("NVRM: Xid (PCI:0000:0a:00): 62, 0cb5(3098) 00000000 00000000", {"xid": 62}),
        ("NVRM: Xid (PCI:0000:0a:00): 13,  pid=77,  name=train, Graphics Exception", {"xid": 13, "pid": 77, "task": "train"}),
    ],
)
def test_a_line_of_any_grammar_is_read(text: str, fields: dict[str, object]) -> None:
    record = read(Region("dmesg", 3, f"[ 12.345678] {text}"))
    assert record is not None
    assert {k: record.fields[k] for k in fields} == fields
    assert record.cause == read_table("xid")[str(fields["xid"])]["cause"]
    assert ("pid" in record.fields) == ("pid" in fields)


def test_a_victim_is_only_a_hint_and_takes_its_cause_from_what_was_before() -> None:
    plain = read(Region("dmesg", 1, "NVRM: Xid (PCI:0000:44:00): 45, pid=77, name=train, Ch 0000001c"))
    told = read(
        Region("dmesg", 1, "NVRM: Xid (PCI:0000:44:00): 45, pid=77, name=train, channel 0x10, caused by previous Xid 149")
    )
    assert plain is not None
    assert told is not None
    assert plain.weight == "hint"
    assert told.cause == "gpu_hardware.nvlink"


def test_words_of_a_link_speak_for_the_link_whatever_number_stands_before_them() -> None:
    agent = read(Region("agent.json", 8, "NVRM: Xid (PCI:0000:b9:00): 71, NVLink: fatal error detected on link 6"))
    engine = read(Region("dmesg", 1, "NVRM: Xid (PCI:0000:b9:00): 71, pid=77, name=train, Ch 0000001c"))
    assert agent is not None
    assert engine is not None
    assert (agent.cause, agent.fields["xid"]) == ("gpu_hardware.nvlink", 71)
    assert engine.cause == "gpu_program.illegal_access"


def test_an_unknown_code_is_reported_as_unknown() -> None:
    record = read(Region("dmesg", 1, "NVRM: Xid (PCI:0000:44:00): 9999, pid=77, name=train, something new"))
    assert record is not None
    assert record.fields["xid"] == 9999
    assert "unknown" in str(record.fields["xid_name"])
    assert record.weight == "hint"


def test_a_nonfatal_link_error_is_only_a_hint() -> None:
    fatal = read(Region("dmesg", 1, "NVRM: Xid (PCI:0000:44:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 03 (0x1 0x2)"))
    mild = read(Region("dmesg", 1, "NVRM: Xid (PCI:0000:44:00): 149, NETIR_LINK_EVT Nonfatal XC0 i0 Link 03 (0x1 0x2)"))
    assert fatal is not None
    assert mild is not None
    assert (fatal.weight, mild.weight) == ("proof", "hint")


def test_a_recovery_action_that_is_over_speaks_for_no_cause() -> None:
    over = read(
        Region("dmesg", 1, "NVRM: Xid (PCI:0000:44:00): 154, GPU recovery action changed from 0x1 (GPU Reset) to 0x0 (None)")
    )
    due = read(
        Region("dmesg", 1, "NVRM: Xid (PCI:0000:44:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset)")
    )
    assert over is not None
    assert due is not None
    assert over.cause is None
    assert due.cause == "gpu_driver.hang"


REBOOT = (
    "NVRM: Xid (PCI:0000:86:00): 154, pid='<unknown>', GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"
)


def test_an_xid_that_another_one_led_to_is_called_by_nvidias_own_words() -> None:
    titles = {}
    for text in (
        REBOOT,
        "NVRM: Xid (PCI:0000:3b:00): 43, pid=77, name=train, channel 0x8",
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=77, name=train, GPU has fallen off the bus.",
    ):
        record = read(Region("dmesg", 1, text))
        assert record is not None
        titles[record.fields["xid"]] = record.fields.get("event_title")
    assert titles == {
        154: "Xid 154: GPU Recovery Action Changed to Node Reboot Required",
        43: "Xid 43: GPU stopped processing",
        79: None,
    }
