"""Wrappers that say which of many processes wrote the line: torchrun, MPI, srun -l, Ray, NCCL.

[rank0]:[W722 04:20:51.746222605 ProcessGroupNCCL.cpp:1250] ...      [default3]:Traceback ...      12: text
"""

from forensics.layouts.base import Layout

LAYOUTS = (
    Layout("rank", "none", r"\[(?:rank|default)(?P<rank>\d{1,5})\]: ?", ("[rank0]: RuntimeError: oops", "[default0]:Traceback")),
    Layout("c10 rank", "none", r"\[Rank (?P<rank>\d{1,5})\] ", ("[Rank 1] Watchdog caught collective operation timeout",)),
    Layout("lightning rank", "none", r"\[rank: (?P<rank>\d{1,5})\] ", ("[rank: 1] Seed set to 42",)),
    Layout("mpirun", "none", r"\[\d+,(?P<rank>\d{1,5})\]<std(?:out|err)>: ?", ("[1,0]<stderr>:text",)),
    Layout("srun", "none", r" *(?P<rank>\d{1,5}): (?=\D)", ("12: Traceback (most recent call last):",), rank=80),
    Layout(
        "ray",
        "none",
        r"\((?P<program>[\w.:<>]+) (?:rank=(?P<rank>\d+), )?pid=(?P<pid>\d+)(?:, ip=(?P<host>[\d.a-f:]+))?\) ",
        ("(train_fn pid=1328, ip=10.0.0.4) text",),
    ),
    Layout(
        "nccl",
        "none",
        r"(?P<host>[\w.-]+):(?P<pid>\d+):\d+ \[\d+\] (?=NCCL |\S+:\d+ )",
        ("gpu-node-7:4242:4243 [0] NCCL INFO Channel 00/32 : 0 1 2 3",),
    ),
)
