"""Trouble whose end the same log tells is the noise of something that works.

    Warning  FailedMount   3m (x4 over 5m)  kubelet            MountVolume.SetUp failed for volume "data" : ... exit status 32
    Normal   Started       2m               kubelet            Started container main
        -> no failure of the storage: the container could not have started without its volume

Kubernetes tries until it succeeds, and keeps the events of what failed before. A container starts only after its pod has been
scheduled, its network made, its volumes mounted and its image pulled; kubectl sorts events by when they were seen last. The
kernel of a notebook is as it was when its page connects again, and so is a client that found its queue or its store again. What
Airflow's runner ends after it marked the task as a success is the rest of that task. MMCV tells which parameters of a checkpoint
do not fit, and leaves them out. A server whose worker was too slow starts another, which answers.
A machine that sleeps or shuts down takes its links down first.
"""

import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from forensics import lazy
from forensics.database import HEALTHY
from forensics.model import Observation, Line, Scan


class Cure(Struct, frozen=True):
    """`causes`: prefixes of what it is about. `trouble`: on the event's own line. `cure`: on a later one, or on any."""

    causes: tuple[str, ...]
    trouble: re.Pattern[str]
    cure: re.Pattern[str]
    anywhere: bool = False


CURES = (
    Cure(
        causes=("storage.", "gpu_driver.", "data.", "code.", "distributed.", "process.resource_limit", "host_hardware.nic"),
        trouble=lazy.regex(
            r"\b(?:FailedScheduling|FailedMount|FailedAttachVolume|FailedCreatePodSandBox|FailedCreatePodContainer|"
            r"NetworkNotReady|FailedSync|FailedToRetrieveImagePullSecret|Failed to pull image|ErrImagePull|ImagePullBackOff|"
            r"Back-off pulling image)\b"
        ),
        cure=lazy.regex(r"\bStarted\s.{0,200}\bStarted (?:container|with docker id)\b|\bStarted container \S+\s*$"),
    ),
    Cure(
        causes=("notebook.connection_lost",),
        trouble=lazy.regex(r"(?i)websocket|ping|buffering|stream"),
        cure=lazy.regex(r"\bRestoring connection for [0-9a-f-]{36}"),
    ),
    Cure(
        causes=("distributed.network", "notebook.connection_lost", "data.download"),
        trouble=lazy.regex(r"(?i)connect|\blost\b|refused|unreachable|retry"),
        cure=lazy.regex(
            r"\b[Cc]onnected to [a-z]{2,12}(?:\+\w{1,9})?://|(?i:\bre-?connected\b|\b(?:successfully|again) connected\b)|"
            r"(?i:\bconnect(?:ion|ed)\b[^\n]{0,80}\b(?:re-?established|restored|re-?gained)\b)"
        ),
    ),
    Cure(
        causes=("distributed.network", "data.download", "code.exception"),
        trouble=lazy.regex(
            r"^Connecting to \S.*failed: |Read error at byte|Connection closed at byte|awaiting response\.\.\. [45]\d\d "
        ),
        cure=lazy.regex(r"- [‘'`][^\n]{1,300}[’'] saved \[\d+(?:/\d+)?\]|^Connecting to \S.*\.\.\. connected\.$"),
    ),
    Cure(
        causes=("code.shape",),
        trouble=lazy.regex(r"(?<!\S)size mismatch for "),
        cure=lazy.regex(r"The model and loaded state dict do not match exactly"),
        anywhere=True,
    ),
    Cure(
        causes=("code.shape",),
        trouble=lazy.regex(r"(?<!\S)size mismatch for "),
        cure=lazy.regex(r" - INFO - (?:Start running, host: |Epoch ?\[\d{1,6}\])"),
    ),
    Cure(
        causes=("host_hardware.nic",),
        trouble=lazy.regex(r"(?i)\blink (?:is )?down\b|\bcarrier\b"),
        cure=lazy.regex(
            r"\bPM: (?:suspend|hibernation) (?:entry|exit)|\bsystemd-shutdown\[1\]: |\breboot: (?:Restarting|Power down)"
        ),
    ),
    Cure(
        causes=("process.stalled",),
        trouble=lazy.regex(r"\bWORKER TIMEOUT\b|\bhandle_abort$|^SystemExit: 1$"),
        cure=lazy.regex(r"\"(?:GET|POST|PUT) [^\"\n]{1,300} HTTP/\d(?:\.\d)?\" 2\d\d\b"),
    ),
    Cure(
        causes=("stopped.", "code.exception", "process."),
        trouble=lazy.regex(r"SIGTERM|externally set|exit code"),
        cure=lazy.regex(r"State of this instance has been externally set to success\b"),
        anywhere=True,
    ),
)
POD = lazy.regex(r"\bpods?/([\w.-]{1,253})")


def recovered(scan: Scan, events: Sequence[Observation]) -> list[Observation]:
    """`events`, those that ended well further down as noise of none.healthy."""
    return [replace(e, cause=HEALTHY, weight="hint") if _is_over(scan, e) else e for e in events]


def _is_over(scan: Scan, event: Observation) -> bool:
    text = event.proofs[0].text if event.proofs else ""
    return any(
        str(event.cause).startswith(c.causes)
        and c.trouble.search(text)
        and any(_cures(c, text, x) for x in _shown(scan, event, c))
        for c in CURES
    )


def _cures(cure: Cure, trouble: str, line: Line) -> bool:
    """Does `line` tell the end of `trouble`, of the same pod where both name one?"""
    if not cure.cure.search(line.text):
        return False
    ill, well = POD.search(trouble), POD.search(line.text)
    return not ill or not well or ill[1] == well[1]


def _shown(scan: Scan, event: Observation, cure: Cure) -> list[Line]:
    """The lines behind `event`, or all, as far as the ends of the source show them."""
    last = 0 if cure.anywhere else max(event.line, event.last_line)
    return list({x.number: x for x in (*scan.head, *scan.tail) if x.number > last}.values())
