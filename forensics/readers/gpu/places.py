"""The devices that messages of drivers and frameworks name by PCI address or number.

amdgpu 0000:0a:00.0: amdgpu: GPU reset begin!           -> pci_devices "PCI device 0000:0a:00.0"
"""

from collections.abc import Iterable, Sequence

from forensics.data_files.named_parts import patterns_of
from forensics.model import Fields, Proof
from forensics.readers.surroundings.near import MAX_LISTED_DEVICES, MAX_SENTENCE_LINES, MAX_TOLD_PROOFS, Found

PATTERNS = patterns_of("gpu places")


def devices(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The PCI addresses of the devices that the evidence is about; those that the same driver names next to it."""
    own = _addresses(p.text for p in proofs if p.signature == proofs[0].signature)
    driver = PATTERNS.driver.search(proofs[0].text)
    if not own and driver and "pci" not in facts:
        near = lines[max(0, at - MAX_SENTENCE_LINES) : at + MAX_SENTENCE_LINES]
        own = _addresses(text for text in near if driver["driver"] in text)
    if not own or (len(own) == 1 and "pci" in facts):
        return {}
    said = own[:MAX_LISTED_DEVICES]
    return {"pci_devices": f"PCI device {said[0]}" if len(said) == 1 else "PCI devices " + ", ".join(said)}


def _addresses(texts: Iterable[str]) -> list[str]:
    every = dict.fromkeys(m["pci"] for text in texts if PATTERNS.driver.search(text) for m in PATTERNS.pci.finditer(text))
    return [a for a in every if f"{a}.0" not in every]  # NVIDIA's driver leaves the function out


def asserting_kernel(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The line of a CUDA kernel whose assertion failed."""
    found = next(filter(None, (PATTERNS.assertion.search(p.text) for p in proofs[:MAX_TOLD_PROOFS])), None)
    return {"raised_in": f"{found['file']}:{found['line']}"} if found else {}


def gpus(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The GPU's number, if all that the evidence names is one; the operation of TensorFlow that failed."""
    found: Found = {}
    numbers = {n for p in proofs[:MAX_TOLD_PROOFS] for m in PATTERNS.gpu.finditer(p.text) for n in m.groups() if n}
    if "gpu" not in facts and numbers:
        found["gpu"] = ", ".join(sorted(numbers, key=int)[:MAX_LISTED_DEVICES])
    texts = (*(p.text for p in proofs[:MAX_TOLD_PROOFS]), *lines[at : at + MAX_TOLD_PROOFS])
    operation = next(filter(None, (PATTERNS.operation.search(t) for t in texts)), None)
    return found | ({"tf_operation": operation["operation"]} if operation else {})
