"""Dumps: binary and JSON documents that tell the state of one rank become typed values. Nothing in them is executed.

They are no lines of a log, so `sources` asks this room what a file is, and shows what it holds as lines.
"""

from forensics.dumps.base import DumpError
from forensics.dumps.flight_recorder import is_flight_recorder, read_flight_recorder

__all__ = ["DumpError", "is_flight_recorder", "read_flight_recorder"]
