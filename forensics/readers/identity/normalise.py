"""Normalise PCI addresses, host names and process names, which logs spell in many ways.

65:00.0, 0000:65:00, 00000000:65:00.0, NCCL's 65000   -> 0000:65:00
gpu-7.cluster.example, GPU-7                           -> one host
ray::train_worker                                      -> ray::train_worke, as the kernel stores it
"""

from forensics.core import lazy

MAX_COMM_BYTES = 15  # TASK_COMM_LEN of the kernel is 16 with the terminating zero
PCI_ADDRESS_PATTERN = lazy.regex(r"(?:([0-9a-fA-F]{1,8}):)?([0-9a-fA-F]{1,2}):([0-9a-fA-F]{1,2})(?:\.[0-9a-fA-F])?")
HEX_NUMBER_PATTERN = lazy.regex(r"[0-9a-fA-F]{1,16}")
IP = lazy.regex(r"\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}:[0-9a-f:.]{0,60}")
# Process names that are common on a host: interpreters, shells, launchers, the threads that PyTorch names.
COMMON_HOST_PATTERN = lazy.regex(
    r"(?:python[\d.]*|pypy[\d.]*|pt_\w*|ipython\d?|java|node|perl|ruby|R|(?:ba|da|z|k|tc|c|fi)?sh|sudo|conda|mamba|uv|pip\d?|"
    r"srun|slurmstepd|torchrun|mpirun|mpiexec|orterun|accelerate|deepspeed|launcher|systemd|containerd-shim|tini|main|worker)"
)


def normalise_pci(text: str) -> str:
    """A PCI address as domain:bus:device, without its function; empty for a text that is no address."""
    text = text.strip()
    found = PCI_ADDRESS_PATTERN.fullmatch(text)
    if found:
        return f"{int(found[1] or '0', 16):04x}:{int(found[2], 16):02x}:{int(found[3], 16):02x}"
    return ""


def bus_id(text: str) -> str:
    """A PCI address from NCCL's busId, which is its digits without colons and point: `65000` -> `0000:65:00`."""
    if not HEX_NUMBER_PATTERN.fullmatch(text):
        return ""
    number = int(text, 16)
    return f"{number >> 20:04x}:{number >> 12 & 0xFF:02x}:{number >> 4 & 0xFF:02x}"


def normalise_host(text: str) -> str:
    """A host's name in lower case; empty for an address or a name that every host has."""
    name = text.strip().rstrip(".").lower()
    return "" if IP.fullmatch(name) or name.isdigit() or name.split(".")[0] in ("localhost", "kernel", "") else name


def same_host(a: str, b: str) -> bool:
    """Do two names mean one host? One of them may lack its domain."""
    return a == b or a.startswith(b + ".") or b.startswith(a + ".")


def kernel_comm(name: str) -> str:
    """The name of a process as the kernel stores it."""
    return name.strip().encode()[:MAX_COMM_BYTES].decode("utf-8", "ignore")


def is_distinctive(name: str) -> bool:
    """Have few processes of a host this name, so that it can link events?"""
    return len(name) > 2 and not COMMON_HOST_PATTERN.fullmatch(name)
