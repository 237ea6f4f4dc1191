"""`%load_ext forensics` in a real kernel: `%why`, `%forensics PATH`, `%%guard`. Skipped where there is none."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ipykernel", reason="needs ipykernel")
pytest.importorskip("jupyter_client", reason="needs jupyter_client")

from jupyter_client.manager import start_new_kernel

from forensics.capture.guard import last_bundle

pytestmark = [pytest.mark.seconds, pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")]
SAMPLE = Path(__file__).parents[3] / "sample_logs" / "jupyter_oom"


class Notebook:
    """One notebook, whose kernel can be started anew."""

    def __init__(self, state: Path) -> None:
        self.environment = os.environ | {"XDG_STATE_HOME": str(state), "JPY_SESSION_NAME": "/nb/train.ipynb"}
        self.start()

    def start(self) -> None:
        self.manager, self.client = start_new_kernel(startup_timeout=200, env=self.environment)
        self.run("%load_ext forensics")

    def run(self, code: str) -> dict[str, Any]:
        """What a cell shows: its value by kind, `stdout`, `stderr`, and the `error` that it ends with."""
        return self.ended(code)[1]

    def ended(self, code: str) -> tuple[str, dict[str, Any]]:
        """The status by which a client decides whether to run the next cell, and what this one shows."""
        shown: dict[str, Any] = {}

        def take(message: dict[str, Any]) -> None:
            content = message["content"]
            match message["msg_type"]:
                case "execute_result" | "display_data":
                    shown.update(content["data"])
                case "stream":
                    shown[content["name"]] = shown.get(content["name"], "") + content["text"]
                case "error":
                    shown["error"] = content["ename"]

        reply = self.client.execute_interactive(code, output_hook=take, timeout=400)
        return reply["content"]["status"], shown

    def dies(self, code: str) -> None:
        """Run a cell that takes the kernel along, and start the next one when it is gone."""
        self.client.execute(code)
        self.manager.provisioner.process.wait(200)
        self._captured()
        self.stop()
        self.start()

    def _captured(self) -> None:
        """Wait until the bundle on the death is complete."""
        name, folder = self.environment["JPY_SESSION_NAME"], Path(self.environment["XDG_STATE_HOME"], "forensics")
        until = time.monotonic() + 200
        while not last_bundle(name, str(folder)) and time.monotonic() < until:
            time.sleep(0.05)

    def stop(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def notebook(_own_cache: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    found = Notebook(tmp_path_factory.mktemp("state"))
    yield found
    found.stop()


def test_a_report_is_the_value_of_the_line_and_shown_as_a_page(notebook: Notebook) -> None:
    shown = notebook.run(f"report = %forensics {SAMPLE}\nprint(report.verdict, report.causes[0].id)\nreport")
    assert shown["stdout"] == "crash host_memory.oom_cgroup\n"
    assert "<" in shown["text/html"]
    assert "host_memory.oom_cgroup" in shown["text/plain"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("%forensics", "no path was given"),
        ("%forensics /none.log", "/none.log"),
        ("%why", "no captured death"),
        ("%forensics 'x", ""),
    ],
)
def test_what_cannot_be_answered_is_a_line_and_no_traceback(line: str, words: str, notebook: Notebook) -> None:
    shown = notebook.run(line)
    assert shown.keys() == {"stderr"}
    assert shown["stderr"].startswith("forensics: ")
    assert words in shown["stderr"]


def test_a_guarded_cell_that_fails_shows_its_error_and_the_report(notebook: Notebook) -> None:
    status, shown = notebook.ended("%%guard\nweights = {}\nweights['learning_rate']")
    assert (status, shown["error"]) == ("error", "KeyError")
    assert "code.exception" in shown["text/plain"]


@pytest.mark.parametrize(
    "cell",
    [
        "raise SystemExit(3)",
        "raise KeyboardInterrupt",
        "x = = 3",
        "5;",
        "'paste'\n6;",
        "6 * 7",
        "%%capture caught\n8",
        "from __future__ import annotations\n9",
        "import asyncio\nawait asyncio.sleep(0, 10)",
        "get_ipython().run_cell('11')\n12",
    ],
)
def test_a_guarded_cell_ends_as_it_does_without_the_guard(cell: str, notebook: Notebook) -> None:
    notebook.run("%why")  # what an earlier cell left is told
    notebook.run(cell)  # IPython gives some warnings once
    assert notebook.ended(f"%%guard\n{cell}") == notebook.ended(cell)


def test_a_guarded_cell_whose_loss_is_lost_says_so_while_it_runs(notebook: Notebook) -> None:
    steps = "print('step', step, 'loss', 'nan' if step >= 20 else 2 - step / 100)"
    wait = "while 'since' not in said: time.sleep(0.05)"
    listen = "import sys, time\nsaid = ''\nwrite = sys.stderr.write\n"
    watch = "def hear(text):\n    global said\n    said += text\n    return write(text)\nsys.stderr.write = hear\n"
    shown = notebook.run(f"%%guard\n{listen}{watch}for step in range(60):\n    {steps}\n{wait}\ndel sys.stderr.write")
    assert shown["stderr"] == "forensics: loss: NaN or infinite since step 20, 1.81 before\n"
    assert shown["stdout"].count("\n") == 60


def test_a_guarded_cell_that_ends_well_shows_its_value_alone(notebook: Notebook) -> None:
    assert notebook.run("%%guard\n6 * 7") == {"text/plain": "42"}


def test_a_cell_below_another_magic_is_guarded_up_to_its_end(notebook: Notebook) -> None:
    status, shown = notebook.ended("%%time\n%%guard\nget_ipython().run_cell('11')\n[][0]")
    assert (status, shown["error"]) == ("error", "IndexError")
    assert "code.index" in shown["text/plain"]


def test_a_notebook_that_was_made_a_script_ends_by_the_exception(notebook: Notebook) -> None:
    cell = "try: get_ipython().run_cell_magic('guard', '', '[][0]')\nexcept IndexError: print('reached')"
    shown = notebook.run(cell)
    assert shown["stdout"] == "reached\n"
    assert "code.index" in shown["text/plain"]


def test_why_tells_in_the_next_kernel_how_the_last_one_died(notebook: Notebook) -> None:
    notebook.dies("%%guard\nimport ctypes\nctypes.string_at(0)")
    shown = notebook.run("report = %why\nreport")
    assert "process.segfault" in shown["text/plain"]
