"""The machine's software and hardware, from lines that name them.

    | NVIDIA-SMI 550.54.15    Driver Version: 550.54.15    CUDA Version: 12.4 |  -> driver 550.54.15, CUDA 12.4
    Linux version 6.1.0-18-amd64 (debian-kernel@...) ...                          -> kernel 6.1.0-18-amd64
    node1:812:812 [0] NCCL INFO NCCL version 2.21.5+cuda12.4                      -> NCCL 2.21.5+cuda12.4

Wordings: nvidia-smi's header and -L list, the NVIDIA module's banner, the kernel's banner and the first line of its call traces,
NCCL's banner, collect_env of PyTorch, `pip list` and requirement lines, TensorFlow's device line.
"""

import re
from collections.abc import Iterable, Iterator

from forensics.core import lazy
from forensics.model import Region, Scan, Setting, Trigger

TRIGGER = Trigger(
    "environment",
    (
        "driver version:",
        "nvrm version",
        "nvrm: loading nvidia",
        "cuda version:",
        "cuda runtime version",
        "cuda used to build pytorch",
        "linux version ",
        "tainted",
        "hardware name:",
        "nccl version ",
        "pytorch version:",
        "torch==",
        "torch 1.",
        "torch 2.",
        "torch version",
        "torch: ",
        "torch=",
        "tensorflow==",
        "jax==0.",
        "tensorflow version",
        "jax version",
        "(uuid: gpu-",
        "python version: 3",
        "name: nvidia",
        "name: tesla",
        "gpu models and configuration",
        "% /dev/shm",
    ),
)
VERSION_PATTERN = r"v?\d+(?:\.\d+){1,3}(?:[.+-]?(?:rc|post|dev|a|b|cu|rocm|git|cpu)[\w.+]*)?"
PATTERNS = (
    ("driver", lazy.regex(r"Driver Version:\s*(\d{3}\.\d+(?:\.\d+)?)", re.I)),
    ("driver", lazy.regex(r"NVRM version: NVIDIA .*?Kernel Module(?: for \w+)?\s+(\d{3}\.\d+(?:\.\d+)?)")),
    ("driver", lazy.regex(r"NVRM: loading NVIDIA .*?Kernel Module(?: for \w+)?\s+(\d{3}\.\d+(?:\.\d+)?)")),
    ("driver", lazy.regex(r"Nvidia driver version:\s*(\d{3}\.\d+(?:\.\d+)?)", re.I)),
    ("CUDA", lazy.regex(r"\bCUDA Version:\s*(\d+\.\d+)")),
    ("CUDA", lazy.regex(r"CUDA used to build PyTorch:\s*(\d+\.\d+)")),
    ("CUDA runtime", lazy.regex(r"CUDA runtime version:\s*(\d+(?:\.\d+)+)")),
    ("kernel", lazy.regex(r"\bLinux version (\d+\.\d+\S*)")),
    ("kernel", lazy.regex(r"\b(?:Not tainted|Tainted: [A-Z ()\[\]=_,-]+?) (\d+\.\d+\.\d+\S*) #\d")),
    ("machine", lazy.regex(r"\bHardware name: (\S.{0,100}?)(?:, BIOS|\s*$)")),
    ("NCCL", lazy.regex(rf"\bNCCL version ({VERSION_PATTERN})")),
    ("PyTorch", lazy.regex(rf"\bPyTorch version:\s*({VERSION_PATTERN})")),
    ("PyTorch", lazy.regex(rf"(?<![\w/.-])torch(?:\.__version__|[ _]version)?(?:==?|: ?| )v?({VERSION_PATTERN})(?![\w/])", re.I)),
    ("TensorFlow", lazy.regex(rf"(?<![\w-])tensorflow==({VERSION_PATTERN})|\bTensorFlow version:?\s*({VERSION_PATTERN})", re.I)),
    ("JAX", lazy.regex(rf"(?<![\w-])jax==({VERSION_PATTERN})|\bJAX version:?\s*({VERSION_PATTERN})", re.I)),
    ("Python", lazy.regex(r"\bPython version: (3\.\d+(?:\.\d+)?)")),
    ("/dev/shm", lazy.regex(r"(?<!\S)([\d.]{1,20}[KMGT]?(?:\s{1,12}[\d.]{1,20}[KMGT]?){2}\s{1,8}\d{1,3}%) /dev/shm\b")),
    ("GPU", lazy.regex(r"\bGPU \d+: (\S[^\n]{1,60}?) \(UUID: GPU-")),
    ("GPU", lazy.regex(r"\bname: ((?:NVIDIA|Tesla|GeForce|Quadro)\b[^,\n]{1,50}), pci bus id")),
)
MAX_ENVIRONMENT_VALUES = 30  # twice as many as there are names, for a log of two runs


def settings(scans: Iterable[Scan]) -> tuple[Setting, ...]:
    """Each distinct (name, value) with its first line; at most MAX_ENVIRONMENT_VALUES, in the order of PATTERNS."""
    found: dict[tuple[str, str], Setting] = {}
    for scan in scans:
        for setting in _of(scan):
            found.setdefault((setting.name, setting.value), setting)
    order = {name: i for i, (name, _) in reversed(list(enumerate(PATTERNS)))}
    return tuple(sorted(found.values(), key=lambda s: order[s.name])[:MAX_ENVIRONMENT_VALUES])


def _of(scan: Scan) -> Iterator[Setting]:
    origin = scan.source.origin or int
    for region in sorted(scan.regions.get(TRIGGER.kind, ()), key=lambda r: r.number):
        yield from (Setting(n, v, scan.source.name, origin(region.number)) for n, v in read(region))


def read(region: Region) -> Iterator[tuple[str, str]]:
    """(name, value) of everything that one line names: `("driver", "550.54.15")`."""
    for name, pattern in PATTERNS:
        for match in pattern.finditer(region.text):
            yield name, next(g for g in match.groups() if g).strip()
