"""What the readers of the lines around a line of evidence share: how far they look, and what they return."""

from forensics.model import NO_LINES, Around, Proof, Value

Found = dict[str, Value]
NEAR = 3  # lines in which a message tells the rest of itself
WIDE = 60  # lines of one report: a backtrace, a document of a pod
MAX_PROMPT_LINES = 400  # chosen by hand: what one command printed
MAX_READ_PROOFS = 3  # as in named_place
MAX_TOLD_PROOFS = 3  # chosen by hand: as in near_lines
MAX_LISTED_DEVICES = 3  # chosen by hand: of several that failed alike
MAX_SENTENCE_LINES = 12  # chosen by hand: a driver's report of one fault
MAX_FAULT_LINES = 60  # chosen by hand: faulthandler prints a few threads before the current one


def nothing_near(_: Proof) -> Around:
    """For a report without its logs."""
    return NO_LINES
