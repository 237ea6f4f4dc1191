"""Says in the notebook why its kernel died, in the cell that was running, before the kernel is restarted.

    provisioner   starts the kernel, delays its restart until the reason is shown, knows which ends were requested
    kernel_watch  a thread beside each kernel: its messages, its stderr, its pidfd; at the death: bundle, report, message
    running_cell  which cell is running and what it printed last
    analysis      a small process of its own that reads bundles, so that the server never waits
    stand_in      speaks on the dead kernel's ports, so that every client shows the message
    launcher      starts the kernel for clients that know no provisioners, as VS Code; `__main__` writes their kernel.json
    server        extension of Jupyter Server: switches the provisioner on, serves the reports as pages

`pip install 'training-forensics[jupyter]'` switches it on in Jupyter Server. papermill, nbclient and nbconvert start kernels with
it where JUPYTER_DEFAULT_PROVISIONER_NAME=forensics-provisioner is set.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Jupyter Server asks for this before it loads the extension."""
    return [{"module": "forensics.adapters.jupyter"}]


def _load_jupyter_server_extension(server: "Any") -> None:
    """Jupyter Server calls this once, with its ServerApp, before any kernel is started."""
    from forensics.adapters.jupyter.server import load_extension

    load_extension(server)
