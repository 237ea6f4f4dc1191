"""Find the job or process that a record of a supervising program (Slurm, supervisord, Jupyter, containerd) is about.

    [2026-05-01T10:00:07.123] _job_complete: JobId=4711 WEXITSTATUS 1                -> job 4711        (slurmctld)
    [2026-05-01T10:00:07.123] [4711.batch] done with job                             -> job 4711        (slurmd, slurmstepd)
    2026-05-01 10:43:11,764 WARN exited: worker (exit status 1; not expected)        -> unit worker     (supervisord)
    [I 2026-05-01 13:03:00.911 ServerApp] Kernel started: 5b2d5693-c320-4f13-...     -> notebook 5b2d5693-...
    time="2026-05-01T10:00:07Z" level=info msg="shim disconnected" id=4c01db0b339c   -> container 4c01db0b339c
    6m1s   Warning   Failed   pod/fit-0   Error: ErrImagePull                        -> container pod/fit-0  (kubectl get events)

Each of these has a lane of its own: that job 4712 continued says nothing about job 4711.
"""

import re
from collections.abc import Mapping

from msgspec import Struct

from forensics.core import lazy
from forensics.model.verdicts import EntityKind, LaneKind


class Supervisor(Struct, frozen=True):
    """A program that writes records about other programs.

    `record`: matches the beginning of such a record; its first group that matched is the name of the job or process. `mark`:
    bytes that occur in each record, for a quick test. Neither depends on which digits a record has (see lanes.py). `about`:
    what the name denotes. `lane`: the kind of lane in a host's log.
    """

    record: re.Pattern[bytes]
    mark: bytes
    about: EntityKind
    lane: LaneKind


SLURM_STAMP = rb"\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?\] "
UUID = rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
# By name. Wordings: Slurm 20.11 to 24.05 (src/slurmctld, src/slurmd/slurmstepd),
# supervisor 4 (process.py), jupyter_server 1 and 2 (services/kernels/kernelmanager.py), containerd 1.2 to 1.7 (runtime/v2).
SUPERVISORS: Mapping[str, Supervisor] = {
    "slurm": Supervisor(
        lazy.regex(SLURM_STAMP + rb"(?:\[(\d{1,10})\.(?:\d{1,5}|batch|extern|interactive)\]|.{0,120}?\bJobId=(\d{1,10}))"),
        b"] ",
        "job",
        "scheduler",
    ),
    "supervisord": Supervisor(
        lazy.regex(
            rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (?:INFO|WARN|CRIT|DEBG) "
            rb"(?:spawned: '([^']{1,60})'|(?:success|exited|gave up|stopped|spawnerr): ([\w.:-]{1,60})|"
            rb"(?:killing|waiting for) '?([\w.:-]{1,60}))"
        ),
        b": ",
        "unit",
        "runtime",
    ),
    "jupyter": Supervisor(
        lazy.regex(rb"\[[IWEDC] [\d:. -]{8,24}(?:\w{1,30}App|\w{1,30})\] .{0,60}?\b[Kk]ernel.{0,40}?(" + UUID + rb")"),
        b"ernel",
        "notebook",
        "notebook",
    ),
    "containerd": Supervisor(
        lazy.regex(rb"time=\"[^\"]{10,40}\" level=\w{4,7} msg=.{1,400}?(?:\bid=|[cC]ontainer\W{1,4})\"?([0-9a-f]{12,64})\b"),
        b"level=",
        "container",
        "runtime",
    ),
    "kubectl": Supervisor(
        lazy.regex(
            rb"(?:[a-z0-9-]{1,63} +)?(?:\d[\dsmhd]{0,9}|<unknown>)(?: \(x\d+ over [\dsmhd]{1,9}\))? +(?:Normal|Warning) +"
            rb"[A-Z]\w{1,60} +((?:[a-z]{2,40}/)[a-z0-9][\w.-]{0,252})"
        ),
        b"  ",
        "container",
        "runtime",
    ),
}
FIRST_BYTES = frozenset(bytes([c]) for c in b"[t0123456789")  # each of these records begins with one of them,
EVENT_TYPES = (b" Normal ", b" Warning ")  # or has one of them, behind the name of a namespace


def supervised_entity(raw: bytes) -> tuple[str, str] | None:
    """(the supervisor's name, the name of the job or process in its record); None for any other line."""
    if raw[:1] not in FIRST_BYTES and not any(kind in raw for kind in EVENT_TYPES):
        return None
    for name, supervisor in SUPERVISORS.items():
        if supervisor.mark in raw and (found := supervisor.record.match(raw)):
            return name, found[found.lastindex or 1].decode("ascii", "replace")
    return None
