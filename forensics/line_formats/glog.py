"""glog and formats like it, with a one-letter level: klog, absl, torch's c10 and torchelastic, TensorFlow's C++ code; and vLLM.

E0517 15:04:22.619632 1952452992 logging_unittest.cc:253] Log every 3, iteration 19
[W722 04:20:51.746222605 ProcessGroupNCCL.cpp:1250] Warning: ...
2025-06-04 09:59:45.928804: E external/local_xla/xla/stream_executor/cuda/cuda_fft.cc:477] Unable to register cuFFT factory
"""

from forensics.line_formats.base import LineFormat
from forensics.line_formats.clock import ISO_STAMP, TIME_OF_DAY

SOURCE_FILE_PATTERN = r"\[?[\w./+-]+:\d+\] ?"
LEVEL_WORD_PATTERN = r"(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL)"

LINE_FORMATS = (
    LineFormat(
        "glog",
        "wall",
        rf"(?P<level>[IWEF])(?P<mo>[01]\d)(?P<d>[0-3]\d) {TIME_OF_DAY} +(?P<pid>\d+) {SOURCE_FILE_PATTERN}",
        (
            "E0517 15:04:22.619632 1952452992 logging_unittest.cc:253] Log every 3, iteration 19",
            "I1010 17:41:57.858757    4991 manager.go:1126] Created an OOM event in container",
            "W0409 07:28:49.530000 1359 torch/distributed/elastic/agent/server/api.py:719] Received 15 death signal",
        ),
        first=r"[IWEF]\d",
    ),
    LineFormat(
        "glog with year",
        "wall",
        rf"(?P<level>[IWEF])(?P<y>20\d\d)(?P<mo>[01]\d)(?P<d>[0-3]\d) {TIME_OF_DAY} +(?P<pid>\d+) {SOURCE_FILE_PATTERN}",
        ("I20200308 23:47:32.089828 400441 config.cc:27] Loading user configuration",),
        first=r"[IWEF]2",
    ),
    LineFormat(
        "absl before InitializeLog",
        "wall+zone",
        # Month and day are 0000, hour and minute are those at which 1970 began here, the seconds are seconds since then.
        rf"(?P<level>[IWEF])0000 [0-2]\d:\d\d:(?P<unix>\d{{10}})\.(?P<frac>\d{{6}}) +(?P<pid>\d+) {SOURCE_FILE_PATTERN}",
        (
            "E0000 00:00:1749031185.951235    9438 cuda_dnn.cc:8310] Unable to register cuDNN factory",
            "E0000 02:00:1738697930.202924    7665 cuda_dnn.cc:522] Loaded runtime CuDNN library: 9.1.0",
        ),
        first=r"[IWEF]0",
    ),
    LineFormat(
        "c10",
        "wall",
        # The month has no leading zero: W121 is 21 January, W1121 21 November.
        rf"\[(?P<level>[IWEF])(?P<mo>1[0-2]|[1-9])(?P<d>[0-3]\d) {TIME_OF_DAY} {SOURCE_FILE_PATTERN}",
        ("[W722 04:20:51.746222605 ProcessGroupNCCL.cpp:1250] Warning: process group has NOT been destroyed",),
        first=r"\[[IWEF]",
    ),
    LineFormat(
        "c10 without time",
        "none",
        rf"\[(?P<level>[IWEF]) {SOURCE_FILE_PATTERN}",
        (
            "[W reducer.cpp:1346] Warning: find_unused_parameters=True",
            "[E ProcessGroupNCCL.cpp:828] [Rank 1] Watchdog caught collective operation timeout",
        ),
        first=r"\[[IWEF]",
    ),
    LineFormat(
        "tensorflow",
        "wall",
        rf"{ISO_STAMP}: (?P<level>[IWEF]) {SOURCE_FILE_PATTERN}",
        ("2025-06-04 09:59:45.928804: E external/local_xla/xla/stream_executor/cuda/cuda_fft.cc:477] Unable to register",),
        first=r"\d{4}-",
        within="]",
    ),
    LineFormat(
        "vllm",
        "wall",
        rf"{LEVEL_WORD_PATTERN} (?P<mo>[01]\d)-(?P<d>[0-3]\d) {TIME_OF_DAY} {SOURCE_FILE_PATTERN}",
        (
            "INFO 07-22 04:20:44 multiproc_worker_utils.py:247] Worker exiting",
            "ERROR 07-22 04:20:44 [core.py:390] EngineCore hit an exception",
        ),
        first=r"DE|IN|WA|ER|CR",
    ),
)
