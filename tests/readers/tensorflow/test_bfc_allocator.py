"""TensorFlow's allocation summary: the arithmetic tells another process from a card that is too small. Lines made for these tests."""

import pytest

from forensics.readers.base import Record
from forensics.readers.tensorflow import bfc_allocator
from tests.readers.regions import proven, regions

GIB = 1 << 30


def records(text: str) -> list[Record]:
    found = [r for region in regions(text, bfc_allocator.TRIGGER) if (r := bfc_allocator.read(region))]
    return [p for r in bfc_allocator.join(found) if (p := proven(r))]


def summary(request: str, limit: int, regions_bytes: int, used: int, more: str = "") -> str:
    at = "2023-01-02 03:04:05.000001: I tensorflow/tsl/framework/bfc_allocator.cc:1039] "
    return "\n".join(
        [
            f"{at}Allocator (GPU_1_bfc) ran out of memory trying to allocate {request} requested by op model/conv",
            f"{at}BFCAllocator dump for GPU_1_bfc",
            f"{at}Bin (256): \tTotal Chunks: 1, Chunks in use: 1. 256B allocated for chunks.",
            f"{at}Next region of size {regions_bytes}",
            f"{at}InUse at 7f0000000000 of size {used} next 1",
            f"{at}Sum Total of in-use chunks: 1.00GiB",
            f"{at}total_region_allocated_bytes_: {regions_bytes} memory_limit_: {limit} available bytes: {limit - regions_bytes} "
            "curr_region_allocation_bytes_: 2147483648",
            f"{at}Stats: ",
            f"Limit:                  {limit}",
            f"InUse:                  {used}",
            f"MaxInUse:               {used}",
            "NumAllocs:                     455",
            "MaxAllocSize:            562273024",
            more,
        ]
    )


def test_a_full_card_is_too_small_and_every_number_is_told() -> None:
    (record,) = records(summary("2.00GiB", 8 * GIB, 8 * GIB, 7 * GIB))
    assert record.cause == "gpu_memory.capacity"
    assert record.weight == "proof"
    wanted = {"request_bytes": 2 * GIB, "limit_bytes": 8 * GIB, "allocated_bytes": 7 * GIB, "peak_bytes": 7 * GIB, "gpu": 1}
    assert {k: record.fields[k] for k in wanted} == wanted
    assert record.last == 13


def test_a_limit_far_below_the_card_means_another_process() -> None:
    card = "totalMemory: 10.92GiB freeMemory: 1.20GiB\n"
    (record,) = records(card + summary("2.00GiB", GIB, GIB, GIB))
    assert record.cause == "gpu_memory.other_process"
    (tiny,) = records(summary("256.00MiB", 100 << 20, 100 << 20, 99 << 20))
    assert tiny.cause == "gpu_memory.other_process"


def test_regions_that_stop_below_the_limit_mean_another_process() -> None:
    (record,) = records(summary("512.00MiB", 8 * GIB, 2 * GIB, 2 * GIB))
    assert record.cause == "gpu_memory.other_process"


def test_enough_free_in_pieces_is_fragmentation() -> None:
    (record,) = records(summary("512.00MiB", 8 * GIB, 8 * GIB, 5 * GIB, "LargestFreeBlock:  1024"))
    assert record.cause == "gpu_memory.fragmentation"


def test_a_cut_summary_that_ends_at_its_limit_is_a_full_card() -> None:
    head, _, cut = summary("2.00GiB", GIB, GIB, GIB - (4 << 20)).partition("InUse at")
    assert "ran out of memory" in head
    (record,) = records(cut)
    assert (record.cause, record.weight) == ("gpu_memory.capacity", "strong")


def test_a_cut_summary_with_a_tiny_region_still_tells() -> None:
    at = "2019-07-21 19:26:45.086394: I tensorflow/core/common_runtime/bfc_allocator.cc:793] "
    (record,) = records(f"{at}Next region of size 72080128\n{at}InUse at 0x7fa5400093a0 next 1 of size 1280")
    assert record.cause == "gpu_memory.other_process"


@pytest.mark.parametrize(
    "line",
    [
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.25GiB with freed_by_count=0. The caller indicates that this is not a "
        "failure, but may mean that there could be performance gains if more memory were available.",
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 9.25GiB.  Current allocation summary follows.",
        "Allocator (cpu) ran out of memory trying to allocate 9.25GiB.\nNext region of size 1048576",
    ],
)
def test_without_a_summary_of_a_gpu_nothing_is_decided(line: str) -> None:
    assert records(line) == []


def test_two_failures_are_two_records() -> None:
    text = summary("2.00GiB", 8 * GIB, 8 * GIB, 7 * GIB)
    assert [r.first for r in records(f"{text}\n{text}")] == [1, 15]
