"""The NVIDIA driver of each CUDA release and the oldest driver that runs it, from tables/cuda_driver.csv.

12.2   ->   came with 535.54.03; runs on 525.60.13 or newer (minor version compatibility of CUDA 12)
"""

import functools

from msgspec import Struct

from forensics.database.tables import read_rows


class CudaRelease(Struct, frozen=True):
    """A release of CUDA. `driver`: that of its Linux package; `minimum`: the oldest one that runs programs built with it."""

    cuda: str
    driver: str
    minimum: str
    source: str

    @property
    def sentence(self) -> str:
        """One sentence without a full stop."""
        if self.driver == self.minimum:
            return f"CUDA {self.cuda} needs driver {self.driver} or newer"
        return f"CUDA {self.cuda} came with driver {self.driver} and runs on {self.minimum} or newer"


@functools.cache
def releases() -> dict[str, CudaRelease]:
    """All releases by number."""
    return {r["cuda"]: CudaRelease(r["cuda"], r["driver"], r["minimum"], r["source"]) for r in read_rows("cuda_driver")}


def find_release(text: str) -> CudaRelease | None:
    """The release `12.4`, `12.4.127`, or `12040` as in the CUDA API; None if the table lacks it."""
    digits = text.strip()
    if digits.isdigit() and len(digits) in (4, 5):
        digits = f"{int(digits) // 1000}.{int(digits) % 1000 // 10}"
    return releases().get(".".join(digits.split(".")[:2]))


def is_older(driver: str, than: str) -> bool:
    """Is a driver's version, `525.85.12` or `525`, below another one? A bare branch counts as its newest."""
    given, wanted = (tuple(int(p) for p in v.split(".") if p.isdigit()) for v in (driver, than))
    return given < wanted[: len(given)]
