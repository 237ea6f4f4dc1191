"""MLflow: tags, note and an artefact of the run that died; a run of its own where the job had none."""

from collections.abc import Mapping
from typing import Any

from forensics.sinks.message import Message

NOTE_TAG = "mlflow.note.content"  # what MLflow's page shows as the description of a run
EXPERIMENT = "forensics"


def send(message: Message, setting: Mapping[str, Any]) -> None:
    """Write to the tracking store `uri`."""
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=str(setting["uri"]))
    run = message.job.get("MLFLOW_RUN_ID") or ""
    if not run:
        name = str(setting.get("experiment", EXPERIMENT))
        known = client.get_experiment_by_name(name)
        run = client.create_run(known.experiment_id if known else client.create_experiment(name)).info.run_id
    client.log_text(run, message.text, "forensics/reason.txt")
    client.set_tag(run, "forensics.cause", message.cause)
    client.set_tag(run, "forensics.probability", f"{message.probability:.2f}")
    client.set_tag(run, NOTE_TAG, message.text)
    client.set_terminated(run, status="FAILED")
