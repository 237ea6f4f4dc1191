"""Take the words of the lines of trouble: the input of the text model, which orders causes of logs that no signature matches.

    RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2) -> runtimeerror, mat, and, shapes, shapes cannot, ...

The words come from the lines of the evidence and from the last lines of trouble of the subject's lanes. Numbers, addresses and
paths are left out, so that two logs of one failure share their words. Words order causes; they never raise an alarm.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from forensics.database import HEALTHY
from forensics.model.verdicts import Lane, OwnedObservation
from forensics.readers.words import plain_words

MAX_WORD_LINES = 200  # the last lines of trouble of all lanes together; bounds the time of the words
MAX_WORD_LINE_CHARS = 400  # the meaning of a message is in its first words; values follow


def trouble_words(lines: Iterable[str]) -> set[str]:
    """Words and pairs of neighbouring words of the last MAX_WORD_LINES `lines`: `shapes`, `shapes cannot`."""
    found: set[str] = set()
    for line in list(lines)[-MAX_WORD_LINES:]:
        tokens = plain_words(line[:MAX_WORD_LINE_CHARS])
        found.update(tokens)
        found.update(f"{a} {b}" for a, b in pairwise(tokens))
    return found


def trouble_text(owned: Sequence[OwnedObservation], lanes: Sequence[Lane]) -> list[str]:
    """The lines whose words count, each once: the trouble of the subject's lanes, then all evidence except that of others."""
    trouble = [line.text[:MAX_WORD_LINE_CHARS] for lane in lanes for line in lane.trouble_lines]
    proofs = [p.text for o in owned if o.owner != "others" and o.observation.cause != HEALTHY for p in o.observation.proofs]
    return list(dict.fromkeys([*trouble, *proofs]))
