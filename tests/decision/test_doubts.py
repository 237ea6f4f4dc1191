"""What makes an answer less sure."""

import gzip
from pathlib import Path

from forensics import pipeline
from forensics.core import limits
from forensics.database import Database


def test_a_log_whose_end_was_not_read_is_not_told_to_be_healthy(tmp_path: Path, knowledge: Database) -> None:
    log = tmp_path / "train.log.gz"
    log.write_bytes(
        gzip.compress(b"".join(b"Epoch %d/3\n" % i for i in (1, 2, 3)) + b"step 1 loss 0.5\n" * 1_000_000 + b"done\n")
    )
    assert pipeline.analyze_paths([log], "case", knowledge).verdict == "no_crash"
    before = limits.current
    limits.use(limits.with_values(before, {"free": 1 << 20, "ratio": 2}))
    try:
        report = pipeline.analyze_paths([log], "case", knowledge)
    finally:
        limits.use(before)
    assert report.verdict == "undetermined"
    assert report.causes[0].probability <= 0.5
    assert "was not read" in report.missing[0].why
