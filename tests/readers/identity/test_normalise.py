"""One spelling for PCI addresses, hosts and names of processes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.readers.identity import entity_ids


@pytest.mark.parametrize("text", ["0000:3b:00", "0000:3B:00.0", "00000000:3b:00.0", "3b:00.0", "0:3b:0"])
def test_an_address_in_any_spelling_is_one(text: str) -> None:
    assert entity_ids.normalise_pci(text) == "0000:3b:00"


@pytest.mark.parametrize("text", ["", "3b", "12:34:56:78", "GPU-3b:00.0", "0000:3b:00.0:1"])
def test_a_text_that_is_no_pci_address_gives_none(text: str) -> None:
    assert entity_ids.normalise_pci(text) == ""


@pytest.mark.parametrize(("number", "address"), [("65000", "0000:65:00"), ("1e0", "0000:00:1e"), ("101c00000", "101c:00:00")])
def test_the_bus_id_of_nccl_is_a_pci_address_without_separators(number: str, address: str) -> None:
    assert entity_ids.bus_id(number) == address


@given(st.integers(0, 0xFFFF), st.integers(0, 0xFF), st.integers(0, 0x1F), st.integers(0, 7))
def test_the_two_spellings_of_a_pci_address_give_the_same_result(domain: int, bus: int, device: int, function: int) -> None:
    digits = f"{domain:x}{bus:02x}{device:02x}{function:x}".lstrip("0") or "0"
    assert entity_ids.bus_id(digits) == entity_ids.normalise_pci(f"{domain:08X}:{bus:02X}:{device:02X}.{function}")


@pytest.mark.parametrize("text", ["localhost", "localhost.localdomain", "10.0.0.4", "fe80::1", "3", "", "kernel"])
def test_a_host_name_that_every_machine_has_is_ignored(text: str) -> None:
    assert entity_ids.normalise_host(text) == ""


@pytest.mark.parametrize(("a", "b", "same"), [("n1", "n1.x.y", True), ("n1", "n10", False), ("n1.x", "n1.y", False)])
def test_a_short_name_and_a_full_one_are_one_host(a: str, b: str, same: bool) -> None:
    assert entity_ids.same_host(a, b) == same == entity_ids.same_host(b, a)


def test_a_name_is_cut_as_the_kernel_cuts_it() -> None:
    assert entity_ids.kernel_comm("ray::train_worker") == entity_ids.kernel_comm("ray::train_work") == "ray::train_work"
    assert entity_ids.kernel_comm("größenordnung-ü") == "größenordnung"  # 15 bytes, and no half character


@pytest.mark.parametrize("name", ["python3.11", "pt_main_thread", "bash", "java", "sh", ""])
def test_a_common_process_name_is_not_distinctive(name: str) -> None:
    assert not entity_ids.is_distinctive(name)


@pytest.mark.parametrize("name", ["ray::train_work", "gunicorn", "tritonserver", "raylet"])
def test_a_rare_process_name_is_distinctive(name: str) -> None:
    assert entity_ids.is_distinctive(name)
