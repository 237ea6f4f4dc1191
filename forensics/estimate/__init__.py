"""Memory arithmetic: how much memory a training needs, which batch size fits, and how much each measure would save.

    Need(parameters=25_600_000, optimizer="adam", batch=64, ...)  -> Estimate: weights 98 MiB + gradients 98 MiB + ...  [counted]

Every part has its formula and states whether it is certain (counted) or estimated. All sizes are in bytes.

This module is the door of the room: `forensics estimate` and the remedies import from it, and from no other module of it.
"""

from forensics.estimate.activations import HEAD_WIDTH, Sample, transformer
from forensics.estimate.case import ESTIMATE_FACTS, memory_facts, need_of, planned_need
from forensics.estimate.needs import (
    CONTEXT_BYTES,
    PRECISIONS,
    SHARDED,
    STATE_BYTES,
    Need,
    accumulation,
    estimate,
    largest_batch,
    savings,
)
