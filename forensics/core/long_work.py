"""Work that takes seconds once: whoever asks for an answer, such as the command line, may say so to the person who waits.

use(progress.told)                                    the command line, at its start
with in_words("compiling the messages"): ...          the work, wherever it is done
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Teller = Callable[[str], AbstractContextManager[object]]
_teller: Teller = nullcontext


def use(teller: Teller) -> None:
    """Let `teller` make the context in which such work is done; it is given the work in words."""
    global _teller
    _teller = teller


def in_words(work: str) -> AbstractContextManager[object]:
    """The context for `work`; without a teller nothing is said."""
    return _teller(work)
