"""Modules that are loaded when something in them is asked for: most of what a short run imports, it never uses.

    import_later("ast"); import ast     -> nothing is read yet
    ast.parse(...)                      -> the module is loaded

Only `import ast` waits. `from ast import parse` asks for something.
"""

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """Stands for a module that is not loaded yet, and has all that is in it once it is."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        self.__dict__.update(vars(importlib.import_module(self.__name__)))
        if name not in self.__dict__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)
        return self.__dict__[name]


def import_later(name: str, *functions: str) -> None:
    """Whoever imports the module `name` from now on loads it at its first use. `functions`: of it that are taken by name, and
    load it at their first call."""
    if name not in sys.modules:
        module = sys.modules[name] = _Later(name)
        if functions:
            module.__path__ = []  # is asked for before the functions are
        for function in functions:
            setattr(module, function, _called_later(name, function))


def _called_later(module: str, name: str) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        later = sys.modules[module]
        later.__dict__.pop(name, None) if isinstance(later, _Later) else None
        return getattr(later, name)(*args, **named)

    return call
