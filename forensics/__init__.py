"""Find out why a training run or a notebook died, from the available logs, and prove it line by line.

>>> import forensics
>>> report = forensics.analyze("sample_logs/jupyter_oom")
>>> report.verdict, report.causes[0].id
('crash', 'host_memory.oom_cgroup')

All public names are in `__all__`. They are imported at their first use, so that `import forensics` is fast.
"""

import importlib
from typing import TYPE_CHECKING

from forensics.version import DISTRIBUTION, VERSION

if TYPE_CHECKING:
    from forensics.api import Knowledge, Report, analyze
    from forensics.api.captured import Ran, run
    from forensics.api.ipython import load_ipython_extension as load_ipython_extension
    from forensics.capture.guard import guard, watch
    from forensics.core.errors import ForensicsError

__version__ = VERSION
__all__ = ["ForensicsError", "Knowledge", "Ran", "Report", "__version__", "analyze", "guard", "run", "watch"]

_HOMES = {  # public name -> the module that it comes from
    "ForensicsError": "forensics.core.errors",
    "Knowledge": "forensics.api",
    "Ran": "forensics.api.captured",
    "Report": "forensics.api",
    "analyze": "forensics.api",
    "guard": "forensics.capture.guard",
    "load_ipython_extension": "forensics.api.ipython",
    "run": "forensics.api.captured",
    "watch": "forensics.capture.guard",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(_unknown(name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _unknown(name: str) -> str:
    """What to say of a name that is not here; where another project brings a package `forensics`, too, which one this is."""
    said = f"module 'forensics' has no attribute {name!r}"
    if name.startswith("_"):  # asked for by tools that look at modules; others() reads what all packages hold
        return said
    from importlib.util import find_spec

    from forensics.version import others

    if find_spec(f"forensics.{name}"):  # `from forensics import pipeline` asks for the attribute before it imports the module
        return said

    found = ", ".join(others())
    if not found:
        return said
    advice = f"each needs an environment of its own, see docs/install.md of {DISTRIBUTION}"
    return f"{said}; this is {DISTRIBUTION} {VERSION}, and {found} brings an import of that name, too: {advice}"
