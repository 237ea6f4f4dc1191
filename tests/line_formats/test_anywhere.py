"""The moment at which a line was written, wherever its stamp stands; no other time that a line tells."""

import pytest

from forensics.line_formats.anywhere import find_stamp, record_stamp


@pytest.mark.parametrize(
    ("text", "wall"),
    [
        ("[1,0]<stderr>:[2019-10-09 04:36:43.594972: W horovod/stall_inspector.cc:105] waiting", "2019-10-09 04:36:43.594972"),
        ("Finished at: 2024-11-27T20:37:59 EET", "2024-11-27 20:37:59+02:00"),
        ("START TRAINING: 2021-12-29 23:32:59.714550", "2021-12-29 23:32:59.714550"),
        ("INFO:tensorflow:Starting evaluation at 2017-07-28-18:09:20", "2017-07-28 18:09:20"),
        ("ERROR    | 2024-08-21 20:56:04 | trainers.common:wrapper:121 - out of memory", "2024-08-21 20:56:04"),
        ("[05/23/2021 18:30:06][computer][0]:ERROR: CUDA error", "2021-05-23 18:30:06"),
        ("|Jun 14, 2022, 2:53:48 PM|WARNING|large alloc", "2022-06-14 14:53:48"),
        ("2019-06-02T17:13:44.884Z: [1,12]<stdout>:node:815:864 [0] NCCL WARN", "2019-06-02 17:13:44.884000+00:00"),
        ("Results reported at Tue Nov  3 21:49:09 2020", "2020-11-03 21:49:09"),
        ('  File "/home/user/aW1226 16:05:47.086000 8985 torch/x.py:908] Sending process 9', "1904-12-26 16:05:47.086000"),
        (
            "node3.nolog [stderr] [rank3]:[E909 09:55:46.996672294 ProcessGroupNCCL.cpp:1709] Timeout",
            "1904-09-09 09:55:46.996672",
        ),
        ('*** Aborted at 1544160602 (unix time) try "date -d @1544160602"', "2018-12-07 05:30:02+00:00"),
        ("type=1305 audit(1534954409.786:3): audit_pid=1454", "2018-08-22 16:13:29.786000+00:00"),
        ("error.Error: [05:14:48] /home/build/tensor_gpu-inl.cuh:110: Check failed", "1904-01-01 05:14:48"),
        ("10:40:16 [rank 0/2] iter 50 loss 0.0588", "1904-01-01 10:40:16"),
    ],
)
def test_a_stamp_in_the_line(text: str, wall: str) -> None:
    stamp = find_stamp(text)
    assert stamp
    assert str(stamp.wall) == wall


@pytest.mark.parametrize(
    "text",
    [
        "Python 3.10.12 (main, Jun 11 2023, 05:26:28) [GCC 11.4.0] on linux",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.173.02  Tue Jun 23 01:38:17 UTC 2026",
        "+++ ./configure\t2025-04-22 15:28:51.939096830 +0000",
        "      <td>2113-08-25 17:31:00+00:00</td>",
        "  1%|          | 137/17500 [01:49<3:32:01,  1.36it/s]",
        "THCudaCheck FAIL file=/opt/conda-bld/pytorch_1579022034529/work/THCGeneral.cpp line=50",
        "the certificate expires at 2025-03-12 22:50:43",
        "JobRuntime = 20:00:00",
        "Timeout (0:00:10)!",
    ],
)
def test_another_time(text: str) -> None:
    assert find_stamp(text) is None


@pytest.mark.parametrize(
    "text",
    [
        '    "finishedAt": "2017-10-10T09:41:58Z",',
        '  "state": {"terminated": {"exitCode": 137, "finishedAt": "2017-10-10T09:41:58Z"}}',
        "   StartTime=2017-10-10T09:40:00 EndTime=2017-10-10T09:41:58 Deadline=N/A",
        "  time      : 2017-10-10_09:41:58",
    ],
)
def test_the_time_of_a_record(text: str) -> None:
    stamp = record_stamp(text)
    assert stamp
    assert str(stamp.wall).startswith("2017-10-10 09:41:58")
