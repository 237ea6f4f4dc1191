"""What it may be where the words of a question name no cause: the differential of the setting that the words speak of."""

from forensics.database.differential import Differential, differentials
from forensics.explain.words import stems


def differential_of(question: str) -> Differential:
    """The differential for the setting with most words in `question`; for a machine of its own if there are none."""
    asked = set(stems(question))
    return max(differentials(), key=lambda told: (len(asked.intersection(stems(told.words))), not told.words))
