"""The releases of packages that a log names, and the remedy where two of them do not belong together."""

from pathlib import Path

import pytest

from forensics import analyze
from forensics.database.release_needs import fits, release_needs, release_remedies
from forensics.readers.settings.packages import NAMES, TRIGGER, packages_said, read
from tests.readers.regions import regions

IMPORTS = """\
Traceback (most recent call last):
  File "/home/me/fit.py", line 3, in <module>
    import torchvision
  File "/opt/conda/lib/python3.10/site-packages/torchvision/_meta_registrations.py", line 164, in <module>
    def meta_nms(dets, scores, iou_threshold):
RuntimeError: operator torchvision::nms does not exist
"""


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("transformers==4.44.2", {"transformers": "4.44.2"}),
        ("- `transformers` version: 4.40.1", {"transformers": "4.40.1"}),
        ("- huggingface_hub version: 0.23.4", {"huggingface-hub": "0.23.4"}),
        ("numpy                     2.1.0                    pypi_0    pypi", {"numpy": "2.1.0"}),
        ("Successfully installed numpy-1.26.4 torch-2.4.0+cu121 tqdm-4.1", {"numpy": "1.26.4", "torch": "2.4.0+cu121"}),
        ("Ultralytics YOLOv8.2.50 Python-3.10.12 torch-2.3.0+cu121 CUDA:0", {"python": "3.10.12", "torch": "2.3.0+cu121"}),
        ("torch==2.4.0 ; torchvision>=0.19, torchaudio<2", {"torch": "2.4.0"}),
    ],
)
def test_a_line_names_packages(line: str, told: dict[str, str]) -> None:
    assert [read(region) for region in regions(line, TRIGGER)] == [told]


def test_the_packages_that_are_read_are_those_of_the_table() -> None:
    assert set(NAMES) == {name for need in release_needs() for name in (need.package, need.needs)}


def test_every_row_has_bounds_that_can_be_compared_and_says_why() -> None:
    for need in release_needs():
        assert fits("0", need.releases) in (True, False) and fits("0", need.needed) in (True, False)
        assert need.why.endswith(".") and need.source.startswith("https://")


@pytest.mark.parametrize(
    ("release", "wanted", "is_one"),
    [
        ("2.4.1+cu121", ">=2.4,<2.5", True),
        ("2.5.0a0", ">=2.4,<2.5", False),
        ("2.4", ">=2.4.0", True),
        ("1.13.1", "<2", True),
        ("2.0.0rc1", "<2", False),
        ("0.21.3", "==0.21", True),
        ("2023.10.0", "<2023.10", False),
        ("3.20.3", "<=3.20", True),
    ],
)
def test_a_release_is_compared_by_its_numbers(release: str, wanted: str, is_one: bool) -> None:
    assert fits(release, wanted) is is_one


def first(folder: Path, lines: str, log: str = IMPORTS) -> str:
    (folder / "job.log").write_text(lines + log)
    return analyze(folder).causes[0].remediations[0].action


def test_two_releases_that_do_not_belong_together_are_told_first(tmp_path: Path) -> None:
    assert "Install torch>=2.2,<2.3 beside torchvision 0.17.1" in first(tmp_path, "torch==2.4.0\ntorchvision==0.17.1\n")


def test_two_that_do_are_not(tmp_path: Path) -> None:
    assert "beside" not in first(tmp_path, "torch==2.4.0\ntorchvision==0.19.1\n")


def test_the_last_release_counts_and_a_failure_of_another_kind_has_other_reasons(tmp_path: Path) -> None:
    both = "torch==2.4.0\ntorchvision==0.17.1\n"
    assert "beside" not in first(tmp_path, f"{both}Successfully installed torchvision-0.19.1\n")
    full = "CUDA out of memory. Tried to allocate 132.00 MiB. GPU 0 has a total capacity of 79.10 GiB of which 98.00 MiB is free."
    other = IMPORTS.replace("RuntimeError: operator torchvision::nms does not exist", f"torch.OutOfMemoryError: {full}")
    assert "beside" not in first(tmp_path, both, other)


def test_python_is_that_of_the_folder_in_which_the_packages_lie(tmp_path: Path) -> None:
    frame = '  File "/opt/lib/python3.12/site-packages/tensorflow/__init__.py", line 2, in <module>\n    import distutils as _d\n'
    log = f"Traceback (most recent call last):\n{frame}ModuleNotFoundError: No module named 'distutils'\n"
    assert "Run tensorflow 2.12.0 with Python <3.12" in first(tmp_path, "tensorflow==2.12.0\n", log)


def test_of_several_the_row_that_the_message_names_most_is_told() -> None:
    installed = {"numpy": "2.1.0", "torch": "2.1.0", "pandas": "2.0.3"}
    assert "beside pandas" in release_remedies(installed, {"pandas", "numpy"})[0].do
    assert release_remedies(installed, {"flask"}) == ()


def test_the_package_that_a_message_speaks_of() -> None:
    assert packages_said("ImportError: cannot import name 'box_iou' from 'torchvision.ops.boxes'") == {"torchvision"}
    assert packages_said("ImportError: /x/site-packages/flash_attn/a.so: undefined symbol: _ZN3c104") == {"flash-attn"}
    assert packages_said("KeyError: 'torchvision'") == set()
