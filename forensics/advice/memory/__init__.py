"""Memory arithmetic: how much memory a training needs, which batch size fits, and how much each measure would save.

    Need(parameters=25_600_000, optimizer="adam", batch=64, ...)  -> Estimate: weights 98 MiB + gradients 98 MiB + ...  [counted]

Every part has its formula and states whether it is certain (counted) or estimated. All sizes are in bytes.
"""

from forensics.advice.memory.activations import Sample, sample_of
from forensics.advice.memory.estimate import Estimate, Need, Part, estimate
from forensics.advice.memory.fit import Saving, largest_batch, savings

__all__ = ["Estimate", "Need", "Part", "Sample", "Saving", "estimate", "largest_batch", "sample_of", "savings"]
