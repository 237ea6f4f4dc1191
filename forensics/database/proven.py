"""What the outcome of a record proves: a cause, and which hits inside the record give way to it.

kernel_oom, memory_limit -> Proven("host_memory.oom_cgroup", ("host_memory.oom_global", "host_memory.oom_cgroup"))
"""

from collections.abc import Mapping

from msgspec import Struct


class ProvenCause(Struct, frozen=True, array_like=True):
    """What an outcome proves. `cause`: None where the record names none, or takes it from the table of a code.

    `decides`: causes or families (`gpu_memory.*`) whose hits inside the record give way to it. `beside`: causes or families, one
    of which the same log must tell; of an outcome without a cause it is the one that is found.
    """

    cause: str | None = None
    decides: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    def is_beside(self, cause: str) -> bool:
        """Is `cause` one of those of `beside`?"""
        return cause in self.beside or f"{cause.split('.')[0]}.*" in self.beside


Records = Mapping[str, Mapping[str, ProvenCause]]


def signal_outcome(number: int) -> str:
    """The outcome of a record that tells of a death by this signal."""
    return f"signal_{number}"
