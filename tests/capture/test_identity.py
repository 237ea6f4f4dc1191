"""What the scheduler, the container and the driver say of a job, as run.json keeps it."""

import sys
from types import SimpleNamespace

import pytest

from forensics.capture import identity


def test_names_of_scheduler_launcher_and_pod_are_taken_and_nothing_else() -> None:
    found = identity.identity(
        {
            "SLURM_JOB_ID": "815", "RANK": "3", "WORLD_SIZE": "8", "KUBERNETES_SERVICE_HOST": "10.0.0.1",
            "HOSTNAME": "train-0", "AWS_SECRET_ACCESS_KEY": "x", "HOME": "/root",
        }
    )  # fmt: skip
    found.pop("container", None)
    assert found == {
        "slurm": {"SLURM_JOB_ID": "815"},
        "distributed": {"RANK": "3", "WORLD_SIZE": "8"},
        "kubernetes": {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "HOSTNAME": "train-0"},
    }


@pytest.mark.parametrize(
    ("there", "env", "runtime"),
    [
        ("/.dockerenv", "", "docker"),
        ("/run/.containerenv", "", "podman"),
        ("", "APPTAINER_CONTAINER", "apptainer"),
        ("", "SINGULARITY_CONTAINER", "apptainer"),
        ("", "", None),
    ],
)
def test_the_runtime_of_a_container_is_known(there: str, env: str, runtime: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity.os.path, "exists", lambda path: path == there)
    for name in ("APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"):
        monkeypatch.delenv(name, raising=False)
    if env:
        monkeypatch.setenv(env, "/images/train.sif")
    assert identity.identity({}).get("container", {}).get("runtime") == runtime


@pytest.mark.parametrize(("written", "moment"), [("1763890000", 1763890000.0), ("soon", 0.0), (None, 0.0)])
def test_the_end_that_slurm_has_set_is_read(written: str | None, moment: float) -> None:
    assert identity.time_limit({"SLURM_JOB_END_TIME": written} if written else {}) == moment


class NVMLError(Exception):
    """As that of nvidia-ml-py."""


def driver(cards: int, fault: str = "") -> SimpleNamespace:
    """A module with the functions of nvidia-ml-py that are asked; the last card does not tell its temperature."""

    def init() -> None:
        if fault:
            raise NVMLError(fault)

    def temperature(card: int, _sensor: int) -> int:
        if card == cards - 1:
            raise NVMLError("Not Supported")
        return 61

    return SimpleNamespace(
        NVMLError=NVMLError, NVML_TEMPERATURE_GPU=0, nvmlInit=init, nvmlShutdown=lambda: None,
        nvmlDeviceGetCount=lambda: cards, nvmlDeviceGetHandleByIndex=lambda i: i,
        nvmlDeviceGetMemoryInfo=lambda _card: SimpleNamespace(used=5 << 30, total=80 << 30),
        nvmlDeviceGetUUID=lambda card: f"GPU-{card}", nvmlDeviceGetTemperature=temperature,
        nvmlDeviceGetUtilizationRates=lambda _card: SimpleNamespace(gpu=97),
    )  # fmt: skip


def test_each_gpu_is_taken_with_what_it_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", driver(2))
    memory = {"used_bytes": 5 << 30, "total_bytes": 80 << 30}
    assert identity.gpus() == (
        [{"index": 0, **memory, "uuid": "GPU-0", "celsius": 61, "busy_percent": 97}, {"index": 1, **memory, "uuid": "GPU-1"}],
        "",
    )


@pytest.mark.parametrize(
    ("module", "why"), [(driver(0, "Driver Not Loaded"), "NVML: Driver Not Loaded"), (None, "nvidia-ml-py is not installed")]
)
def test_why_there_are_no_gpus_to_ask(module: SimpleNamespace | None, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", module)
    assert identity.gpus() == ([], why)


def test_a_local_file_system_with_room_is_watched_and_no_full_or_foreign_one(monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = """/dev/sda1 / ext4 rw,relatime 0 0
tmpfs /scratch tmpfs rw,size=2048k 0 0
tmpfs /sys/fs/cgroup tmpfs rw,mode=755 0 0
tmpfs /run/lock tmpfs rw 0 0
/dev/loop1 /snap/core squashfs ro,nodev 0 0
nas:/home /home nfs4 rw 0 0
/dev/sda2 /boot ext4 rw 0 0
"""
    monkeypatch.setattr(identity.proc, "read", lambda _path: mounts)
    monkeypatch.setattr(identity, "_disk", lambda path: {"size_bytes": 1000, "free_bytes": 2 if path == "/boot" else 500})
    assert identity.mounts_with_room() == ["/", "/scratch"]
