"""The environment that could not be activated before a program failed, as a fact of its cause.

FailedActivation("job.err", 1, ..., "line 15: venv/bin/activate: No such file or directory"), an error on job.err:7
-> {"activation": "line 15: venv/bin/activate: No such file or directory"}
"""

from collections.abc import Sequence

from forensics.model import FailedActivation, Proof, Value
from forensics.model.verdicts import Candidate

ACTIVATION_FACTS = ("activation",)


def activation_facts(candidate: Candidate, proofs: Sequence[Proof], failed: Sequence[FailedActivation]) -> dict[str, Value]:
    """What the shell said of the last of `failed` before the first of `proofs`, in the same attempt; empty if it said nothing."""
    if not proofs or not failed:
        return {}
    first = proofs[0]
    lane = next((o.lane for o in candidate.owned if o.lane and o.observation.source == first.source), None)
    starts = [a.first_line for a in lane.attempts[1:]] if lane else []
    since = max((n for n in starts if n <= first.line), default=1)
    return next(
        ({"activation": f.said} for f in reversed(failed) if f.source == first.source and since <= f.line < first.line), {}
    )
