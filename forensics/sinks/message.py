"""The message that sinks get: what is known of one death, in a few texts, already redacted."""

import os
import socket
import time
import uuid
from collections.abc import Mapping

from msgspec import Struct, field

from forensics.model import Report
from forensics.report.redaction import without_names, without_secrets

MAX_EVIDENCE = 5  # lines: an alert is read on a telephone
UNDETERMINED = "undetermined"
# What the job's own environment says about the job; the sinks of trackers and of Kubernetes need it after the job is gone.
WANTED_VARIABLES = ("WANDB_RUN_ID", "WANDB_PROJECT", "WANDB_DIR", "MLFLOW_RUN_ID", "SLURM_JOB_ID", "POD_NAME", "POD_NAMESPACE")


class Message(Struct, frozen=True):
    """One death. `id`: unique, for receivers that see a message twice. `job`: variables of the job's environment."""

    id: str
    time: float
    node: str
    case: str
    verdict: str
    cause: str
    title: str
    summary: str
    probability: float
    remedy: str = ""
    evidence: tuple[str, ...] = ()
    job: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The message in a few lines."""
        lines = [f"{self.case}: {self.title} ({self.cause}, {self.probability:.0%})", self.summary]
        lines += [f"> {line}" for line in self.evidence]
        return "\n".join([*lines, f"First step: {self.remedy}" if self.remedy else ""]).strip()


def message_of(report: Report, names: bool = True) -> Message:
    """The message about a report, without secrets; without names of people and places too unless `names`."""
    clean = without_secrets(report)
    clean = clean if names else without_names(clean)[0]
    first = clean.causes[0] if clean.causes else None
    steps = [advice.action for advice in first.remediations] if first else []
    return Message(
        id=uuid.uuid4().hex, time=time.time(), node=socket.gethostname() if names else "", case=clean.case,
        verdict=str(clean.verdict), cause=first.id if first else UNDETERMINED,
        title=first.title if first else "The cause is not known", summary=first.summary if first else "",
        probability=first.probability if first else 0.0, remedy=steps[0] if steps else "",
        evidence=tuple(proof.text for proof in first.evidence[:MAX_EVIDENCE]) if first else (),
        job={name: os.environ[name] for name in WANTED_VARIABLES if os.environ.get(name)},
    )  # fmt: skip
