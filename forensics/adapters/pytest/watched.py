"""Have another process watch this pytest process, and make the message on its death.

Hooks of the controller of pytest-xdist: give each worker a folder, and show the reason if one crashes.

worker 'gw0' crashed while running 'tests/test_a.py::test_b'    ->  the test's properties in JUnit, and the summary
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import pytest

from forensics.adapters.pytest import BUNDLE
from forensics.capture.bundle import RUN_FILE, new_name, state_folder
from forensics.capture.guard import Guard

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

PLUGIN_WAIT_S = 20.0  # a report takes a second or two on a quiet machine; the tests that follow wait for it
REAP_S, REAP_POLL_S = 10.0, 0.02  # chosen by hand: a worker whose connection is closed ends in a part of a second
STACKS_FILE = "faulthandler.log"
MAX_STACK_LINES = 12  # chosen by hand: the innermost frames, in a summary that stays on a screen; the bundle has all
MAX_FAILURE_CHARS = 20_000  # chosen by hand: of one failure, in the report of a killed session


class Death(NamedTuple):
    """The message on a process that died. `lines`: for the reader. `properties`: for JUnit, name and value."""

    lines: list[str]
    properties: list[tuple[str, str]]


class Watched:
    """Watches this process from now to the end of `config`. `results`: the file in which a session notes each test."""

    def __init__(self, config: pytest.Config, bundle: str, results: IO[bytes] | None = None) -> None:
        self.results = results
        self.guard = Guard(bundle, name=f"pytest {config.rootpath}", tell=False).__enter__()
        self._stacks: IO[bytes] | None = None
        config.add_cleanup(self.finish)

    def pytest_sessionstart(self) -> None:
        """Send the stacks of a crash into the bundle, and from there to the terminal; until now they went to pytest's stderr."""
        if self.guard.bundle and faulthandler.is_enabled():
            self._stacks = Path(self.guard.bundle, STACKS_FILE).open("wb")  # noqa: SIM115  closed by finish
            faulthandler.enable(self._stacks)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note the test that runs."""
        self._note(start=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the result of the test."""
        text = report.longreprtext[:MAX_FAILURE_CHARS] if report.failed else ""
        self._note(test=report.nodeid, when=report.when, outcome=report.outcome, seconds=report.duration, text=text)

    def finish(self) -> None:
        """End the watch: the process ends in an orderly way, with whatever result of the tests."""
        self._note(finished=True)
        self.guard.__exit__(None, None, None)
        if self._stacks is not None and not self._stacks.closed:
            faulthandler.disable()
            self._stacks.close()

    def _note(self, **facts: Any) -> None:
        if self.results is not None:
            os.write(self.results.fileno(), json.dumps(facts).encode() + b"\n")


def new_bundle(name: str) -> str:
    """The path of a new folder for a watch: 20261122-174701-pytest-gw0-4711-1"""
    return str(Path(state_folder(), new_name(f"pytest-{name}", "pytest", os.getpid())))


def reap(bundle: str) -> None:
    """Take the exit status of the child that `bundle` is about: only then its watch learns it, too."""
    pid = json.loads(_text(Path(bundle, RUN_FILE)) or "{}").get("command", {}).get("pid", 0)
    until = time.monotonic() + REAP_S
    with contextlib.suppress(ChildProcessError):  # it is on another machine, or somebody took it already
        # Safe: this child alone; it is down, and one that hangs instead of ending does not hold up the session.
        while pid and not os.waitpid(pid, os.WNOHANG)[0] and time.monotonic() < until:
            time.sleep(REAP_POLL_S)


def death_of(bundle: str, how: str, within_s: float = PLUGIN_WAIT_S) -> Death:
    """The message from the report on `bundle`, which may take up to `within_s`. `how`: "worker gw0 was ended by signal 9". It has
    no secrets: names of tests, stacks and a report of another version may tell some."""
    from forensics.report.redaction.lines import masked_text

    report = _report(Path(bundle), within_s)
    lines, properties = [how], [("forensics.bundle", bundle)]
    if report.get("verdict") == "crash":
        cause = report["causes"][0]
        lines += [f"{cause['title']} ({cause['id']}, {cause['probability']:.0%})", cause["summary"]]
        lines += [f"what to do: {found['action']}" for found in cause["remediations"][:1]]
        cause_properties = {"cause": cause["id"], "title": cause["title"], "probability": f"{cause['probability']:.2f}"}
        properties += [
            (f"forensics.{name}", str(value)) for name, value in (cause_properties | {"summary": cause["summary"]}).items()
        ]
    else:
        lines.append("Nothing that was captured says why." if report else "What was captured could not be analysed in time.")
    stacks = _text(Path(bundle, STACKS_FILE)).splitlines()
    lines += [f"  {line}" for line in stacks[:MAX_STACK_LINES]]
    lines += [f"  and {len(stacks) - MAX_STACK_LINES} more lines"] if len(stacks) > MAX_STACK_LINES else []
    lines.append(f"the full report: forensics why {bundle}")
    return Death(masked_text("\n".join(lines)).split("\n"), [(name, masked_text(value)) for name, value in properties])


def _report(bundle: Path, within_s: float) -> dict[str, Any]:
    """The report, as soon as it is complete; empty if there will be none."""
    until = time.monotonic() + within_s
    while time.monotonic() < until and bundle.is_dir():
        if json.loads(_text(bundle / RUN_FILE) or "{}").get("complete"):
            if found := _text(bundle / "report.json"):
                return dict(json.loads(found))
            if (bundle / "report.failed").is_file():
                break
        time.sleep(0.05)
    return {}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


class Workers:
    """Hooks of the controller; those of pytest-xdist are never called if it is not installed."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.deaths: dict[str, Death] = {}

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Give a worker its folder before it starts."""
        node.workerinput[BUNDLE] = new_bundle(node.gateway.id)

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: Any) -> None:
        """Record that a worker crashed while it ran `crashitem`."""
        death = self._death(report.node, f"worker {report.node.gateway.id} crashed while {crashitem} ran")
        report.user_properties += death.properties
        self._into_junit(report, death)

    def _into_junit(self, report: Any, death: Death) -> None:
        """Add the properties to JUnit's report directly: pytest reads them at the teardown, which a crashed test does not
        have."""
        with contextlib.suppress(ImportError, AttributeError):
            from _pytest.junitxml import xml_key

            if (xml := self.config.stash.get(xml_key, None)) is not None:
                for name, value in death.properties:
                    xml.node_reporter(report).add_property(name, value)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Record that a worker is down; `error` if it ended unexpectedly. pytest-xdist reports its test after this call."""
        if error and not getattr(node, "shutting_down", False) and BUNDLE in node.workerinput:
            self.deaths.setdefault(node.workerinput[BUNDLE], Death([f"worker {node.gateway.id} crashed between two tests"], []))

    def _death(self, node: Any, how: str) -> Death:
        bundle = node.workerinput[BUNDLE]
        reap(bundle)
        self.deaths[bundle] = death_of(bundle, how)
        return self.deaths[bundle]

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Write the message on each death."""
        for bundle, death in self.deaths.items():
            if not death.properties:
                reap(bundle)
            reported = death if death.properties else death_of(bundle, death.lines[0])
            terminalreporter.section("forensics", red=True)
            for line in reported.lines:
                terminalreporter.line(line)
