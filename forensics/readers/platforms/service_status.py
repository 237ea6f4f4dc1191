"""Reads the status with which the container of a service of docker compose ended.

trainer-1 exited with code 137

The wording is that of docker compose, pkg/compose/printer.go; version 1 has the same words.
"""

from forensics.core import lazy

EXITED = lazy.regex(r"(?<!\S)\S{1,80} exited with code (?P<status>\d{1,3})\s*$")


def service_status(text: str) -> int:
    """The status of the end that `text` tells, behind a time or not; 0 if it tells none, or a good one."""
    found = EXITED.search(text)
    return int(found["status"]) if found else 0
