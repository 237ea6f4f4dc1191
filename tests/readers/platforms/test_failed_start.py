"""What a server says before its start is given up. What nginx, MariaDB, BIND, PHP-FPM and HAProxy say was captured from them."""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
SAID_BY_NGINX = (
    "nginx: [emerg] bind() to 0.0.0.0:8083 failed (98: Address already in use)",
    'nginx: [emerg] unknown directive "bogus" in /etc/nginx/nginx.conf:2',
    'nginx: [emerg] cannot load certificate "/etc/nginx/web.pem": BIO_new_file() failed (SSL: error:80000002:system library'
    "::No such file or directory:calling fopen(/etc/nginx/web.pem, r) error:10000080:BIO routines::no such file)",
)


def _journal(*said: str, program: str, unit: str) -> str:
    """The journal of a host on which `unit` is started, whose program says this, and exits."""
    lines = [f"n1 systemd[1]: Starting {unit}.service...", "n1 ntpd[750]: Listen normally on 9 eth1 [fe80::1%3]:123"]
    lines += [f"n1 {program}[753]: {text}" for text in said]
    lines += ["n1 ntpd[750]: Soliciting pool server 192.0.2.7"]
    lines += [f"n1 systemd[1]: {unit}.service: Control process exited, code=exited, status=1/FAILURE"]
    lines += [
        f"n1 systemd[1]: {unit}.service: Failed with result 'exit-code'.",
        f"n1 systemd[1]: Failed to start {unit}.service.",
    ]
    return "".join(f"Mar 31 23:51:{i:02d} {line}\n" for i, line in enumerate(lines))


@pytest.mark.seconds
@pytest.mark.parametrize("said", SAID_BY_NGINX)
def test_the_error_of_the_units_program_is_told(analyze: Analyze, said: str) -> None:
    report = analyze(journal_log=_journal("nginx: using the epoll method", said, program="nginx", unit="nginx"))
    told = [c for c in report.causes if any(said in p.text for p in c.evidence)]
    assert told and told[0].id in ("code.config", "data.missing")


@pytest.mark.seconds
def test_a_program_of_another_unit_says_nothing_of_it(analyze: Analyze) -> None:
    said = "critical/config: Error: Object 'web' of type 'Host' re-defined: in /etc/icinga2/conf.d/hosts.conf: 1:0-1:21"
    for unit, is_own in (("icinga2", True), ("lightdm", False)):
        report = analyze(journal_log=_journal("information/cli: Loading", said, program="icinga2", unit=unit))
        assert (report.causes[0].id == "code.config" and said in report.causes[0].evidence[0].text) is is_own


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("log", "cause", "telling"),
    [
        (
            "2026-11-30 13:57:07 0 [Note] InnoDB: Buffer pool(s) load completed at 261130 13:57:07\n"
            "2026-11-30 13:57:07 0 [ERROR] mariadbd: unknown variable 'bogus=1'\n2026-11-30 13:57:07 0 [ERROR] Aborting\n",
            "code.config",
            "unknown variable",
        ),
        (
            "2026-11-30 13:57:07 0 [Warning] Can't create test file '/srv/x/vm.lower-test' (Errcode: 2 \"No such file or directory\")\n"
            "mariadbd: Can't change dir to '/srv/x/' (Errcode: 2 \"No such file or directory\")\n"
            "2026-11-30 13:57:07 0 [ERROR] Aborting\n",
            "data.missing",
            "No such file",
        ),
        (
            "30-Nov-2026 13:57:31.778 /srv/named.conf:1: unknown option 'bogus'\n"
            "30-Nov-2026 13:57:31.778 loading configuration: failure\n30-Nov-2026 13:57:31.778 exiting (due to fatal error)\n",
            "code.config",
            "unknown option",
        ),
        (
            "[30-Nov-2026 13:57:52] ERROR: [/srv/fpm.conf:3] unknown entry 'bogus'\n"
            "[30-Nov-2026 13:57:52] ERROR: failed to load configuration file '/srv/fpm.conf'\n"
            "[30-Nov-2026 13:57:52] ERROR: FPM initialization failed\n",
            "code.config",
            "unknown entry",
        ),
    ],
)
def test_the_error_is_told_and_not_that_the_server_gives_up(analyze: Analyze, log: str, cause: str, telling: str) -> None:
    first = analyze(run_log=log).causes[0]
    assert first.id == cause and telling in first.evidence[0].text


SPRING = """\
2031-05-01 10:00:05.300 ERROR 1 --- [main] o.s.b.d.LoggingFailureAnalysisReporter   :

***************************
APPLICATION FAILED TO START
***************************

Description:

{said}

Action:

Consider another configuration.
"""


@pytest.mark.seconds
@pytest.mark.parametrize(
    "said",
    [
        "Web server failed to start. Port 8080 was already in use.",
        "Parameter 0 of constructor in com.example.Svc required a bean of type 'com.example.Repo' that could not be found.",
    ],
)
def test_what_spring_describes_is_told(analyze: Analyze, said: str) -> None:
    first = analyze(run_log=SPRING.format(said=said)).causes[0]
    assert first.id == "code.config" and first.evidence[0].text == said
