"""The error with which a log ends. The texts were captured from programs in Go, from dnsmasq and from lighttpd."""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
STAMP = "2031/05/06 07:08:09 "
MISSING, TAKEN = (
    "loading: open /srv/conf.yaml: no such file or directory",
    "listen tcp 192.0.2.5:80: bind: cannot assign requested address",
)
OPTION = "dnsmasq: bad option at line 1 of /etc/dnsmasq.conf"
SYNTAX = "(configfile.c.2164) source: web.conf line: 2 pos: 0 parser failed somehow near here: (EOL)"


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("said", "cause"), [(MISSING, "data.missing"), (TAKEN, "code.config"), (OPTION, "code.config"), (SYNTAX, "code.config")]
)
def test_its_words_name_the_cause(analyze: Analyze, said: str, cause: str) -> None:
    first = analyze(run_log=f"{STAMP}start\n{STAMP}{said}\nexit status 1\n").causes[0]
    assert first.id == cause and said in first.evidence[0].text


@pytest.mark.seconds
def test_what_stands_in_the_middle_is_no_end(analyze: Analyze) -> None:
    went_on = "".join(f"{STAMP}shard {i} of 20 written\n" for i in range(1, 21))
    assert analyze(run_log=f"{STAMP}start\n{STAMP}{MISSING}\n{went_on}{STAMP}all shards written\n").verdict == "no_crash"
