"""`forensics tell` and `forensics signatures export`, as a user types them."""

import json
from pathlib import Path

from tests.commandline import in_text


def test_nobody_is_told_without_the_section(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("cache: x\n")
    done = in_text("tell", FORENSICS_CONFIG=str(tmp_path / "c.yaml"))
    assert done.returncode == 2
    assert "nothing is sent" in done.stderr


def test_a_bundle_s_report_is_told_once_and_waits_while_a_sink_is_away(tmp_path: Path) -> None:
    bundle, counter, settings = tmp_path / "bundle", tmp_path / "deaths.prom", tmp_path / "c.yaml"
    bundle.mkdir()
    (bundle / "train.log").write_text(
        "Traceback (most recent call last):\n  File \"a.py\", line 1\nModuleNotFoundError: No module named 'x'\n"
    )
    (bundle / "report.json").write_text(in_text("analyze", bundle / "train.log", "-f", "json").stdout)
    settings.write_text(
        f"tell: {{prometheus: {{path: {counter}}}, webhook: {{url: 'http://127.0.0.1:9/'}}, spool: {tmp_path / 'spool'}}}\n"
    )
    for arguments in ((bundle,), ()):
        done = in_text("tell", *arguments, FORENSICS_CONFIG=str(settings))
        assert done.returncode == 1
        assert "webhook" in done.stderr
    assert 'cause="code.import"' in counter.read_text()
    assert counter.read_text().endswith(" 1\n")
    assert len(list((tmp_path / "spool" / "webhook").glob("*.json"))) == 1


def test_rules_of_one_family_are_written_and_an_unknown_format_is_one_line() -> None:
    done = in_text("signatures", "export", "-f", "npd", "--weight", "proof", "--family", "host_os.panic")
    assert done.returncode == 0
    assert any("HostOsPanic" in rule["reason"] for rule in json.loads(done.stdout)["rules"])
    assert in_text("signatures", "export", "-f", "grep").returncode == 2
