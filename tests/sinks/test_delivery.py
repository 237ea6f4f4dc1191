"""What was promised to a sink is delivered once and in order, when the network is back; nothing is sent elsewhere."""

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from forensics.sinks import destinations
from forensics.sinks.destinations import Message
from forensics.sinks.spool import MAX_WAITING, Spool, deliver


def message(number: int = 1, **given: object) -> Message:
    said = {
        "verdict": "crash",
        "cause": "host_memory.oom_cgroup",
        "title": "Memory limit",
        "summary": "It was killed.",
        "node": "n1",
    }
    return Message(**{"id": f"{number:032x}", "time": 1764381600.0, "case": f"run{number}", "probability": 0.97, **said, **given})


class Receiver(http.server.BaseHTTPRequestHandler):
    got: list[tuple[str, dict[str, object]]]
    status = 200

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).got.append((self.path, body))
        self.send_response(self.status)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    do_GET = do_POST  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[tuple[str, type[Receiver]]]:
    class Fresh(Receiver):
        got: list[tuple[str, dict[str, object]]] = []  # noqa: RUF012

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Fresh) as running:
        threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}", Fresh
        running.shutdown()


def test_messages_wait_while_the_network_is_down_and_come_once_in_order(
    tmp_path: Path, server: tuple[str, type[Receiver]]
) -> None:
    spool, (url, receiver) = Spool(tmp_path), server
    for number in (1, 2, 3):
        assert spool.put("webhook", message(number))
    assert "refused" in deliver(spool, {"webhook": {"url": "http://127.0.0.1:9/"}})["webhook"].lower()
    assert [m.case for _, m in spool.waiting("webhook")] == ["run1", "run2", "run3"]
    for _ in range(2):
        assert deliver(spool, {"webhook": {"url": url}}) == {}
    assert [body["case"] for _, body in receiver.got] == ["run1", "run2", "run3"]


def test_a_failing_sink_stops_no_other_one(tmp_path: Path) -> None:
    spool, path = Spool(tmp_path / "spool"), tmp_path / "deaths.prom"
    settings = {"webhook": {"url": "http://127.0.0.1:9/"}, "prometheus": {"path": str(path)}}
    for name in settings:
        spool.put(name, message())
    assert set(deliver(spool, settings)) == {"webhook"}
    assert path.exists()


@pytest.mark.parametrize("status", [307, 302, 500])
def test_an_answer_that_is_no_success_keeps_the_message_and_no_redirect_is_followed(
    status: int, tmp_path: Path, server: tuple[str, type[Receiver]]
) -> None:
    spool, (url, receiver) = Spool(tmp_path), server
    receiver.status = status
    spool.put("webhook", message())
    assert "webhook" in deliver(spool, {"webhook": {"url": url + "/hook"}})
    assert [path for path, _ in receiver.got] == ["/hook"]
    assert len(list(spool.waiting("webhook"))) == 1


def test_forms_of_slack_and_teams() -> None:
    assert "&lt;!channel&gt;" in json.loads(destinations.body(message(summary="<!channel>"), "slack"))["text"]
    card = json.loads(destinations.body(message(), "teams"))["attachments"][0]
    assert card["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert "host_memory.oom_cgroup" in card["content"]["body"][0]["text"]


def test_one_process_delivers_at_a_time(tmp_path: Path, server: tuple[str, type[Receiver]]) -> None:
    spool, (url, receiver) = Spool(tmp_path), server
    spool.put("webhook", message())
    with spool.alone("webhook") as mine:
        assert mine
        deliver(spool, {"webhook": {"url": url}})
    assert not receiver.got


def test_a_damaged_message_is_set_aside_and_a_full_spool_says_so(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    (tmp_path / "webhook").mkdir()
    (tmp_path / "webhook" / "0.json").write_text("{")
    assert list(spool.waiting("webhook")) == []
    for number in range(MAX_WAITING):
        (tmp_path / "webhook" / f"{number}.json").touch()
    assert not spool.put("webhook", message())


def test_kubernetes_gets_an_event_on_the_pod(tmp_path: Path, server: tuple[str, type[Receiver]]) -> None:
    url, receiver = server
    (tmp_path / "token").write_text("t")
    told = message(job={"POD_NAME": "train-0", "POD_NAMESPACE": "ml"}, summary="x" * 3000)
    destinations.send_kubernetes(told, {"server": url, "account": str(tmp_path)})
    (path, event), *_ = receiver.got
    assert path == "/api/v1/namespaces/ml/events"
    assert event["involvedObject"] == {"apiVersion": "v1", "kind": "Pod", "name": "train-0", "namespace": "ml"}
    assert len(str(event["message"])) == destinations.EVENT_MESSAGE_CHARS
