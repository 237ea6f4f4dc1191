"""`pytest --forensics` says why a worker of pytest-xdist crashed, or why the whole session was killed.

    watched    another process watches one pytest process, session or worker; the message on its death
    results    the notes of a session about its tests, and `junit`, the report that is made of them
    survivor   the parent process, which survives a killed session and writes its summary and its JUnit report
    workers    the hooks of the controller of pytest-xdist when a worker is down

pytest imports this module at each start, with the option or without, so it imports only modules that pytest has imported already.
"""

from __future__ import annotations

import os

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

BUNDLE = "forensics_bundle"  # in a worker's input: the folder that its watch fills


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option `--forensics`."""
    group = parser.getgroup("forensics", "why a worker or the session died")
    group.addoption("--forensics", action="store_true", help="say why a crashed worker or a killed session died")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    """Continue the session in a child, and wait for its end; no code of the user is imported yet."""
    options = early_config.known_args_namespace
    if options.forensics and hasattr(os, "pidfd_open") and "PYTEST_XDIST_WORKER" not in os.environ:
        from forensics.adapters.pytest.survivor import fork_survivor

        fork_survivor(early_config)
    return (yield)


def pytest_configure(config: pytest.Config) -> None:
    """Watch a worker; in the controller, register the hooks for its workers."""
    worker = getattr(config, "workerinput", None)
    if worker is not None and BUNDLE in worker:
        from forensics.adapters.pytest.watched import Watched

        config.pluginmanager.register(Watched(config, worker[BUNDLE]), "forensics-watched")
    elif worker is None and config.getoption("forensics") and hasattr(os, "pidfd_open"):
        from forensics.adapters.pytest.watched import Workers

        config.pluginmanager.register(Workers(config), "forensics-workers")
