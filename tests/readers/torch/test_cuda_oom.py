"""PyTorch's out-of-memory message in its wordings by version; the arithmetic decides."""

import pytest

from forensics.model import Region
from forensics.readers.torch import cuda_oom
from tests.readers.regions import proven

GIB = 1 << 30
ADVICE = " See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF to avoid fragmentation."


def read(text: str, after: str = "") -> tuple[str, dict[str, object]]:
    record = proven(cuda_oom.read(Region("log", 1, text, after=after.encode(), most_after=6)))
    assert record is not None
    assert record.cause
    return record.cause, record.fields


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (  # 0.4 to 1.3: cached is the slack
            "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 7.80 GiB total capacity; 6.10 GiB already allocated; "
            "512.00 MiB free; 31.00 MiB cached)",
            "gpu_memory.capacity",
        ),
        (  # 1.4 to 2.0: reserved in total
            "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB (GPU 1; 23.65 GiB total capacity; 12.00 GiB "
            "already allocated; 1.66 GiB free; 19.84 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory",
            "gpu_memory.fragmentation",
        ),
        (  # a share of a large card that would be rounding on a small one
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 300.00 MiB. GPU 0 has a total capacity of 79.10 GiB of which "
            "90.00 MiB is free. Process 4711 has 79.00 GiB memory in use. Of the allocated memory 74.50 GiB is allocated by PyTorch, "
            "and 3.60 GiB is reserved by PyTorch but unallocated.",
            "gpu_memory.fragmentation",
        ),
        (  # another program holds half of the card
            "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity; 2.42 GiB already allocated; "
            "26.12 MiB free; 2.75 GiB reserved in total by PyTorch)",
            "gpu_memory.other_process",
        ),
        (  # 2.1, with its own misspelling
            "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 216.00 MiB. GPU 0 has a total capacty of 44.42 GiB of which "
            "115.00 MiB is free. Including non-PyTorch memory, this process has 44.29 GiB memory in use. Of the allocated memory 43.87 GiB "
            "is allocated by PyTorch, and 1.20 MiB is reserved by PyTorch but unallocated.",
            "gpu_memory.capacity",
        ),
        (  # 2.5: another process named
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which "
            "1.15 GiB is free. Process 4711 has 18.31 GiB memory in use. Including non-PyTorch memory, this process has 4.10 GiB memory in "
            "use. Of the allocated memory 3.50 GiB is allocated by PyTorch, and 120.00 MiB is reserved by PyTorch but unallocated.",
            "gpu_memory.other_process",
        ),
        (  # in a container the own process is listed as another
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 132.00 MiB. GPU 3 has a total capacity of 79.10 GiB of which "
            "98.00 MiB is free. Process 359 has 78.89 GiB memory in use. Of the allocated memory 76.12 GiB is allocated by PyTorch, and "
            "765.81 MiB is reserved by PyTorch but unallocated.",
            "gpu_memory.capacity",
        ),
        (  # a fraction that the program set for itself
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which "
            "18.00 GiB is free. 4.70 GiB allowed; Of the allocated memory 4.10 GiB is allocated by PyTorch, and 20.00 MiB is reserved by "
            "PyTorch but unallocated.",
            "code.config",
        ),
        (  # several ranks on one card
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which "
            "0.20 GiB is free. Process 1 has 5.80 GiB memory in use. Process 2 has 5.80 GiB memory in use. Process 3 has 5.80 GiB memory in "
            "use. Including non-PyTorch memory, this process has 5.80 GiB memory in use. Of the allocated memory 5.10 GiB is allocated by "
            "PyTorch, and 20.00 MiB is reserved by PyTorch but unallocated.",
            "code.config",
        ),
        ("torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB.", "gpu_memory.capacity"),
    ],
)
def test_the_arithmetic_decides_and_the_advice_does_not(text: str, cause: str) -> None:
    assert read(text)[0] == cause
    assert read(text + ADVICE)[0] == cause


def test_sizes_are_bytes_and_the_gpu_a_number() -> None:
    _, fields = read(
        "CUDA out of memory. Tried to allocate 3.00 GiB (GPU 1; 24.00 GiB total capacity; 12.00 GiB already allocated; 1.50 GiB free; "
        "13.00 GiB reserved in total by PyTorch)"
    )
    assert fields["request_bytes"] == 3 * GIB
    assert fields["total_bytes"] == 24 * GIB
    assert fields["free_bytes"] == 3 * GIB // 2
    assert fields["gpu"] == 1


def test_a_message_broken_over_lines_is_read_whole() -> None:
    cause, fields = read(
        "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity; 2.42 GiB already",
        "allocated; 26.12 MiB free; 2.75 GiB reserved in total by PyTorch)\n\nnext\n",
    )
    assert cause == "gpu_memory.other_process"
    assert fields["reserved_bytes"] == round(2.75 * GIB)


def test_a_line_that_only_mentions_it_is_no_record() -> None:
    assert cuda_oom.read(Region("log", 1, "out of memory. Tried to allocate something")) is None


@pytest.mark.parametrize(
    "text",
    [
        "Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity; 2.42 GiB already allocated; 26.12 MiB free; 2.75 GiB reserved in "
        "total by PyTorch)",
        "Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.15 GiB is free. Process 4711 has 18.31 GiB memory in "
        "use. Including non-PyTorch memory, this process has 4.10 GiB memory in use. Of the allocated memory 3.50 GiB is allocated by "
        "PyTorch, and 120.00 MiB is reserved by PyTorch but unallocated.",
    ],
)
def test_sizes_without_their_first_words_are_read_alike(text: str) -> None:
    assert read(text) == read(f"RuntimeError: CUDA out of memory. {text}")
    assert read(text)[0] == "gpu_memory.other_process"


def test_a_request_without_sizes_of_a_gpu_is_no_message_of_pytorch() -> None:
    text = (
        "MPS backend out of memory (MPS allocated: 17.9 GB, max allowed: 18.1 GB). Tried to allocate 256.00 MB on private pool."
    )
    assert cuda_oom.read(Region("log", 1, text)) is None
    assert cuda_oom.read(Region("log", 1, "Tried to allocate 2.00 GiB for the buffer")) is None
