"""Ranks: one picture of who waits for whom, from the dumps, stacks and ends of all ranks of a job.

dumps of ranks 0 to 3: 0, 1 and 3 wait in all_reduce no. 17, rank 2 has entered 16; its stack: decode (train.py:71)
    -> rank 2 keeps the others waiting: it computes at train.py:71
"""

from forensics.ranks.beside import beside_ranks, logs_of_job
from forensics.ranks.by_stacks import OTHER_MOMENT, late_in_looks
from forensics.ranks.ended import ended_ranks, is_wait, rank_processes
from forensics.ranks.helpers import ends_of_others
from forensics.ranks.looks import shown_by_looks
from forensics.ranks.observation import GONE, OUTCOMES, RANKS_RECORD, observation
from forensics.ranks.picture import only_awaited, picture
from forensics.ranks.threads import numbered_names, ranked
