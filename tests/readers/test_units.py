"""Sizes become bytes, times seconds, counts integers; what does not parse stays as it stood."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.readers.base import size_bytes, typed_fields


@pytest.mark.parametrize(
    ("groups", "facts"),
    [
        ({"limit_kb": "409600"}, {"limit_bytes": 419430400}),
        ({"request_size": "20.00 GiB"}, {"request_bytes": 20 << 30}),
        ({"shm_size": "64M"}, {"shm_bytes": 64 << 20}),
        ({"used_size": "9402820Ki"}, {"used_bytes": 9402820 << 10}),
        ({"used_size": "16Gi"}, {"used_bytes": 16 << 30}),
        ({"total_ram_pages": "1000"}, {"total_ram_bytes": 4096000}),
        ({"timeout_ms": "600000"}, {"timeout_s": 600.0}),
        ({"pid": "4711", "task": "python"}, {"pid": 4711, "task": "python"}),
        ({"pid": "<unknown>", "exit_code": "-9"}, {"pid": "<unknown>", "exit_code": -9}),
        ({"limit_kb": "lots", "empty": " "}, {"limit_kb": "lots"}),
        ({"read_bytes": "1,234"}, {"read_bytes": 1234}),
        ({"world_size": "8"}, {"world_size": 8}),
    ],
)
def test_groups_become_facts(groups: dict[str, str], facts: dict[str, object]) -> None:
    assert typed_fields(groups) == facts


@given(st.dictionaries(st.sampled_from(["limit_kb", "x_size", "pid", "t_ms", "n_bytes", "word"]), st.text()))
def test_no_group_raises(groups: dict[str, str]) -> None:
    typed_fields(groups)


@given(st.text())
def test_no_size_raises(text: str) -> None:
    size_bytes(text)
