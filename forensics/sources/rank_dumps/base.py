"""What tells a dump, the error of one that is not read, and the limits of one."""

from forensics.core import lazy

MAX_DUMP_BYTES = 64 << 20  # 20,000 calls with their stacks, the largest buffer in use, take 30 MB
MAX_CONTAINERS = 4_000_000  # lists, tuples and dictionaries of one dump, 64 bytes each at least; one of 30 MB has 600,000
MAX_ENTRIES = 200_000  # calls of one dump: ten times the largest buffer in use
PROTOCOLS = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")  # how a pickle begins
JSON_HEAD_PATTERN = lazy.regex(
    rb'\A\s*\{\s*"(?:version|pg_config|pg_status|entries|nccl_version|comm_lib_version|rank|nccl_comm_state)"'
)


class DumpError(ValueError):
    """A dump is damaged, too large or made to do harm. The message is one line that says so."""


def is_flight_recorder(head: bytes) -> bool:
    """Is this the start of such a dump?"""
    named = b"pg_config" in head or b"collective_seq_id" in head or b"pg_status" in head
    return named and (head[:2] in PROTOCOLS or JSON_HEAD_PATTERN.match(head) is not None)
