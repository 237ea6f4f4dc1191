from pathlib import Path

from forensics import analyze
from forensics.sinks.destinations import message_of

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_message_has_the_cause_and_no_secret(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(
        f"Traceback (most recent call last):\n  File \"/a.py\", line 1, in <module>\nModuleNotFoundError: No module named '{SECRET}'\n"
    )
    made = message_of(analyze(log), names=False)
    assert made.cause == "code.import"
    assert made.remedy
    assert made.node == ""
    assert SECRET not in made.text
