"""A signature reads what a line says, and neither the name of the host that says it nor what a command looks for."""

import pytest

from forensics.database import confirm
from forensics.database.confirm import Confirmer, without_host
from forensics.database.entries import Signature

HOT = Signature("host_hardware.thermal", "hot", "proof", ("too hot",), r"too hot", unless=(r"(?i)\bgpu|\btest\b",))


@pytest.mark.parametrize("host", ["gpu07", "gpu-0.cluster.local", "build.test", "cn01"])
@pytest.mark.parametrize("time", ["Nov 20 11:22:33", "nov.  3 11:22:33", "2026-11-20T11:22:33.5+0000", "<4>Nov 20 11:22:33"])
def test_a_host_name_vetoes_nothing(host: str, time: str) -> None:
    assert Confirmer(HOT).search(f"{time} {host} kernel: the board is too hot") is not None
    assert Confirmer(HOT).search(f"{time} {host} kernel: GPU 0 is too hot") is None


def test_the_label_of_a_launcher_vetoes_nothing() -> None:
    assert Confirmer(HOT).search("[pod/gpu-0/test] the board is too hot") is not None
    assert Confirmer(HOT).search("[pod/trainer-0/main] GPU 0 is too hot") is None


@pytest.mark.parametrize("line", [
    "the GPU is too hot",
    "Nov 20 11:22:33 gpu too hot",
    "2026-11-20T11:22:33 WARNING trainer: too hot",
    "[   12.5] gpu 0: too hot",
])  # fmt: skip
def test_other_heads_stay_as_they_are(line: str) -> None:
    assert without_host(line) == line


@pytest.mark.parametrize("command", [
    "$ dmesg | grep -i \"too hot\"",
    "[root@cn12 ~]# dmesg -T | egrep -i --color 'reset|too hot|segfault'",
])  # fmt: skip
def test_what_is_looked_for_is_not_found(command: str) -> None:
    assert Confirmer(HOT).search(command) is None
    assert Confirmer(HOT).search(f"{command}: the board is too hot") is not None
    assert Confirmer(HOT).search('$ grep -c "x" log; the board is too hot') is not None


def test_a_veto_holds_on_the_first_line_and_on_the_hundredth() -> None:
    """In a flood the texts of vetoes are looked for first; a veto without such a text is searched for as before."""
    confirmer = Confirmer(
        Signature("host_hardware.thermal", "hot", "proof", ("too hot",), r"too hot", unless=(r"for nobody", r"\d\s\d"))
    )
    for line in ["too hot", "too hot for Nobody", "too hot FOR nobody", "too hot for nobody", "too hot 3 4"] * 40:
        assert (confirmer.search(line) is None) is ("for nobody" in line or "3 4" in line)


def test_a_search_is_not_charged_with_the_time_of_other_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a thread waits for a processor again and again, for longer than its searches take."""
    wall, own = 100.0, 5.0
    monkeypatch.setattr(confirm.time, "perf_counter", lambda: wall)
    monkeypatch.setattr(confirm.time, "thread_time", lambda: own)
    clock = confirm.Clock()
    for _ in range(50):
        wall, own = wall + 1.0, own + 0.9  # the thread does other things between two searches
        begun = clock.begin()
        wall, own = wall + 0.04, own + 0.0001  # the search is interrupted
        assert clock.spent(begun) < 0.002
    begun = clock.begin()
    wall, own = wall + 3.0, own + 3.0
    assert clock.spent(begun) == pytest.approx(3.0)
