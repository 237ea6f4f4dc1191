"""Memory that grew until it ran out: what is told first then, as a smaller batch only delays the same end.

rss 4.1 GiB ... rss 61.8 GiB (40 readings), Killed    -> grew_series "rss", grew_from_bytes, grew_to_bytes, grew_readings
"""

from forensics.model import Fields, JobContext, Observation, Value

GREW = "grew_series"
GREW_FACTS = GREW, "grew_from_bytes", "grew_to_bytes", "grew_readings"
GPU_FAMILY, HOST_FAMILY = "gpu_memory.", "host_memory."
GROWN_OUT_OF = (GPU_FAMILY, HOST_FAMILY, "process.worker_died")  # causes that growing memory can lead to
MIN_GROWTH_SHARE = 0.2  # of the first value; caches that fill and batches of different lengths move less
MIN_SHARE_OF_HELD = 0.5  # of what was held at the end; below it something else took the larger part
HELD = ("allocated_bytes", "anon_rss_bytes", "limit_bytes", "total_bytes")  # the most exact one first


def growth_facts(cause: str, facts: Fields, context: JobContext) -> dict[str, Value]:
    """The series of memory that grew to the end, for a cause that it can lead to; empty if none did."""
    if not cause.startswith(GROWN_OUT_OF) or cause.endswith(".leak"):
        return {}
    for one in context.growth:
        first, last = one.fields.get("first_bytes"), one.fields.get("last_bytes")
        if isinstance(first, int) and isinstance(last, int) and _is_of(cause, one) and _explains(first, last, facts):
            return dict(zip(GREW_FACTS, (one.fields["series"], first, last, one.fields["readings"]), strict=True))
    return {}


def _is_of(cause: str, one: Observation) -> bool:
    """Is it the memory that ran out? A series that only says memory may be either; one that says which is not the other's."""
    of_gpu, of_host = str(one.cause).startswith(GPU_FAMILY), "rss" in str(one.fields["series"]).lower()
    return not of_host if cause.startswith(GPU_FAMILY) else not of_gpu


def _explains(first: int, last: int, facts: Fields) -> bool:
    """Did it grow enough, and to a good part of what was held when it ran out?"""
    held = next((h for name in HELD if isinstance(h := facts.get(name), int | float) and h), None)
    return last >= first * (1 + MIN_GROWTH_SHARE) and (held is None or MIN_SHARE_OF_HELD * held <= last)
