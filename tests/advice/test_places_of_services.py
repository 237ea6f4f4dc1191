"""The service of a host's log is the place of what it wrote, where nothing narrower is told."""

from pathlib import Path

from forensics.database import Database
from forensics.pipeline import analyze_paths

NGINX = "Mar 31 23:51:0{n} web-1 nginx[753]: nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)\n"
CALM = "Mar 31 23:4{n}:01 web-1 systemd[1]: Started Session {n} of user jo.\n"


def test_the_service_is_told_beside_the_host(tmp_path: Path, knowledge: Database) -> None:
    log = tmp_path / "syslog"
    log.write_text("".join(CALM.format(n=n) for n in range(9)) + "".join(NGINX.format(n=n) for n in range(4)))
    report = analyze_paths([log], "web", knowledge)
    assert report.verdict == "crash" and report.causes[0].where == "host web-1, unit nginx"
