"""Where the threads of a run that hangs stood when its stacks were taken.

MainThread in save_checkpoint (train.py:6), prefetch in prefetch (train.py:10)
    -> python_file train.py, python_line 6, standing_threads "save_checkpoint at train.py:6 and prefetch at train.py:10"
"""

from collections.abc import Sequence

from forensics.model import Fields, Value
from forensics.model.stacks import ThreadPlace

STANDING_FACTS = (STANDING_THREADS,) = ("standing_threads",)
STALLS = "stalls"  # the trait of a cause that means no progress
MAX_TOLD_THREADS = 4  # chosen by hand: of one sentence


def standing_facts(facts: Fields, threads: Sequence[ThreadPlace]) -> dict[str, Value]:
    """The place of the first thread, which is the main one, of the process that `facts` name, or of the only one; and of several
    threads all their places, as one may wait for another."""
    own = [t for t in threads if t.pid == facts.get("pid")]
    if not own and "pid" not in facts and len({t.pid for t in threads}) == 1:
        own = [*threads]
    if not own:
        return {}
    places = [f"{t.frame.function} at {t.frame.file}:{t.frame.line}" for t in own[:MAX_TOLD_THREADS]]
    several = {STANDING_THREADS: f"{', '.join(places[:-1])} and {places[-1]}"} if len(places) > 1 else {}
    return {"python_file": own[0].frame.file, "python_line": own[0].frame.line, **several}
