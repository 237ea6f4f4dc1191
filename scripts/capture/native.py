"""Native code: a division by zero, an exception nobody caught, a loader's worker; built by the machine's own compiler."""

from __future__ import annotations

from collections.abc import Callable

from .case import Files, case
from .stage import KernelLog, Stage

_BUILD = "g++ -shared -fPIC -o kernels.so kernels.cpp\n"
_DIVIDE = 'extern "C" int blocks(int elements, int width) { return elements / width; }\n'
_CALL = """import ctypes

kernels = ctypes.CDLL("./kernels.so")
for width in (256, 128, 0):
    print("blocks", kernels.blocks(65536, width), flush=True)
"""
_THROW = """#include <stdexcept>
#include <string>
extern "C" void merge(int rank) {
    if (rank > 2) throw std::runtime_error("vocabulary has " + std::to_string(rank) + " merges, expected 2");
}
"""
_MERGE = """import ctypes

kernels = ctypes.CDLL("./kernels.so")
for shard in range(5):
    print("tokenizing shard", shard, flush=True)
    kernels.merge(shard)
"""
_LOADER = """import ctypes

import torch
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        if index == 100:
            ctypes.string_at(0)
        return torch.zeros(3)


for step, batch in enumerate(DataLoader(Samples(), batch_size=4, num_workers=2)):
    print("step", step, flush=True)
"""


@case("process.abort", ("train.log", "Floating point exception"), ("dmesg.log", "trap divide error"))
def division_by_zero(stage: Callable[..., Stage]) -> Files:
    """Native code divides an integer by zero; the kernel ends the process with SIGFPE."""
    one, kernel = stage(), KernelLog()
    files = {"kernels.cpp": _DIVIDE, "train.py": _CALL}
    output = one.output_of(f'{_BUILD}python train.py\necho "exit status $?"', files=files)
    return {"train.log": output, "dmesg.log": kernel.lines("-T")}


@case("process.abort", ("train.log", "terminate called after throwing an instance of"))
def uncaught_cpp_exception(stage: Callable[..., Stage]) -> Files:
    """A tokenizer in C++ throws an exception that nobody catches."""
    files = {"kernels.cpp": _THROW, "train.py": _MERGE}
    return {"train.log": stage().output_of(f'{_BUILD}python train.py\necho "exit status $?"', files=files)}


@case("process.segfault", ("train.log", "Unexpected segmentation fault encountered in worker"))
def worker_segfault(stage: Callable[..., Stage]) -> Files:
    """A DataLoader worker reads a null pointer in native code; the main process learns it from its queue."""
    return {"train.log": stage().output_of('python train.py\necho "exit status $?"', files={"train.py": _LOADER})}
