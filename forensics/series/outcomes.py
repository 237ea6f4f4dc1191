"""The outcomes that series can show. signatures/records.yaml names the cause of each.

gpu_memory_grows -> gpu_memory.leak
"""

from collections.abc import Mapping

from forensics.database import ProvenCause

RECORD = "series"  # the key of these outcomes in that file
GPU_MEMORY_GROWS, HOST_MEMORY_GROWS = "gpu_memory_grows", "host_memory_grows"
FREE_GPU_MEMORY_SINKS = "free_gpu_memory_sinks"  # in a log with failed allocations
GROWS_TO_LIMIT = "grows_to_limit"  # the limit may be in another source
NOT_FINITE = "not_finite"
THROTTLED, STARVED, SILENT = "throttled", "starved", "silent"
WAITS_FOR_DATA, WAITS_FOR_PEERS = "waits_for_data", "waits_for_peers"
OUTCOMES = (
    *(GPU_MEMORY_GROWS, HOST_MEMORY_GROWS, FREE_GPU_MEMORY_SINKS, GROWS_TO_LIMIT, NOT_FINITE),
    *(THROTTLED, STARVED, SILENT, WAITS_FOR_DATA, WAITS_FOR_PEERS),
)
Proves = Mapping[str, ProvenCause]  # by outcome
