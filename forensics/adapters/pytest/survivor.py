"""The process that survives a killed session, and writes the summary that the session could not write.

It forks before any code of the user is imported: the child is the session; the parent waits, forwards signals, and ends with the
same status. It writes something only if the child died.

The notes of a session about its tests, a line each, for the process that survives it.

{"start": "test_a.py::test_b"}   {"test": "test_a.py::test_b", "when": "call", "outcome": "passed", "seconds": 0.1, "text": ""}
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from xml.etree import ElementTree

from forensics.adapters.pytest.watched import Watched, death_of, new_bundle
from forensics.report.redaction.lines import masked_text

if TYPE_CHECKING:
    import pytest

    from forensics.adapters.pytest.watched import Death


class TestNotes:
    """The notes of the session: `running`, `finished`, and the result of each test."""

    def __init__(self) -> None:
        self.running: list[str] = []
        self.finished = False
        self.done: dict[str, dict[str, Any]] = {}

    def take(self, note: dict[str, Any]) -> None:
        """Take one line of the session."""
        self.finished = self.finished or "finished" in note
        if "start" in note:
            self.running.append(note["start"])
        elif "test" in note:
            kept = self.done.setdefault(note["test"], note | {"seconds": 0.0, "outcome": "passed"})
            kept["seconds"] += note["seconds"]
            if note["outcome"] != "passed":
                kept |= {key: note[key] for key in ("when", "outcome", "text")}
            if note["when"] not in ("setup", "call") and note["test"] in self.running:
                self.running.remove(note["test"])


def read_notes(results: IO[bytes]) -> TestNotes:
    """All notes; a last line that is incomplete is left out."""
    tests = TestNotes()
    results.seek(0)
    for line in results:
        if line.endswith(b"\n"):
            tests.take(json.loads(line))
    return tests


NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(path: Path, death: Death, tests: TestNotes, began: float) -> None:
    """Write the finished tests, the running ones as errors, and the reason as properties of the suite. `began`: when the session
    began, in seconds since 1970. If pytest wrote a report since then, the properties are added to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_file() and path.stat().st_mtime >= began:
        tree = ElementTree.parse(path).getroot()
        suite = tree.find("testsuite")
    else:
        tree = ElementTree.Element("testsuites")
        suite = _suite(tree, death, tests)
    if suite is not None:
        properties = suite.find("properties")
        if properties is None:
            properties = ElementTree.Element("properties")
            suite.insert(0, properties)
        for name, value in death.properties:
            ElementTree.SubElement(properties, "property", name=name, value=_clean(value))
    ElementTree.ElementTree(tree).write(path, encoding="utf-8", xml_declaration=True)


def _suite(tree: ElementTree.Element, death: Death, tests: TestNotes) -> ElementTree.Element:
    suite = ElementTree.SubElement(tree, "testsuite", name="pytest")
    running = tests.running or ([] if tests.done else ["pytest"])
    for name, note in tests.done.items():
        if name not in running:
            case = _case(suite, name, note["seconds"])
            if note["outcome"] != "passed":
                kind = {"skipped": "skipped", "failed": "failure" if note["when"] == "call" else "error"}[note["outcome"]]
                ElementTree.SubElement(case, kind, message=_clean(note["text"].strip().split("\n")[-1])).text = _clean(
                    note["text"]
                )
    for name in running:
        error = ElementTree.SubElement(_case(suite, name, 0.0), "error", message=_clean(" ".join(death.lines[:3])))
        error.text = _clean("\n".join(death.lines))
    for kind, tag in (("errors", "error"), ("failures", "failure"), ("skipped", "skipped"), ("tests", "testcase")):
        suite.set(kind, str(sum(1 for _ in suite.iter(tag))))
    suite.set("time", f"{sum(note['seconds'] for note in tests.done.values()):.3f}")
    return suite


def _case(suite: ElementTree.Element, nodeid: str, seconds: float) -> ElementTree.Element:
    """tests/test_a.py::TestB::test_c[1] -> classname tests.test_a.TestB, name test_c[1]"""
    address, bracket, parameters = nodeid.partition("[")
    file, *names = address.split("::")
    *classes, name = [file.removesuffix(".py").replace("/", "."), *names]
    return ElementTree.SubElement(
        suite, "testcase", classname=_clean(".".join(classes)), name=_clean(name + bracket + parameters), time=f"{seconds:.3f}"
    )


def _clean(text: str) -> str:
    """`text` without secrets and without characters that XML does not allow."""
    return NOT_XML.sub("?", masked_text(text))


FORWARDED_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def fork_survivor(config: pytest.Config) -> None:
    """Fork. Returns in the child, which is watched; the parent raises SystemExit when the child has ended."""
    bundle, results, began = new_bundle("session"), tempfile.TemporaryFile(), time.time()  # noqa: SIM115  both processes need it
    sys.stdout.flush()
    sys.stderr.flush()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (*FORWARDED_SIGNALS, signal.SIGCHLD))
    # Safe: while SIGCHLD is ignored, the system reaps children and tells nobody; the session gets back what was set before.
    children = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()  # safe: before any code of the user is imported, so no thread runs; the child is reaped by _end_of alone
    if pid == 0:
        signal.signal(signal.SIGCHLD, children)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        config.pluginmanager.register(Watched(config, bundle, results), "forensics-watched")
        return
    status = os.waitstatus_to_exitcode(_end_of(pid))
    tests = read_notes(results)
    if not tests.finished:
        how = _described(status, tests.running)
        death = death_of(bundle, how)
        print("\n".join(["", " forensics ".center(shutil.get_terminal_size().columns, "="), *death.lines]), flush=True)
        path = config.known_args_namespace.xmlpath
        if path:
            write(Path(os.path.expanduser(os.path.expandvars(path))), death, tests, began)  # noqa: PTH111  as pytest does
    raise SystemExit(status if status >= 0 else 128 - status)


def _end_of(pid: int) -> int:
    """The status of the child after it has ended. A terminal sends its signals to both processes; others are forwarded."""
    while True:
        found = signal.sigwaitinfo((*FORWARDED_SIGNALS, signal.SIGCHLD))
        if found.si_signo != signal.SIGCHLD:
            if found.si_code <= 0:  # SI_USER: a process sent it, and the child did not get it
                os.kill(pid, found.si_signo)  # safe: the child is not reaped, so its process id is its own
            continue
        ended, status = os.waitpid(pid, os.WNOHANG)  # safe: this child alone; SIGCHLD was blocked before it was started
        if ended:
            return status


def _described(status: int, running: list[str]) -> str:
    if status >= 0:
        how = f"ended with exit status {status} before it was finished"
    else:
        known = signal.Signals(-status).name if -status in set(signal.Signals) else "unknown"
        how = f"was ended by signal {-status} ({known})"
    while_ = f" while {', '.join(running[:4])} ran" if running else ""
    return f"the test session {how}{while_}"
