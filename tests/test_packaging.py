"""What is installed: the wheel holds the package, its data and nothing else; what no report needs is an extra that says its name."""

import sys
import tomllib
import zipfile
from pathlib import Path
from unittest import mock

import pytest

from forensics.core.errors import EXTRAS
from scripts.docs import ROOT
from tests.commandline import in_text

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DISTRIBUTIONS = {"sklearn": "scikit-learn"}  # where the import has another name
PACKAGE_FILES = (".py", ".css", ".j2", ".js", ".json", ".sh", ".typed", ".weights", ".yaml")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    builder = pytest.importorskip("hatchling.builders.wheel")
    made = next(builder.WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("dist")), versions=["standard"]))
    return zipfile.ZipFile(made)


@pytest.mark.seconds
def test_the_wheel_holds_the_package_and_its_data_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    held = {name for name in wheel.namelist() if not name.split("/")[0].endswith((".dist-info", ".data"))}
    code = {p.relative_to(ROOT).as_posix() for p in (ROOT / "forensics").rglob("*") if p.suffix in PACKAGE_FILES}
    knowledge = {f"forensics/_data/{p.relative_to(ROOT).as_posix()}" for p in (ROOT / "signatures").rglob("*") if p.is_file()}
    assert held == code | knowledge | {"training_forensics.py"}
    beside = {name.split("/", 1)[1] for name in wheel.namelist() if name.split("/")[0].endswith(".data")}
    assert beside == {"data/etc/jupyter/jupyter_server_config.d/forensics.json"}


@pytest.mark.seconds
def test_the_wheel_names_its_license_and_commands(wheel: zipfile.ZipFile) -> None:
    by_end = {Path(name).name: wheel.read(name).decode() for name in wheel.namelist() if ".dist-info/" in name}
    assert "License-Expression: Apache-2.0" in by_end["METADATA"]
    assert by_end["LICENSE"]
    assert "forensics = training_forensics:main" in by_end["entry_points.txt"]


@pytest.mark.parametrize(("package", "extra"), EXTRAS.items())
def test_an_extra_has_the_package_that_is_asked_for(package: str, extra: str) -> None:
    name = DISTRIBUTIONS.get(package, package)
    assert any(line.startswith(f"{name}>=") for line in PROJECT["optional-dependencies"][extra])
    assert not any(line.startswith(name) for line in PROJECT["dependencies"])


def test_a_package_that_is_not_there_is_named_with_its_extra(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("".join(f"step {i} loss {2 - i / 10}\n" for i in range(10)))
    with mock.patch.dict(sys.modules, {"matplotlib": None}):
        done = in_text("series", log, "--plot", tmp_path / "curves.png")
    assert done.returncode == 2
    assert done.stderr.endswith("forensics: the package matplotlib is not installed; pip install 'training-forensics[plot]'\n")
