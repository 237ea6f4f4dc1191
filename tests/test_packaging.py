"""What is installed: the wheel holds the package, its data and nothing else."""

import tomllib
import zipfile
from pathlib import Path

import pytest

from scripts.docs import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PACKAGE_FILES = (".py", ".css", ".csv", ".j2", ".js", ".json", ".sh", ".tsv", ".typed", ".weights", ".yaml")


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
    assert beside == {"data/etc/jupyter/jupyter_server_config.d/forensics.adapters.jupyter.json"}


@pytest.mark.seconds
def test_the_wheel_names_its_license_and_commands(wheel: zipfile.ZipFile) -> None:
    by_end = {Path(name).name: wheel.read(name).decode() for name in wheel.namelist() if ".dist-info/" in name}
    assert "License-Expression: Apache-2.0" in by_end["METADATA"]
    assert by_end["LICENSE"]
    assert "forensics = training_forensics:main" in by_end["entry_points.txt"]
