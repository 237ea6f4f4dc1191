"""Tests whose names and logs speak of failures; all pass."""

import logging
import warnings

import pytest

log = logging.getLogger("app")


@pytest.mark.parametrize("kind", ["cuda_out_of_memory", "segfault", "nccl_timeout", "disk_full", "killed_by_oom", "nan_loss"])
def test_detects(kind: str) -> None:
    log.info("injecting %s", kind)
    log.error("simulated failure: %s", kind)


def test_raises_memory_error() -> None:
    with pytest.raises(MemoryError):
        raise MemoryError("Unable to allocate 7.28 TiB")


def test_handles_exception() -> None:
    try:
        raise ConnectionResetError(104, "Connection reset by peer")
    except ConnectionResetError:
        log.exception("peer went away, reconnecting")
    log.info("reconnected")


def test_warns() -> None:
    with pytest.warns(RuntimeWarning):
        warnings.warn("overflow encountered in exp", RuntimeWarning, stacklevel=1)


@pytest.mark.xfail(reason="known: does not converge")
def test_converges() -> None:
    raise AssertionError("loss is nan")


@pytest.mark.skip(reason="needs a GPU: CUDA error: no CUDA-capable device is detected")
def test_gpu() -> None: ...


def test_worker_dies_and_is_replaced() -> None:
    import multiprocessing
    import os

    process = multiprocessing.get_context("spawn").Process(target=os.abort)
    process.start()
    process.join()
    log.warning("worker %d exited with %s, starting another", process.pid, process.exitcode)
