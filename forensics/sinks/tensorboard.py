"""TensorBoard: the reason as a text beside the curves of the run."""

from collections.abc import Mapping
from typing import Any

from forensics.sinks.message import Message


def send(message: Message, setting: Mapping[str, Any]) -> None:
    """Write one event file into `folder`."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.text.metadata import create_summary_metadata
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
    from tensorboard.util.tensor_util import make_tensor_proto

    tensor = make_tensor_proto([message.text.encode()])
    value = Summary.Value(tag="forensics/reason", metadata=create_summary_metadata("forensics", ""), tensor=tensor)
    writer = EventFileWriter(str(setting["folder"]), filename_suffix=f".{message.id}")
    writer.add_event(Event(wall_time=message.time, step=0, summary=Summary(value=[value])))
    writer.close()
