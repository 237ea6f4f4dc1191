"""The kind of a cause, by its family: who has to act. tables/kinds.csv.

host_memory.oom_cgroup -> memory    gpu_hardware.ecc -> machine    stopped.user -> stopped
"""

import functools

from forensics.database.tables import read_table


def kind_of(cause: str) -> str:
    """`machine`, `memory`, `program`, `data` or `stopped`; empty for no cause and for a family that is not in the table."""
    return _kinds().get(cause.partition(".")[0], "")


@functools.cache
def _kinds() -> dict[str, str]:
    return {family: row["kind"] for family, row in read_table("kinds").items()}
