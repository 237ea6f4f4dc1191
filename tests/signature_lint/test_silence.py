"""A healthy message of a site silences what it overlaps; the linter tells what it leaves, and the readers keep to it."""

from pathlib import Path

import pytest

from forensics import analyze
from forensics.signature_lint.lint import lint

LINE = "memory probe: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
SITE = """\
cause: none.healthy
signatures:
  - id: our_probe
    weight: hint
    message: 'MESSAGE'
    source: the launcher of this site
    examples:
      match:
        - text: 'LINE'
      no_match:
        - {text: 'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB', why: 'a real one'}
"""


def site(folder: Path, message: str) -> Path:
    (folder / "site" / "none").mkdir(parents=True)
    (folder / "site" / "none" / "healthy.yaml").write_text(SITE.replace("MESSAGE", message).replace("LINE", LINE))
    return folder / "site"


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("message", "faults"), [("memory probe:", 3), ("memory probe: torch.cuda.OutOfMemoryError: CUDA out of memory{rest}", 0)]
)
def test_a_healthy_message_without_effect_is_a_fault(tmp_path: Path, message: str, faults: int) -> None:
    told = [fault.what for fault in lint(site(tmp_path, message)).faults]
    assert len(told) == faults
    assert all("is not silenced: lengthen the healthy message" in what for what in told)


@pytest.mark.seconds
def test_what_is_silenced_is_not_told_by_a_reader_of_the_same_message_either(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    steps = [f"2026-11-29 10:00:{n:02} step {n} loss {1 / n:.3f}\n" for n in range(1, 40)]
    log.write_text("".join([*steps[:9], f"{LINE}\n", *steps[9:], "2026-11-29 10:01:00 Training completed.\n"]))
    folder = site(tmp_path, "memory probe: torch.cuda.OutOfMemoryError: CUDA out of memory{rest}")
    report = analyze(log, signatures=[folder], workers=1)
    assert report.verdict == "no_crash"
    assert not any(f.id.startswith("gpu_memory") for f in report.causes)
    assert not any("out of memory" in notice.text for notice in report.notices)
