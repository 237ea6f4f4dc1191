"""The spool: messages that were promised to a sink and are not delivered yet, one file each, in order.

spool/webhook/00001764381600123456789.json      written whole or not at all; removed when the sink has taken it
"""

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from forensics.sinks.destinations import DESTINATIONS, Message

MAX_WAITING = 1000  # chosen by hand, for one sink: a network that is gone for weeks must not fill a disk


class Spool:
    """A folder with one folder for each sink."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, sink: str, message: Message) -> bool:
        """Promise `message` to `sink`; False if too many wait already."""
        folder = self.folder / sink
        folder.mkdir(parents=True, exist_ok=True)
        if sum(1 for _ in folder.glob("*.json")) >= MAX_WAITING:
            return False
        name = f"{time.time_ns():023d}-{message.id[:8]}"
        part = folder / f".{name}.part"
        with part.open("wb") as file:
            file.write(msgspec.json.encode(message))
            file.flush()
            os.fsync(file.fileno())
        part.replace(folder / f"{name}.json")
        return True

    def waiting(self, sink: str) -> Iterator[tuple[Path, Message]]:
        """The messages of a sink, oldest first. A damaged one is set aside."""
        for path in sorted((self.folder / sink).glob("*.json")):
            try:
                yield path, msgspec.json.decode(path.read_bytes(), type=Message)
            except FileNotFoundError:
                continue
            except msgspec.DecodeError:
                path.rename(path.with_suffix(".damaged"))

    @contextlib.contextmanager
    def alone(self, sink: str) -> Iterator[bool]:
        """One process delivers to a sink at a time: is it this one?"""
        (self.folder / sink).mkdir(parents=True, exist_ok=True)
        with (self.folder / sink / ".lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield False
                return
            yield True


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
                DESTINATIONS[name](message, setting)
            except ImportError as error:
                return f"{error.name or name} is not installed"
            except Exception as error:  # of a library or a server: whatever it is, the message waits
                return f"{type(error).__name__}: {str(error)[:200]}"
            path.unlink()
    return ""
