"""Say in the notebook why its kernel died, in the cell that was running, before the kernel is restarted.

    provisioner   starts the kernel, delays its restart until the reason is shown, knows which ends were requested
    kernel_watch  a thread for each kernel: its messages, its stderr, its pidfd; after a death: bundle, report, message
    running_cell  which cell is running, and its last output
    analysis      a small process of its own that analyses bundles, so that the server never waits
    stand_in      answers on the dead kernel's ports, so that every client shows the message
    launcher      starts the kernel for clients without provisioners, such as VS Code; `__main__` writes their kernel.json
    server        extension of Jupyter Server: enables the provisioner, serves the reports as pages

The extra `jupyter` (docs/install.md) enables it in Jupyter Server. papermill, nbclient and nbconvert use it if
JUPYTER_DEFAULT_PROVISIONER_NAME=forensics-provisioner is set.
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
