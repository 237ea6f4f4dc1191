"""A history in the browser: what it answers, what it refuses, and that ten thousand incidents are no burden."""

import re
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forensics.model import Advice
from forensics.report import render
from tests.commandline import in_text
from tests.history import made

pytest.importorskip("starlette", reason="needs the extra serve")
pytest.importorskip("sqlalchemy", reason="needs the extra serve")

from starlette.testclient import TestClient

from forensics.adapters.web import pages, server
from forensics.core.errors import UsageError
from forensics.history.opening import open_store, open_to_read
from forensics.history.store import Store

STEP = Advice(1, "admin", "Take the node out of service", "It fails again.", ("scontrol update",), None)
LINK = re.compile(r'<a href="(incident/\d+)">')


def known(bundle: Path | str = "") -> pages.Known:
    return pages.Known(lambda cause: "machine" if cause.startswith("gpu_") else "", lambda _: (STEP,), lambda _: str(bundle))


def stored(place: Path, number: int, keep_names: bool = False, **changes: object) -> Store:
    """A history that can only be read: one of three incidents ended well, the nodes are gpu-0 to gpu-6, the causes two."""
    store = open_store(str(place), keep_names=keep_names)
    store.add(
        (
            made.incident(
                n,
                cause="none.healthy" if n % 3 == 2 else "gpu_hardware.ecc" if n % 2 else "storage.full",
                verdict="no_crash" if n % 3 == 2 else "crash",
                node=f"gpu-{n % 7}",
                line=f"line {n} of them",
                **changes,
            )
            for n in range(number)
        ),
        at_once=5000,
    )
    store.close()
    return open_to_read(str(place))


def client(store: Store, bundle: Path | str = "", *names: str) -> TestClient:
    return TestClient(server.application(store, known(bundle), "History", names), base_url="http://127.0.0.1:1")


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    store = stored(tmp_path_factory.mktemp("web") / "h.db", 250)
    yield client(store)
    store.close()


@pytest.mark.seconds
def test_it_only_reads(web: TestClient, tmp_path: Path) -> None:
    for path in ("/", "/incident/1", "/trends"):
        assert [web.request(verb, path).status_code for verb in ("GET", "HEAD")] == [200, 200]
        assert {web.request(verb, path).status_code for verb in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS")} == {405}
    store = stored(tmp_path / "h.db", 1)
    with pytest.raises(Exception, match="readonly"):
        store.add([made.incident(7)])
    assert store.count() == 1


def test_only_names_of_this_machine_and_of_the_proxy_are_answered(tmp_path: Path) -> None:
    asked = client(stored(tmp_path / "h.db", 1), "", "runs.example.org")
    hosts = ("127.0.0.1:1", "localhost:8737", "runs.example.org", "evil.example", "127.0.0.1.evil.example", "")
    assert [asked.get("/", headers={"host": host}).status_code for host in hosts] == [200, 200, 200, 400, 400, 400]


def test_no_page_is_kept_framed_or_guessed_at(web: TestClient) -> None:
    headers = web.get("/").headers
    assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize(
    ("asked", "fits"),
    [
        ("", lambda n: True),
        ("failures=1", lambda n: n % 3 < 2),
        ("kind=machine", lambda n: n % 3 < 2 and n % 2),
        ("kind=other", lambda n: n % 3 < 2 and not n % 2),
        ("cause=storage.full&host=gpu-3", lambda n: n % 3 < 2 and not n % 2 and n % 7 == 3),
        ("q=line+17", lambda n: "17" in str(n)),
        ("q=100%25", lambda n: False),  # no pattern of SQL
        ("from=2026-10-03T08:02&to=2026-10-03T08:03", lambda n: 120 <= n <= 180),
        ("job=42", lambda n: n == 42),
        ("unknown=1", lambda n: True),
    ],
)
def test_the_pages_together_have_what_was_asked_for_once_the_latest_first(web: TestClient, asked: str, fits: Any) -> None:
    address, found = f"/?{asked}", []
    while address:
        page = web.get(address).text
        found += LINK.findall(page)
        older = re.search(r'rel="next" href="(.*?)"', page)
        address = f"/{older[1].replace('&amp;', '&')}" if older else ""
    assert found == [f"incident/{n + 1}" for n in range(249, -1, -1) if fits(n)]


def test_numbers_are_of_all_incidents_and_links_keep_the_other_filters(web: TestClient) -> None:
    page = web.get("/?host=gpu-3&cause=storage.full").text
    host = [n for n in range(250) if n % 7 == 3]
    assert f"{len(host)} cases, {sum(n % 3 < 2 for n in host)} ended badly" in page
    assert 'href="?cause=gpu_hardware.ecc&amp;host=gpu-3"' in page
    assert 'href="?host=gpu-3" data-set="cause" data-value="storage.full" aria-current="true"' in page


@pytest.mark.parametrize(
    ("path", "status"), [("/?from=tomorrow", 400), ("/?before=x", 400), ("/incident/999", 404), ("/incident/x", 404), ("/x", 404)]
)
def test_a_wrong_address_is_answered_with_one_line(web: TestClient, path: str, status: int) -> None:
    found = web.get(path)
    assert (found.status_code, len(found.text.splitlines())) == (status, 1)


def test_an_incident_is_a_report_with_what_the_history_keeps(web: TestClient) -> None:
    page = web.get("/incident/1").text
    for text in ("incident 1", "gpu-0", "line 0 of them", "history:1", STEP.action, "times since"):
        assert text in page
    assert STEP.action not in web.get("/incident/3").text  # it ended well


@pytest.mark.parametrize("keep_names", [False, True])
def test_the_report_of_a_captured_run_is_shown_with_names_only_if_the_history_keeps_them(
    tmp_path: Path, keep_names: bool
) -> None:
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "report.json").write_text(render(made.report("it broke in /home/alice/x.py"), "json"))
    page = client(stored(tmp_path / "h.db", 1, keep_names), tmp_path / "bundle").get("/incident/1").text
    assert ":120" in page and ("alice" in page) == keep_names
    (tmp_path / "bundle" / "report.json").write_text("{")
    assert "history:1" in client(open_to_read(str(tmp_path / "h.db")), tmp_path / "bundle").get("/incident/1").text


