"""The machine's software and hardware, from lines that name them.

    | NVIDIA-SMI 550.54.15    Driver Version: 550.54.15    CUDA Version: 12.4 |  -> driver 550.54.15, CUDA 12.4
    Linux version 6.1.0-18-amd64 (debian-kernel@...) ...                          -> kernel 6.1.0-18-amd64
    node1:812:812 [0] NCCL INFO NCCL version 2.21.5+cuda12.4                      -> NCCL 2.21.5+cuda12.4

Wordings: nvidia-smi's header and -L list, the NVIDIA module's banner, the kernel's banner and the first line of its call traces,
NCCL's banner, collect_env of PyTorch, `pip list` and requirement lines, TensorFlow's device line.
"""

import functools
from collections.abc import Iterable, Iterator, Sequence

from forensics.data_files.named_parts import every_value, part_rows
from forensics.model import Region, Scan, Setting, Trigger

TRIGGER = Trigger("environment", of="software")
SOFTWARE = "software"  # the group of patterns
UPTIME_CHARS = "[ .0123456789"  # of the time since the boot, in which nothing is named
MAX_ENVIRONMENT_VALUES = 30  # twice as many as there are names, for a log of two runs


def settings(scans: Iterable[Scan]) -> tuple[Setting, ...]:
    """Each distinct (name, value) with its first line; at most MAX_ENVIRONMENT_VALUES, in the order of the table."""
    found: dict[tuple[str, str], Setting] = {}
    for scan in scans:
        for setting in _of(scan):
            found.setdefault((setting.name, setting.value), setting)
    order = {row.name: i for i, row in reversed(list(enumerate(part_rows(SOFTWARE))))}
    return tuple(sorted(found.values(), key=lambda s: order[s.name])[:MAX_ENVIRONMENT_VALUES])


def _of(scan: Scan) -> Iterator[Setting]:
    for region in sorted(scan.regions.get(TRIGGER.kind, ()), key=lambda r: r.number):
        yield from (Setting(n, v, scan.source.name, scan.source.number_of(region.number)) for n, v in read(region))


def read(region: Region) -> Sequence[tuple[str, str]]:
    """(name, value) of everything that one line names: `("driver", "550.54.15")`."""
    stamp, _, said = region.text.partition("] ")  # of a kernel, which says the same at each boot
    return _named(region.text if stamp.strip(UPTIME_CHARS) else said)


@functools.lru_cache(maxsize=1024)  # a log of many boots or ranks says few different things
def _named(text: str) -> Sequence[tuple[str, str]]:
    return tuple((name, value.strip()) for name, value in every_value(SOFTWARE, text))
