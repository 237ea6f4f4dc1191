"""Dumps: binary and JSON documents that tell the state of one rank become typed values. Nothing in them is executed.

They are no lines of a log: `sources` asks what a file is, and shows what it holds as lines.
"""

from typing import TYPE_CHECKING

from forensics.sources.rank_dumps.base import DumpError, is_flight_recorder

if TYPE_CHECKING:
    from forensics.model.dumps import Dump


def read_flight_recorder(data: bytes, source: str) -> "Dump":
    """The dump in `data`; DumpError where it is damaged or not of this kind. `source`: its name, which tells the rank."""
    from forensics.sources.rank_dumps import flight_recorder  # loaded for no log

    return flight_recorder.read_flight_recorder(data, source)
