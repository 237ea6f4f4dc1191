"""The outcomes that the picture of ranks can show. signatures/records.yaml names the cause of each."""

RANKS_RECORD = "ranks"  # the key of these outcomes in that file
KEPT_WAITING = "kept_waiting"  # one or a few ranks keep the others waiting
NOT_CARRIED_OUT = "not_carried_out"  # all ranks entered a call, and no device carries it out
GONE = "gone"  # ranks left no dump, and the others lost their connection to a process
OUTCOMES = (KEPT_WAITING, NOT_CARRIED_OUT, GONE)
