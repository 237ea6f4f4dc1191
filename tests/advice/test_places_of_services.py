"""The service of a host's log, or of docker compose, is the place of what it wrote; and what its own messages ask for."""

from pathlib import Path

import pytest

from forensics.database import Database
from forensics.model import Finding, Line
from forensics.pipeline import analyze_paths
from forensics.readers.words import continued_lines

NGINX = "Mar 31 23:51:0{n} web-1 nginx[753]: nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)\n"
CALM = "Mar 31 23:4{n}:01 web-1 systemd[1]: Started Session {n} of user jo.\n"


def test_the_service_is_told_beside_the_host(tmp_path: Path, knowledge: Database) -> None:
    log = tmp_path / "syslog"
    log.write_text("".join(CALM.format(n=n) for n in range(9)) + "".join(NGINX.format(n=n) for n in range(4)))
    report = analyze_paths([log], "web", knowledge)
    assert report.verdict == "crash" and report.causes[0].where == "host web-1, unit nginx"


SERVICES = """\
api-1     | 2026-12-01 04:41:30,830 INFO api - starting api 2.3.1
api-1     | 2026-12-01 04:41:30,832 WARNING api - db not reachable ([Errno 111] Connection refused), retry in 1 s
{lines}api-1     | 2026-12-01 04:41:31,832 WARNING api - db not reachable ([Errno 111] Connection refused), retry in 1 s
api-1     | 2026-12-01 04:41:33,835 ERROR api - giving up: cannot reach database db:5432
{service} exited with code 1
api-1 exited with code 1
"""
POSTGRES = (
    "2026-12-01 04:41:30.412 UTC [1] FATAL:  database files are incompatible with server",
    "2026-12-01 04:41:30.412 UTC [1] DETAIL:  The data directory was initialized by PostgreSQL version 15, which is not "
    "compatible with this version 16.4 (Debian 16.4-1.pgdg120+2).",
)
MYSQL = (
    "2026-12-01T04:41:30.000000Z 1 [ERROR] [MY-013171] [InnoDB] Cannot boot server version 80034 on data directory built by "
    "version 80035. Downgrade is not supported",
    "2026-12-01T04:41:30.400000Z 0 [ERROR] [MY-010119] [Server] Aborting",
)
ETCD = ("cluster cannot be downgraded (current version: 3.3.11 is lower than determined cluster version: 3.4).",)


def services(folder: Path, knowledge: Database, service: str, lines: tuple[str, ...]) -> Finding:
    log = folder / "compose.log"
    log.write_text(SERVICES.format(service=service, lines="".join(f"{service:<10}| {x}\n" for x in lines)))
    return analyze_paths([log], "compose", knowledge).causes[0]


@pytest.mark.parametrize(
    ("service", "lines", "made_by", "server"),
    [("db-1", POSTGRES, "15", "16.4"), ("mysql-1", MYSQL, "80035", "80034"), ("kv-2", ETCD, "3.4", "3.3.11")],
)
def test_data_of_another_release_name_service_and_both_releases(
    tmp_path: Path, knowledge: Database, service: str, lines: tuple[str, ...], made_by: str, server: str
) -> None:
    found = services(tmp_path, knowledge, service, lines)
    assert f"The server of {service} does not start: release {made_by} made its data, and release {server}" in found.summary
    assert f"service {service}" in found.where
    assert found.remediations[0].action.startswith(f"Start the release of the server that made the data, {made_by};")


REFUSED = (
    "Traceback (most recent call last):",
    '  File "/app/web/db.py", line 14, in connect',
    "    return driver.connect(URL)",
    "{}",
    "[2026-12-01 04:10:13 +0000] [1] [ERROR] Worker (pid:7) exited with code 3",
    "[2026-12-01 04:10:13 +0000] [1] [ERROR] Reason: Worker failed to boot.",
)


@pytest.mark.parametrize(
    "message",
    [
        'psycopg.OperationalError: connection failed: connection to server at "172.20.0.3", port 5432 failed: FATAL:  password '
        'authentication failed for user "app"',
        "pymysql.err.OperationalError: (1045, \"Access denied for user 'app'@'172.20.0.4' (using password: YES)\")",
    ],
)
def test_a_login_that_a_database_refuses_asks_for_its_password(tmp_path: Path, knowledge: Database, message: str) -> None:
    found = services(tmp_path, knowledge, "web-1", tuple(x.format(message) for x in REFUSED))
    first = found.remediations[0]
    assert "password" in first.action and "app" in first.action
    assert not any("traceback" in a.action or "mirror" in a.action for a in found.remediations)


def test_the_details_of_a_message_belong_to_it() -> None:
    message, detail = (Line(n, text) for n, text in enumerate(POSTGRES, 6))
    assert continued_lines(message, [detail]) == 1
    other = Line(7, "2026-12-01 04:41:30.412 UTC [1] LOG:  database system is shut down")
    assert continued_lines(message, [other]) == 0
