"""Texts in the messages' own forms, for items of which no program can be made to fail here: nobody captured them.

`example/gpu_hardware/ecc/double_bit` is the first example of that signature; what needs more than a line is written here.
"""

import yaml

from forensics.database import builtin_folder

_PROGRAM = """\
Traceback (most recent call last):
  File "/home/user/run/train.py", line 41, in <module>
    loss.backward()
"""
FULL = (
    _PROGRAM
    + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 132.00 MiB. GPU 3 has a total capacity of 79.10 GiB of which"
    " 98.00 MiB is free. Including non-PyTorch memory, this process has 78.90 GiB memory in use. Of the allocated memory 77.10 GiB is"
    " allocated by PyTorch, and 210.00 MiB is reserved by PyTorch but unallocated.\n"
)
ACCELERATOR = (
    "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4767413699 bytes.\n"
)
CHECKED = (
    "/pytorch/aten/src/THCUNN/ClassNLLCriterion.cu:105: void cunn_ClassNLLCriterion_updateOutput_kernel: block: [0,0,0],"
    " thread: [3,0,0] Assertion `t >= 0 && t < n_classes` failed.\n"
    + _PROGRAM
    + "RuntimeError: CUDA error: device-side assert triggered\n"
)
FORKED = _PROGRAM + (
    "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method\n"
)
GROWING = "".join(f"step {100 * i} loss {2.3 - i / 10:.2f} memory allocated: {2000 + 344 * i} MiB\n" for i in range(7))
UNFIT = (
    "E tensorflow/stream_executor/cuda/cuda_dnn.cc:336] Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED\n"
    "W tensorflow/core/framework/op_kernel.cc:1780] UNKNOWN: Failed to get convolution algorithm.\n"
)
FORMS = {
    "form/unfit": UNFIT,
    "form/full": FULL,
    "form/accelerator": ACCELERATOR,
    "form/checked": CHECKED,
    "form/forked": FORKED,
    "form/growing": GROWING,
}


def in_form(given: str) -> str:
    """The text of `form/NAME`, or of `example/FAMILY/CAUSE/SIGNATURE`."""
    if given in FORMS:
        return FORMS[given]
    _, family, cause, signature = given.split("/")
    known = yaml.safe_load((builtin_folder() / family / f"{cause}.yaml").read_text(encoding="utf-8"))
    first = next(s for s in known["signatures"] if s["id"] == signature)["examples"]["match"][0]
    return f"{first if isinstance(first, str) else first['text']}\n"
