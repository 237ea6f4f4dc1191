"""Which sections of `minikube logs` tell of what was overcome. The forms are those of its own logs."""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
TABLE_HEAD = "CONTAINER      IMAGE          CREATED          STATE    NAME                  ATTEMPT  POD ID         POD\n"
EXITED = (
    "7c01f22b9d3e1  6e38f40d628db  2 minutes ago    Exited   storage-provisioner   0        3452a89c14d76  storage-provisioner\n"
)
RUNS = (
    "4d2e9ab7c1f05  6e38f40d628db  28 seconds ago   Running  storage-provisioner   1        3452a89c14d76  storage-provisioner\n"
)
PANIC = (
    "==> storage-provisioner [7c01f22b9d3e] <==\n"
    "I1106 08:35:09.098211       1 storage_provisioner.go:116] Initializing the minikube storage provisioner...\n"
    'F1106 08:35:39.106220       1 main.go:39] error getting server version: Get "https://10.96.0.1:443/version?timeout=32s": '
    "dial tcp 10.96.0.1:443: i/o timeout\n\n"
)
KUBELET = (
    "==> kubelet <==\n"
    'Nov 06 08:35:40 minikube kubelet[1642]: I1106 08:35:40.150123    1642 scope.go:117] "RemoveContainer" containerID="7c01f22b9d3e"\n\n'
)
STARTED = 'I1106 08:35:57.451976   58530 out.go:177] Done! kubectl is now configured to use "minikube" cluster and "default" namespace\n'
REFUSED = (
    "==> Last Start <==\n"
    'error: error validating "/etc/kubernetes/addons/storageclass.yaml": error validating data: failed to download openapi: '
    'Get "https://localhost:8443/openapi/v2?timeout=32s": dial tcp [::1]:8443: connect: connection refused\n'
)


def _logs(*containers: str, start: str) -> str:
    return f"{start}\n==> container status <==\n{TABLE_HEAD}{''.join(containers)}\n{KUBELET}{PANIC}"


@pytest.mark.seconds
def test_a_container_that_was_replaced_and_a_start_that_ended_well_show_no_end(analyze: Analyze) -> None:
    overcome = analyze(run_log=_logs(RUNS, EXITED, start=REFUSED + STARTED))
    assert overcome.verdict == "no_crash"
    assert not any("main.go:39" in p.text or "openapi" in p.text for c in overcome.causes for p in c.evidence)


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("containers", "start", "telling"), [((EXITED,), REFUSED + STARTED, "main.go:39"), ((RUNS, EXITED), REFUSED, "openapi")]
)
def test_without_a_second_one_and_without_an_end_it_is_told(
    analyze: Analyze, containers: tuple[str, ...], start: str, telling: str
) -> None:
    report = analyze(run_log=_logs(*containers, start=start))
    assert any(telling in p.text for c in report.causes for p in c.evidence)
