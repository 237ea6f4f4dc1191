"""A fault of this program becomes a Warning, so that the rest is still analysed.

series.numbers(scan) raises ZeroDivisionError  ->  Warning("internal", "internal error (ZeroDivisionError, trend.py:41), please
report it; left out: its series", "train.log"), and the diagnosis goes on without them
"""

from collections.abc import Callable
from typing import TypeVar

from forensics.core.errors import ForensicsError, unexpected
from forensics.model import Warn, Warning

T = TypeVar("T")


def call_or_warn(call: Callable[[], T], default: T, what: str, source: str | None, warn: Warn) -> T:
    """The result of `call`. Where it raises: `default`, and a Warning that `what` is left out. A ForensicsError passes."""
    try:
        return call()
    except ForensicsError:
        raise
    except Exception as error:
        warn(Warning("internal", f"{unexpected(error)}; left out: {what}", source))
        return default
