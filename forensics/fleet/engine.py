"""Analyse cases on Dask: on a cluster of this machine, or by a scheduler that runs already.

Only a few tasks per thread are submitted at a time, so that a scheduler holds hundreds of tasks and not a million. If a worker is
killed, Dask gives its case to another one. A case that kills its workers repeatedly gets a report that says so.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from forensics.core.errors import UsageError
from forensics.fleet.cases import INSTALL_FLEET, Case
from forensics.fleet.worker import Analysed, Limits, analyse_case, failed_case

LOCAL_SETTINGS = {  # on this machine the workers only wait for their helpers: Dask need not sample them 100 times per second
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
}
TASKS_PER_THREAD = 4  # submitted at once, so that a thread never waits for its next task


@contextmanager
def client_of(scheduler: str, workers: int | None) -> Iterator[Any]:
    """A Dask client; a cluster that it started ends with the block. Raises UsageError if the scheduler cannot be used."""
    try:
        import distributed
    except ImportError as error:
        raise UsageError("a fleet needs Dask", "forensics fleet", INSTALL_FLEET) from error
    cluster = _cluster(distributed, scheduler, workers)
    try:
        client = distributed.Client(cluster if cluster is not None else scheduler, timeout="20s")
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(f"no scheduler answers ({type(error).__name__})", scheduler) from error
    with client:
        yield client
    if cluster is not None:
        cluster.close()


def _cluster(distributed: Any, scheduler: str, workers: int | None) -> Any:
    """A new cluster; None for a scheduler that is already running."""
    if "://" in scheduler:
        return None
    if scheduler == "local":
        import dask

        dask.config.set(LOCAL_SETTINGS)
        return distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, memory_limit=0)
    raise UsageError(f"unknown scheduler {scheduler!r}", "--scheduler", "local or tcp://HOST:8786")


def reports(client: Any, cases: Iterable[Case], limits: Limits) -> Iterator[Analysed]:
    """The report of each case as soon as it is ready, in any order."""
    import distributed

    waiting = iter(cases)
    given: dict[Any, Case] = {}
    done = distributed.as_completed(with_results=False, raise_errors=False)

    def submit(count: int) -> None:
        for _, case in zip(range(count), waiting, strict=False):
            future = client.submit(analyse_case, case, limits, pure=False, retries=2)
            given[future] = case
            done.add(future)

    submit(max(sum(client.nthreads().values()), 1) * TASKS_PER_THREAD)
    for future in done:
        case = given.pop(future)
        if future.status == "finished":
            yield future.result()
        else:
            error = future.exception()
            yield failed_case(case, f"its worker failed repeatedly ({type(error).__name__})", 0.0, limits)
        future.release()
        submit(1)