def test_nothing_that_is_stored_acts(tmp_path: Path) -> None:
    text = '"><script>x</script>'
    store = stored(tmp_path / "h.db", 1, title=text, job=text, gpu=text)
    for path in ("/", "/incident/1", f"/?q={text}", f"/?job={text}"):
        assert "<script>x" not in client(store).get(path).text


@pytest.mark.seconds
def test_the_first_page_of_ten_thousand_incidents_takes_less_than_a_second(tmp_path: Path) -> None:
    asked = client(stored(tmp_path / "h.db", 10_000))
    start = time.process_time()
    page = asked.get("/").text
    assert time.process_time() - start < 1
    assert "10,000 cases" in page and len(LINK.findall(page)) == pages.PAGE_ROWS


def test_it_listens_on_this_machine_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bound: list[Any] = []

    def run(_server: object, sockets: list[socket.socket]) -> None:
        bound.extend(s.getsockname()[0] for s in sockets)
        signal.raise_signal(signal.SIGINT)  # Ctrl-C, as uvicorn passes it on

    monkeypatch.setattr("uvicorn.Server.run", run)
    stored(tmp_path / "h.db", 1).close()
    done = in_text("serve", "--port", 0, "--history", tmp_path / "h.db")
    assert (done.returncode, done.stderr, bound) == (0, "", ["127.0.0.1"])
    assert re.match(r"http://127\.0\.0\.1:\d+/ ", done.stdout)


def test_a_port_that_is_taken_and_a_history_that_is_not_there_are_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(UsageError, match="cannot be listened on"):
        server.serve(server.application(open_store(":memory:"), known(), ""), other.getsockname()[1], print)
    done = in_text("serve", "--history", tmp_path / "none.db")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)


@pytest.mark.parametrize(
    ("module", "said"), [("sqlalchemy.exc", "needs SQLAlchemy"), ("starlette.applications", "is not installed")]
)
def test_a_package_that_is_missing_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, said: str) -> None:
    stored(tmp_path / "h.db", 1).close()
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "forensics.adapters.web.server")
    monkeypatch.delattr("forensics.adapters.web.server")
    done = in_text("serve", "--history", tmp_path / "h.db")
    assert (done.returncode, len(done.stderr.splitlines()), "pip install" in done.stderr) == (2, 1, True)
    assert said in done.stderr
