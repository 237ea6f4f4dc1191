"""What the outcome of a record proves: a cause, and which hits inside the record it replaces.

kernel_oom, memory_limit -> ProvenCause("host_memory.oom_cgroup", ("host_memory.oom_global", "host_memory.oom_cgroup"))
"""

from collections.abc import Mapping

from msgspec import Struct


class ProvenCause(Struct, frozen=True, array_like=True):
    """What an outcome proves. `cause`: None if the outcome has none, or takes it from the table of a code.

    `decides`: causes or families (`gpu_memory.*`) whose hits inside the record it replaces. `beside`: causes or families one of
    which must also be found in the same log; for an outcome without a cause, that one is its cause.
    """

    cause: str | None = None
    decides: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    def is_beside(self, cause: str) -> bool:
        """Is `cause` one of those of `beside`?"""
        return cause in self.beside or f"{cause.split('.')[0]}.*" in self.beside


Records = Mapping[str, Mapping[str, ProvenCause]]


def signal_outcome(number: int) -> str:
    """The name of the outcome "killed by this signal"."""
    return f"signal_{number}"
