"""`python -m forensics.adapters.jupyter install [KERNEL]`: a kernel that says why it died in any client, also in VS Code.

It writes a copy of that kernel's kernel.json, called KERNEL-forensics, which starts the kernel with `launcher`; nothing else is
changed. `jupyter kernelspec remove KERNEL-forensics` removes the copy.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

from forensics.adapters.jupyter.launcher import CONNECTION_PLACEHOLDER

PLACEHOLDER = "{connection_file}"
LAUNCHER = [sys.executable, "-m", "forensics.adapters.jupyter.launcher", PLACEHOLDER]
OWN_PYTHON = ("python", "python3", f"python3.{sys.version_info[1]}")  # jupyter_client takes its own interpreter for these


def wrapped(kernel: dict[str, Any], folder: str) -> dict[str, Any]:
    """The content of a kernel.json that starts `kernel`, whose kernel.json is in `folder`, with the launcher.

    A Python kernel is interrupted by a message, because the client does not have its process but the launcher's. A provisioner in
    the kernel.json is left out, so that the kernel is not watched twice.
    """
    command, *words = kernel["argv"]
    words = [w.replace("{resource_dir}", folder).replace(PLACEHOLDER, CONNECTION_PLACEHOLDER) for w in words]
    by_message = {"interrupt_mode": "message"} if any("ipykernel" in word for word in words) else {}
    metadata = {**kernel.get("metadata", {}), "kernel_provisioner": {"provisioner_name": "local-provisioner"}}
    argv = [*LAUNCHER, sys.executable if command in OWN_PYTHON else command, *words]
    name = f"{kernel['display_name']}, says why it died"
    return {**kernel, "argv": argv, "display_name": name, "metadata": metadata, **by_message}


def install(kernel: str, in_environment: bool) -> str:
    """Write the kernel.json into the user's folder of kernels or into this environment, and return its folder. Raises
    NoSuchKernel, OSError."""
    manager = KernelSpecManager()
    folder = manager.get_kernel_spec(kernel).resource_dir
    content = wrapped(json.loads(Path(folder, "kernel.json").read_text(encoding="utf-8")), folder)
    with tempfile.TemporaryDirectory(prefix="forensics-") as made:
        shutil.copytree(folder, made, dirs_exist_ok=True)
        Path(made, "kernel.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        prefix = sys.prefix if in_environment else None
        return str(manager.install_kernel_spec(made, f"{kernel}-forensics", user=not in_environment, prefix=prefix))


def main() -> None:
    """Install, and print where."""
    parser = argparse.ArgumentParser(prog="python -m forensics.adapters.jupyter", description=__doc__.partition(":")[2])
    parser.add_argument("action", choices=["install"])
    parser.add_argument("kernel", nargs="?", default="python3", help="as `jupyter kernelspec list` names it; python3")
    parser.add_argument("--sys-prefix", action="store_true", help="into this environment instead of the user's home folder")
    asked = parser.parse_args()
    try:
        folder = install(asked.kernel, asked.sys_prefix)
    except NoSuchKernel:
        parser.error(f"there is no kernel {asked.kernel}; `jupyter kernelspec list` lists them")
    except (OSError, ValueError, KeyError) as error:
        parser.exit(2, f"forensics: {error}\n")
    print(
        f"{folder}\nChoose the kernel {asked.kernel}-forensics; `jupyter kernelspec remove {asked.kernel}-forensics` removes it."
    )


if __name__ == "__main__":
    main()
