"""Deliver what waits in the spool: to each sink once and in order. A sink that fails keeps its messages, stops no other."""

import importlib
import threading
import time
from collections.abc import Mapping
from typing import Any

from forensics.sinks.spool import Spool

SINKS = ("webhook", "prometheus", "wandb", "mlflow", "tensorboard", "opentelemetry", "kubernetes")
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 300.0  # chosen by hand: between two attempts, doubled each time


def deliver(spool: Spool, settings: Mapping[str, Mapping[str, Any]], keep_trying_s: float = 0.0) -> dict[str, str]:
    """Deliver to all sinks of `settings`, each in a thread of its own. Returns why messages still wait, for each such sink."""
    faults: dict[str, str] = {}

    def work(name: str) -> None:
        until, pause = time.monotonic() + keep_trying_s, FIRST_PAUSE_S
        while (fault := _deliver_to(name, spool, settings[name])) and time.monotonic() + pause < until:
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)
        if fault:
            faults[name] = fault

    threads = [threading.Thread(target=work, args=(name,), daemon=True) for name in settings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return faults


def _deliver_to(name: str, spool: Spool, setting: Mapping[str, Any]) -> str:
    """Deliver all that waits for one sink; the error of the first that cannot be delivered, empty for none."""
    with spool.alone(name) as mine:
        if not mine:
            return ""  # another process does it
        for path, message in spool.waiting(name):
            try:
                importlib.import_module(f"forensics.sinks.{name}").send(message, setting)
            except ImportError as error:
                return f"{error.name or name} is not installed"
            except Exception as error:  # of a library or a server: whatever it is, the message waits
                return f"{type(error).__name__}: {str(error)[:200]}"
            path.unlink()
    return ""
