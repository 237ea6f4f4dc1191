"""The modules of a package by its files."""

import pkgutil
from types import ModuleType

import pytest

from forensics import readers
from forensics.core.modules import modules
from forensics.sources import formats


@pytest.mark.parametrize("package", [readers, formats], ids=lambda p: p.__name__.rpartition(".")[2])
def test_the_standard_library_finds_the_same_modules(package: ModuleType) -> None:
    prefix = f"{package.__name__}."
    walked = (m.name.removeprefix(prefix) for m in pkgutil.walk_packages(package.__path__, prefix) if not m.ispkg)
    assert [*modules(package.__path__)] == sorted(walked)
