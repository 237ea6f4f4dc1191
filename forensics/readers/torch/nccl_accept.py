"""A connection that NCCL's service thread did not accept: somebody knocked at its port and went away. The run goes on.

    n2:3358:3391 [2] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer 198.51.100.7<46494>
    n2:3358:3391 [2] NCCL INFO misc/socket.cc:58 -> 6
    n2:3358:3391 [2] proxy.cc:1494 NCCL WARN [Service thread] Accept failed Success        -> not_accepted, from the first line on

The thread listens on a port that a scanner of the network can reach. Where a connection ends before it is accepted, it prints
this and waits for the next one (NCCL src/proxy.cc, ncclProxyService). A peer of the job that is lost has been accepted before.
"""

from forensics.data_files.named_parts import patterns_of
from forensics.model import Region, Trigger
from forensics.readers.base import Record

TRIGGER = Trigger("nccl_accept", ("[service thread] accept failed",), before=12)
PATTERNS = patterns_of("nccl accept")
ACCEPT_FAILED = "[Service thread] Accept failed"
CLOSED = "Connection closed by remote peer"
NOT_ACCEPTED = "not_accepted"
OUTCOMES = (NOT_ACCEPTED,)


def read(region: Region) -> Record | None:
    """The lines of the same thread from the closed connection to the region's line. None if no closed connection leads to it."""
    own = PATTERNS.nccl_line.search(region.text)
    if own is None or ACCEPT_FAILED not in own["message"]:
        return None
    for line in reversed(region.lines_before()):
        found = PATTERNS.nccl_line.search(line.text)
        if found is None and line.text.strip():
            return None
        if found is None:
            continue
        if found["thread"] != own["thread"] or ACCEPT_FAILED in found["message"]:
            return None
        if CLOSED in found["message"]:
            quote = (region.line, line)
            return Record("nccl_accept", line.number, region.number, NOT_ACCEPTED, "hint", quote)
    return None
