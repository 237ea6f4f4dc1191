"""Each framework's adapter with the framework itself, on the CPU; `pytest -m slow`, skipped where it is not installed."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # each imports a framework, some start a cluster
LIGHTNING = """
import torch, lightning as L
from forensics.adapters.frameworks.lightning import ForensicsCallback
class Model(L.LightningModule):
    def __init__(self):
        super().__init__(); self.layer = torch.nn.Linear(1, 1)
    def training_step(self, batch, i):
        if END and i == 2: exec(END)
        return self.layer(batch).sum()
    def configure_optimizers(self): return torch.optim.SGD(self.parameters(), 0.1)
trainer = L.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                    callbacks=[ForensicsCallback(name="test")])
trainer.fit(Model(), torch.utils.data.DataLoader(torch.ones(8, 1)))
"""
TRANSFORMERS = """
import torch
from transformers import Trainer, TrainingArguments
from forensics.adapters.frameworks.transformers import ForensicsCallback
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__(); self.layer = torch.nn.Linear(1, 1); self.calls = 0
    def forward(self, x=None, labels=None):
        self.calls += 1
        if END and self.calls == 2: exec(END)
        return {"loss": self.layer(x).sum()}
data = [{"x": torch.ones(1), "labels": torch.ones(1)} for _ in range(8)]
arguments = TrainingArguments("out", use_cpu=True, per_device_train_batch_size=2, num_train_epochs=1, report_to=[], save_strategy="no")
Trainer(Model(), arguments, train_dataset=data, callbacks=[ForensicsCallback(name="test")]).train()
"""
RAY = """
import os, ray
from forensics.adapters.frameworks.ray import runtime_env
ray.init(num_cpus=4, include_dashboard=False, runtime_env=runtime_env())
@ray.remote
class Counter:
    def one(self): return 1
counter, spare = Counter.remote(), Counter.remote()
ray.get([counter.one.remote(), spare.one.remote()])
ray.kill(spare)
@ray.remote(max_retries=0)
def work():
    if END: exec(END)
    return 1
try:
    ray.get(work.remote())
except ray.exceptions.WorkerCrashedError:
    pass
ray.shutdown()
"""
DASK = """
import os
from distributed import Client, LocalCluster
from forensics.adapters.frameworks.dask import ForensicsPlugin
def work():
    if END: exec(END)
    return 1
if __name__ == "__main__":
    with LocalCluster(1, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.register_plugin(ForensicsPlugin())
        try:
            client.submit(work, retries=0).result()
        except Exception as error:
            print(type(error))
"""
SEGFAULT = "import ctypes; ctypes.string_at(0)"
RAISE = "raise RuntimeError('mat1 and mat2 shapes cannot be multiplied (4x5 and 6x7)')"


def train(module: str, code: str, end: str, tmp_path: Path) -> list[dict[str, object]]:
    """What the bundles of a program tell, with the causes of their reports, when none is being written any more."""
    pytest.importorskip(module, reason=f"needs {module}")
    program = tmp_path / "train.py"
    program.write_text(f"END = {end!r}\n{code}")
    environment = os.environ | {"XDG_STATE_HOME": str(tmp_path), "RAY_AUTH_MODE": "disabled"}
    command = ["-m", "torch.distributed.run", "--nproc-per-node=2", "--logs-specs=forensics"] if module == "torch" else []
    subprocess.run([sys.executable, *command, str(program)], cwd=tmp_path, env=environment, timeout=300, check=False)
    until = time.monotonic() + 200
    while time.monotonic() < until:
        told = [json.loads(p.read_text()) | {"report": p.with_name("report.json")} for p in tmp_path.glob("forensics/*/run.json")]
        if all(t["complete"] and t["report"].is_file() for t in told):
            return [t | {"causes": [c["id"] for c in json.loads(t["report"].read_text())["causes"]]} for t in told]
        time.sleep(0.2)
    return told


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("lightning", LIGHTNING),
        ("transformers", TRANSFORMERS),
        ("ray", RAY),
        ("distributed", DASK),
        ("torch", "if END: exec(END)"),
    ],
)
@pytest.mark.parametrize("end", ["", SEGFAULT])
def test_a_crash_is_told_and_a_good_end_leaves_nothing(module: str, code: str, end: str, tmp_path: Path) -> None:
    told = train(module, code, end, tmp_path)
    if not end:
        assert not told
    else:
        assert told
        assert {t["causes"][0] for t in told} == {"process.segfault"}


def test_the_crash_of_a_ray_worker_is_found_with_its_line(tmp_path: Path) -> None:
    assert train("ray", RAY, SEGFAULT, tmp_path)
    log = next(tmp_path.glob("forensics/*/job.log")).read_text()
    assert "in string_at" in log
    assert "in work" in log


@pytest.mark.parametrize(("module", "code"), [("lightning", LIGHTNING), ("transformers", TRANSFORMERS)])
def test_an_exception_of_a_framework_is_in_the_bundle(module: str, code: str, tmp_path: Path) -> None:
    (told,) = train(module, code, RAISE, tmp_path)
    assert told["notes"]["framework"] == module
    log = next(tmp_path.glob("forensics/*/job.log")).read_text()
    assert "mat1 and mat2 shapes cannot be multiplied" in log
