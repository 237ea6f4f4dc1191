"""Prefixes that name the process (rank, host, pid) that wrote the line: torchrun, MPI, srun -l, pdsh, Ray, NCCL.

[rank0]:[W722 04:20:51.746222605 ProcessGroupNCCL.cpp:1250] ...      [default3]:Traceback ...      12: text
"""

from forensics.line_formats.base import LineFormat

# Terminal colours whose escape byte was lost look like `[2m[36m(train_fn pid=1328)[0m`.
COLOUR = r"(?:\[\d{1,2}m)*"

LINE_FORMATS = (
    LineFormat(
        "rank",
        "none",
        r"\[(?:rank|default|trainer|worker)[ _]?(?P<rank>\d{1,5})\](?:: ?| (?=\[?\d))",
        (
            "[rank0]: RuntimeError: oops",
            "[default0]:Traceback",
            "[rank0] 2026-11-21 11:58:29,440 INFO step 149",
            "[rank 1] 10:00:02 x",
        ),
        first=r"\[[rdtw]",
        labels=True,
    ),
    LineFormat(
        "number in brackets",
        "none",
        r"\[(?P<rank>\d{1,5})\]: ?(?=\D|$)",
        ("[0]: Traceback (most recent call last):",),
        rank=80,
        first=r"\[\d",
        within="]:",
        labels=True,
    ),
    LineFormat(
        "c10 rank",
        "none",
        r"\[Rank (?P<rank>\d{1,5})\] ",
        ("[Rank 1] Watchdog caught collective operation timeout",),
        first=r"\[R",
    ),
    LineFormat(
        "name and stamp",
        "none",
        # A level must follow the date: a sentence may also mention a date.
        r"\[?(?P<program>[A-Za-z][\w.-]{0,40})\]?:? +(?=\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,\d]{0,10}(?:Z|[+-]\d\d:?\d\d)?"
        r" +[\[|-]? ?(?:INFO|DEBUG|WARN|ERROR|CRITICAL|FATAL))",
        ("launcher 2026-11-21 11:58:37,743 INFO 4 of 4 ranks are alive", "[trainer] 2026-11-21T11:58:37Z [WARNING] slow"),
        rank=80,
        first=r"\[?[A-Za-z][\w.-]",
        within="-",
    ),
    LineFormat("lightning rank", "none", r"\[rank: (?P<rank>\d{1,5})\] ", ("[rank: 1] Seed set to 42",), first=r"\[r"),
    LineFormat(
        "mpirun", "none", r"\[\d+,(?P<rank>\d{1,5})\]<std(?:out|err)>: ?", ("[1,0]<stderr>:text",), first=r"\[\d", labels=True
    ),
    LineFormat(
        "open mpi",
        "none",
        r"\[(?P<host>[A-Za-z][\w.-]*):(?P<pid>\d{1,7})\] ",
        ("[node07:12345] *** Process received signal ***",),
        first=r"\[[A-Za-z]",
        within=":",
    ),
    LineFormat(
        "host and rank",
        "none",
        r"\[(?P<host>[A-Za-z][\w.-]*):(?P<rank>\d{1,5})\]: ?",
        ("[node07:3]: Traceback (most recent call last):",),
        first=r"\[[A-Za-z]",
        within="]:",
        labels=True,
    ),
    LineFormat(
        "srun",
        "none",
        r" *(?P<rank>\d{1,5}): (?=\D)",
        ("12: Traceback (most recent call last):",),
        rank=80,
        first=r" [ \d]|\d[\d:]",
        within=": ",
        labels=True,
    ),
    LineFormat(
        "pdsh",
        "none",
        # `cuda0: ` and `eth0: ` have the same form, so only usual host names are accepted.
        r"(?P<host>(?:gpu|node|host|worker|compute|nid|cn|dgx|hgx)(?!\d: )[\w-]*\d[\w.-]*): (?=\S)",
        ("node07: RuntimeError: NCCL error", "worker-1: text"),
        rank=80,
        first=r"gp|no|ho|wo|co|ni|cn|dg|hg",
        within=": ",
        labels=True,
    ),
    LineFormat(
        "program in brackets",  # of Ray and vLLM
        "none",
        rf"{COLOUR}\((?P<program>[\w.:<>-]+) ?(?:rank=(?P<rank>\d+), ?)?(?:pid=(?P<pid>\d+))?(?:,? ?ip=(?P<host>[\d.a-f:]+))?\)"
        rf"{COLOUR} ",
        (
            "(train_fn pid=1328, ip=10.0.0.4) text",
            "(raylet) The node with node id 3f was marked dead",
            "(raylet, ip=10.0.0.4) Worker exit",
            "[2m[36m(MemoryMonitorActor pid=1328)[0m text",
        ),
        first=r"\(\w|\[\d",
        within=")",
    ),
    LineFormat(
        "pid in brackets",
        "none",
        rf"{COLOUR}\(pid=(?P<pid>\d+)(?:, ip=(?P<host>[\d.a-f:]+))?\){COLOUR} ",
        ("(pid=1328) text", "(pid=1328, ip=10.0.0.4) text"),
        rank=45,
        first=r"\(p|\[\d",
        within="pid=",
    ),
    LineFormat(
        "nccl",
        "none",
        r"(?!\d{4}-)(?P<host>\w[\w.-]+):(?P<pid>\d+):\d+ \[\d+\] (?=NCCL |\S+:\d+ (?:\([^)]{1,80}\) )?NCCL )",
        (
            "gpu-node-7:4242:4243 [0] NCCL INFO Channel 00/32 : 0 1 2 3",
            "gpu-node-7:4242:4251 [3] misc/socket.cc:456 NCCL WARN socketProgress: Connection closed",
        ),
        first=r"(?!\d{4}-)\w[\w.-]",
        within=" NCCL ",
    ),
)
