"""Run a command as a child of a Python program, captured."""

from __future__ import annotations

import os
import subprocess
import sys

from forensics.capture.options import Options


def run_command(command: list[str], bundle: str, **options: object) -> tuple[int, str | None]:
    """Run `command` to its end; its status as in a shell, and the bundle's folder, None if none was kept.

    Raises TypeError for an unknown option.
    """
    from forensics.capture.bundle import RUN_FILE, Bundle

    folder = os.path.abspath(bundle) if bundle else Bundle("", command[0] if command else "run").folder
    wanted = Options(**{"quiet": True, "report": False, **options, "command": command, "folder": folder})
    sys.stdout.flush()
    sys.stderr.flush()
    # Safe: waits for `run` alone, by its process id; `run` ends with the status of the job.
    done = subprocess.run([sys.executable, "-P", "-m", "forensics.capture", "run", wanted.to_json()], check=False)
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    kept = wanted.keep == "always" or (status != 0 and wanted.keep == "crash")
    if not kept and not bundle:
        _remove(folder)
    return status, folder if kept and os.path.exists(os.path.join(folder, RUN_FILE)) else None


def _remove(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
