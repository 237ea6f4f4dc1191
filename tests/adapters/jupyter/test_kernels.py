"""Real kernels, ended by real clients. Needs `pip install -e '.[dev,jupyter]' nbclient`; skipped without."""

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ipykernel", reason="needs ipykernel")
pytest.importorskip("jupyter_server", reason="needs jupyter_server")
nbclient = pytest.importorskip("nbclient", reason="needs nbclient")

import nbformat  # noqa: E402
from jupyter_client import AsyncKernelManager  # noqa: E402
from jupyter_client.provisioning import KernelProvisionerFactory  # noqa: E402

from forensics.adapters.jupyter.provisioner import PROVISIONER_NAME, ForensicsProvisioner  # noqa: E402

pytestmark = [pytest.mark.seconds, pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")]


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Kernels are started by the provisioner; yields the folder of their bundles."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    factory = KernelProvisionerFactory.instance()
    if PROVISIONER_NAME not in factory.provisioners:
        pytest.skip("training-forensics is not installed here")
    monkeypatch.setattr(factory, "default_provisioner_name", PROVISIONER_NAME)
    yield tmp_path / "forensics"
    ForensicsProvisioner.analysis._stop()


def run(*cells: str, **options: Any) -> nbformat.NotebookNode:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells])
    return notebook, nbclient.NotebookClient(notebook, timeout=400, kernel_name="python3", **options)


def test_the_failed_execution_carries_the_reason_and_the_notebook_keeps_it(kernels: Path) -> None:
    notebook, client = run("x = 1\ndef read(at):\n    return ctypes.string_at(at)", "import ctypes\n[read(\n    0\n)]", "2")
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="segmentation fault"):
        client.execute()
    shown, failed = notebook.cells[1].outputs
    assert shown.metadata["forensics"]["cause"] == "process.segfault"
    assert (failed.output_type, failed.ename) == ("error", "KernelDied")
    bundle = Path(shown.metadata["forensics"]["bundle"])
    notes = json.loads((bundle / "run.json").read_text())["notes"]
    assert (notes["count"], notes["line"], notes["code"]) == (2, 2, "[read(\n    0\n)]")
    assert "Python was running Cell In[1]:3 in read" in shown.data["text/plain"]
    assert (bundle / "report.html").is_file()


def test_a_client_that_goes_on_after_errors_gets_to_the_end_and_each_later_cell_says_why_it_was_not_run(kernels: Path) -> None:
    notebook, client = run("import ctypes\nctypes.string_at(0)", "1", "2", allow_errors=True)
    client.execute()
    died, *later = [[o.evalue for o in cell.outputs if o.output_type == "error"] for cell in notebook.cells]
    assert "segmentation fault" in died[0]
    assert later == [[f"not run, the kernel died before: {died[0]}"]] * 2


def test_papermill_fails_with_the_reason_and_its_notebook_keeps_it(kernels: Path, tmp_path: Path) -> None:
    papermill = pytest.importorskip("papermill", reason="needs papermill")
    notebook, _ = run("import ctypes\nctypes.string_at(0)")
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "in.ipynb")
    with pytest.raises(papermill.PapermillExecutionError, match="segmentation fault"):
        papermill.execute_notebook(str(tmp_path / "in.ipynb"), str(tmp_path / "out.ipynb"), progress_bar=False)
    written = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    assert [o.metadata.forensics.cause for c in written.cells for o in c.get("outputs", ()) if "metadata" in o] == [
        "process.segfault"
    ]
    assert written.metadata.language_info["name"] == "python"


def test_a_notebook_that_runs_well_leaves_nothing_behind(kernels: Path) -> None:
    notebook, client = run("print('hello')")
    client.execute()
    assert [o.text for o in notebook.cells[0].outputs] == ["hello\n"]
    assert _empty(kernels)


@pytest.mark.parametrize("end", ["shutdown", "now", "restart", "interrupt"])
def test_an_end_that_the_user_requested_is_not_reported(end: str, kernels: Path) -> None:
    async def ends() -> None:
        manager = AsyncKernelManager(kernel_name="python3")
        await manager.start_kernel()
        client = manager.client()
        client.start_channels()
        await client.wait_for_ready(timeout=200)
        client.execute("import time; print(1, flush=True); time.sleep(600)")
        while (await client.get_iopub_msg(timeout=200))["msg_type"] != "stream":
            pass  # until the cell runs
        if end == "interrupt":
            await manager.interrupt_kernel()
            await client.wait_for_ready(timeout=200)
            assert await manager.is_alive()
        elif end == "restart":
            await manager.restart_kernel(now=True)
        client.stop_channels()
        await manager.shutdown_kernel(now=end != "shutdown")

    asyncio.run(ends())
    assert _empty(kernels)


def _empty(folder: Path) -> bool:
    """Are the bundles gone? Those who watch need a moment to see the end."""
    import time

    until = time.monotonic() + 200
    while list(folder.iterdir()) and time.monotonic() < until:
        time.sleep(0.05)
    return not list(folder.iterdir())
