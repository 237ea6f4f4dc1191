"""The sinks of other projects, with their real packages where they are installed."""

from pathlib import Path
from typing import Any

import pytest

from tests.sinks.test_delivery import message

MISSING = "the package is not installed: it would cost minutes, and each such test is run by hand"


@pytest.mark.seconds
def test_mlflow_keeps_tags_note_and_artefact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tracking = pytest.importorskip("mlflow.tracking", reason=MISSING)
    from forensics.sinks import destinations

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    uri = (tmp_path / "store").as_uri()
    destinations.send_mlflow(message(), {"uri": uri})
    client = tracking.MlflowClient(tracking_uri=uri)
    run = client.search_runs([client.get_experiment_by_name("forensics").experiment_id])[0]
    assert run.data.tags["forensics.cause"] == "host_memory.oom_cgroup"
    assert "It was killed." in run.data.tags["mlflow.note.content"]
    assert run.info.status == "FAILED"
    assert [a.path for a in client.list_artifacts(run.info.run_id, "forensics")] == ["forensics/reason.txt"]


@pytest.mark.seconds
def test_tensorboard_shows_the_text(tmp_path: Path) -> None:
    loader = pytest.importorskip("tensorboard.backend.event_processing.event_file_loader", reason=MISSING)
    from forensics.sinks import destinations

    destinations.send_tensorboard(message(), {"folder": str(tmp_path)})
    (path,) = tmp_path.iterdir()
    values = [v for event in loader.EventFileLoader(str(path)).Load() for v in event.summary.value]
    assert values[0].tag == "forensics/reason"
    assert b"host_memory.oom_cgroup" in values[0].tensor.string_val[0]


@pytest.mark.seconds
def test_opentelemetry_gets_one_record() -> None:
    export = pytest.importorskip("opentelemetry.sdk._logs.export", reason=MISSING)
    from forensics.sinks import destinations

    kept = export.InMemoryLogRecordExporter()
    destinations.send_opentelemetry(message(), {}, kept)
    (record,) = kept.get_finished_logs()
    assert record.log_record.attributes["forensics.cause"] == "host_memory.oom_cgroup"
    assert record.resource.attributes["host.name"] == "n1"


@pytest.mark.seconds
def test_wandb_keeps_summary_tag_and_alert_of_an_offline_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package: Any = pytest.importorskip("wandb", reason=MISSING)
    if not hasattr(package, "init"):
        pytest.skip(MISSING)
    from forensics.sinks import destinations

    monkeypatch.setenv("WANDB_SILENT", "true")
    destinations.send_wandb(message(), {"mode": "offline", "folder": str(tmp_path), "project": "p"})
    (run,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    raw = run.read_bytes()
    blocks = [raw[at + 7 : at + 32768] for at in range(0, len(raw), 32768)]  # LevelDB's log: blocks, each with a head
    for text in (b"forensics/cause", b"died:host_memory.oom_cgroup", b"Died: host_memory.oom_cgroup"):
        assert text in b"".join(blocks)
