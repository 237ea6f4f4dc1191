"""The one-letter family: glog and klog, torch's c10 and torchelastic, TensorFlow's C++ lines.

E0517 15:04:22.619632 1952452992 logging_unittest.cc:253] Log every 3, iteration 19
[W722 04:20:51.746222605 ProcessGroupNCCL.cpp:1250] Warning: ...
2025-06-04 09:59:45.928804: E external/local_xla/xla/stream_executor/cuda/cuda_fft.cc:477] Unable to register cuFFT factory
"""

from forensics.layouts.base import Layout
from forensics.layouts.clock import ISO, TIME

FILE = r"[\w./+-]+:\d+\] ?"

LAYOUTS = (
    Layout(
        "glog",
        "wall",
        rf"(?P<level>[IWEF])(?P<mo>[01]\d)(?P<d>[0-3]\d) {TIME} +(?P<pid>\d+) {FILE}",
        (
            "E0517 15:04:22.619632 1952452992 logging_unittest.cc:253] Log every 3, iteration 19",
            "I1010 17:41:57.858757    4991 manager.go:1126] Created an OOM event in container",
            "W0409 07:28:49.530000 1359 torch/distributed/elastic/agent/server/api.py:719] Received 15 death signal",
        ),
    ),
    Layout(
        "c10",
        "wall",
        # The month has no leading zero: W121 is 21 January, W1121 21 November.
        rf"\[(?P<level>[IWEF])(?P<mo>1[0-2]|[1-9])(?P<d>[0-3]\d) {TIME} {FILE}",
        ("[W722 04:20:51.746222605 ProcessGroupNCCL.cpp:1250] Warning: process group has NOT been destroyed",),
    ),
    Layout(
        "c10 without time",
        "none",
        rf"\[(?P<level>[IWEF]) {FILE}",
        ("[W reducer.cpp:1346] Warning: find_unused_parameters=True",),
    ),
    Layout(
        "tensorflow",
        "wall",
        rf"{ISO}: (?P<level>[IWEF]) {FILE}",
        ("2025-06-04 09:59:45.928804: E external/local_xla/xla/stream_executor/cuda/cuda_fft.cc:477] Unable to register",),
    ),
)
