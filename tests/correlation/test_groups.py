"""Cgroup paths, lines and file names to the jobs, containers and pods they belong to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.correlation import ids_of_file_name
from forensics.line_formats.cgroup_paths import CgroupOwner, cgroup_owner, systemd_unit

ID = "3f2a91c07d55" + "0" * 52
UID = "8a0c2f1e-1234-4567-89ab-0123456789ab"
UNDER = UID.replace("-", "_")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/slurm/uid_1000/job_4711/step_0/task_0", CgroupOwner(job="4711", step="0")),
        ("/slurm_node-1/uid_1000/job_4711", CgroupOwner(job="4711")),
        ("/system.slice/slurmstepd.scope/job_4711/step_batch/user/task_0", CgroupOwner(job="4711", step="batch")),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0. Some", CgroupOwner(job="4711", step="0")),
        ("slurmstepd: error: *** JOB 4711 ON node7 CANCELLED AT x", CgroupOwner(job="4711")),
        ("_slurm_rpc_submit_batch_job: JobId=4711 InitPrio=1", CgroupOwner(job="4711")),
        ("Submitted JobId=4711_3", CgroupOwner()),
        (f"/docker/{ID}", CgroupOwner(container=ID)),
        (f"/system.slice/docker-{ID}.scope", CgroupOwner(container=ID)),
        (f"/machine.slice/libpod-{ID}.scope", CgroupOwner(container=ID)),
        (f"/kubepods/burstable/pod{UID}/{ID}", CgroupOwner(container=ID, pod_uid=UID)),
        (f"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{UNDER}.slice", CgroupOwner(pod_uid=UID)),
        (f"kubepods-pod{UNDER}.slice/cri-containerd-{ID}.scope", CgroupOwner(container=ID, pod_uid=UID)),
        (f'kubelet: "Error syncing pod" pod="ml/train-0" podUID="{UID}"', CgroupOwner(pod_uid=UID)),
        (f"Back-off restarting failed container main in pod train-0_ml({UID})", CgroupOwner(pod_uid=UID)),
        (f"  Container ID:  containerd://{ID}", CgroupOwner(container=ID)),
        (f"container oom {ID} (image=x, name=y)", CgroupOwner(container=ID)),
        ("the job of a container is to contain", CgroupOwner()),
        ("/user.slice/user-1000.slice", CgroupOwner()),
    ],
)
def test_a_cgroup_path_or_a_line_names_its_owner(text: str, told: CgroupOwner) -> None:
    assert cgroup_owner(text) == told


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/system.slice/train.service", "train.service"),
        ("/user.slice/user-1000.slice/session-4.scope", "session-4.scope"),
        ("/user.slice/user-1000.slice/user@1000.service/app.slice/x.service", "x.service"),
        (f"/system.slice/docker-{ID}.scope", ""),
        ("/train", ""),
    ],
)
def test_the_innermost_unit_counts(path: str, name: str) -> None:
    assert systemd_unit(path) == name


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("slurm-4711.out", {"job": "4711"}),
        ("logs/slurm-4711-node7.err", {"job": "4711"}),
        ("bundle.tgz!run/slurm-4711.out", {"job": "4711"}),
        ("slurm-4711_12.out", {"array": "4711"}),
        ("myslurm-4711.out", {}),
        (f"/var/lib/docker/containers/{ID}/{ID}-json.log", {"container": ID}),
        (f"/var/log/pods/ml_train-0_{UID}/main/0.log", {"pod": "train-0", "pod_uid": UID}),
        (f"/var/log/containers/train-0_ml_main-{ID}.log", {"pod": "train-0", "container": ID}),
        ("train.log", {}),
    ],
)
def test_the_name_of_a_file_names_its_owner(name: str, told: dict[str, str | bool]) -> None:
    found = ids_of_file_name(name)
    assert {k: v for k in ("job", "container", "pod", "pod_uid", "array") if (v := getattr(found, k))} == told


@given(st.text(alphabet="kubepods/-._job container:123abc(=", max_size=2000))
def test_cgroup_owner_accepts_any_text(text: str) -> None:
    assert isinstance(cgroup_owner(text), CgroupOwner)
