"""SHA-256 without the library OpenSSL, whose loading takes a fortieth of a short run; the digest is the same.

The standard library's `random` takes its hash from such a module, too.
"""

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import hashlib


def _found() -> Any:
    for name in ("_sha2", "_sha256"):  # of Python 3.12 and later; of earlier ones
        try:
            return importlib.import_module(name).sha256
        except (ImportError, AttributeError):
            continue
    return importlib.import_module("hashlib").sha256


sha256: "Callable[..., hashlib._Hash]" = _found()
