"""One source's fault to a Warning, so that the rest is still analysed.

series.numbers(scan) raises ZeroDivisionError  ->  Warning("internal", "internal error (ZeroDivisionError, trend.py:41), please
report it; left out: its series", "train.log"), and the diagnosis goes on without them
"""

from collections.abc import Callable
from typing import TypeVar

from forensics.core.errors import ForensicsError, unexpected
from forensics.model import Warn, Warning

T = TypeVar("T")


def spared(call: Callable[[], T], instead: T, what: str, source: str | None, warn: Warn) -> T:
    """What `call` gives, or `instead` with a Warning that `what` of `source` is left out. A ForensicsError passes."""
    try:
        return call()
    except ForensicsError:
        raise
    except Exception as error:
        warn(Warning("internal", f"{unexpected(error)}; left out: {what}", source))
        return instead
