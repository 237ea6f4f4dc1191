"""Jupyter servers: level, time and application in one bracket; the classic notebook tells no date.

[W 2024-05-13 15:26:30.398 ServerApp] AsyncIOLoopKernelRestarter: restart failed
[I 15:26:30.398 NotebookApp] KernelRestarter: restarting kernel (1/5), keep random ports
"""

from forensics.layouts.base import Layout
from forensics.layouts.clock import ISO, TIME

APP = r" (?P<program>[\w.-]+)(?: [\w.]+:\d+)?\] ?"

LAYOUTS = (
    Layout(
        "jupyter server",
        "wall",
        rf"\[(?P<level>[DIWEC]) {ISO}{APP}",
        (
            "[W 2024-05-13 15:26:30.398 ServerApp] AsyncIOLoopKernelRestarter: restart failed",
            "[W 2024-05-13 15:26:30.398 JupyterHub base:1348] User ada server stopped, with exit code: 137",
        ),
    ),
    Layout(
        "classic notebook",
        "wall",
        rf"\[(?P<level>[DIWEC]) {TIME}{APP}",
        ("[I 15:26:30.398 NotebookApp] KernelRestarter: restarting kernel (1/5), keep random ports",),
    ),
)
