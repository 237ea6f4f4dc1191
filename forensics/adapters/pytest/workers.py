"""Hooks of the controller of pytest-xdist: give each worker a folder, and show the reason if one crashes.

worker 'gw0' crashed while running 'tests/test_a.py::test_b'    ->  the test's properties in JUnit, and the summary
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from forensics.adapters.pytest import BUNDLE
from forensics.adapters.pytest.watched import Death, death_of, new_bundle, reap

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter


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
