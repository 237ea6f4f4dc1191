"""Ask a Python kernel to write the stacks of a crash into a file of its bundle.

ipykernel puts a pipe in place of its stderr and reads it itself, so what faulthandler writes there is lost with the process. The
request is the first one that the kernel gets. It is silent: no count, no history, no output, no new name.

  File "/tmp/ipykernel_4711/2299841286.py", line 3 in f   ->   File "Cell In[1]", line 3 in f
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import zmq
from jupyter_client.session import Session

from forensics.adapters.jupyter.running_cell import OWN_SESSION, file_name
from forensics.adapters.jupyter.stand_in import connected, encoded

if TYPE_CHECKING:
    from collections.abc import Mapping

CRASH_STACKS = "faulthandler.log"  # capture.watcher adds it to the bundle's job.log
PYTHON_KERNEL = "ipykernel"  # in the command of a kernel that understands the request
CELL_FILE_PATTERN = re.compile(r'"[^"\n]{0,300}[/\\]ipykernel_\d+[/\\](?P<name>\d+\.py)"')
CURRENT_THREAD = "\nCurrent thread "  # the one that crashed


def ask_for_crash_stacks(context: Any, connection: Mapping[str, Any], command: object, bundle: str) -> Any:
    """Send the request to the kernel that `command` started, if it is ipykernel. Returns the socket, to be closed at its end."""
    socket = connected(context, zmq.DEALER, connection, "shell_port")
    words = command if isinstance(command, (list, tuple)) else [str(command)]
    if any(PYTHON_KERNEL in os.fspath(word) for word in words):
        session = Session(session=OWN_SESSION, key=encoded(connection["key"]), signature_scheme=connection["signature_scheme"])
        code = f"__import__('faulthandler').enable(open({str(Path(bundle, CRASH_STACKS))!r}, 'a'))"
        session.send(socket, "execute_request", {"code": code, "silent": True, "store_history": False, "allow_stdin": False})
    return socket


def name_cells(bundle: str, codes: Mapping[int, str], running: int) -> int:
    """Write the cells' numbers into the stacks, in place of the files from which ipykernel runs them. `codes`: of the cells by
    their numbers. Returns the line at which the cell `running` was; 0 if the stacks do not tell."""
    path = Path(bundle, CRASH_STACKS)
    stacks = ""
    with contextlib.suppress(OSError):
        stacks = path.read_text(encoding="utf-8", errors="replace")
    if not stacks:
        return 0
    numbers = {file_name(code): number for number, code in codes.items()}
    stacks = CELL_FILE_PATTERN.sub(lambda found: _cell_name(found, numbers), stacks)
    with contextlib.suppress(OSError):
        path.write_text(stacks, encoding="utf-8")
    _, _, current = stacks.rpartition(CURRENT_THREAD)
    lines = re.findall(rf'File "Cell In\[{running}\]", line (\d{{1,9}}) in', current)
    return int(lines[-1]) if lines else 0  # the outermost frame comes last


def _cell_name(found: re.Match[str], numbers: Mapping[str, int]) -> str:
    number = numbers.get(found["name"])
    return f'"Cell In[{number}]"' if number else found[0]
