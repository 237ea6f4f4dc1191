"""The error of a dump that is not read, and the limits of one."""

MAX_DUMP_BYTES = 64 << 20  # 20,000 calls with their stacks, the largest buffer in use, take 30 MB
MAX_CONTAINERS = 4_000_000  # lists, tuples and dictionaries of one dump, 64 bytes each at least; one of 30 MB has 600,000
MAX_ENTRIES = 200_000  # calls of one dump: ten times the largest buffer in use
PROTOCOLS = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")  # how a pickle begins


class DumpError(ValueError):
    """A dump is damaged, too large or made to do harm. The message is one line that says so."""
