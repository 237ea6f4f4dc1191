"""Pickles made to do harm, and a plain one to make them of."""

import os
import pickle
from typing import Any


def plain(**more: Any) -> dict[str, Any]:
    """The values of a small dump."""
    entry = {
        "record_id": 0,
        "pg_id": 0,
        "process_group": ("0", "default_pg"),
        "collective_seq_id": 1,
        "p2p_seq_id": 0,
        "op_id": 1,
        "profiling_name": "nccl:all_reduce",
        "time_created_ns": 1_795_897_461_000_000_000,
        "input_sizes": [[8]],
        "input_dtypes": ["Float"],
        "output_sizes": [[8]],
        "output_dtypes": ["Float"],
        "state": "scheduled",
        "retired": False,
        "is_p2p": False,
        "frames": [{"name": "step", "filename": "/run/train.py", "line": 16}],
    }
    status = {"last_enqueued_collective": 1, "last_started_collective": -1, "last_completed_collective": 0}
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}
    return {"version": "2.10", "pg_config": config, "pg_status": {"0": status}, "entries": [entry]} | more


class Caller:
    """Calls a function when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.system, ("touch /tmp/pickle_was_executed",)


def cyclic() -> bytes:
    """A list of entries that holds itself."""
    entries: list[Any] = []
    entries.append(entries)
    return pickle.dumps(plain(entries=entries), 2)


def bomb() -> bytes:
    """Each of many calls has the same very long list of frames: small in the file, large when each is read."""
    frames = [{"name": "f", "filename": "a.py", "line": 1}] * 60_000
    entry = {**plain()["entries"][0], "frames": frames}
    return pickle.dumps(plain(entries=[entry] * 10_000), 4)


HEAD = b"\x80\x02}(X\x07\x00\x00\x00version"
HOSTILE = {
    "calls": pickle.dumps(plain(entries=[Caller()]), 2),
    "calls_protocol_4": pickle.dumps(plain(entries=[Caller()]), 4),
    "class": HEAD + b"cbuiltins\neval\n(X\x04\x00\x00\x001+1 tR.",
    "extension": HEAD + b"\x82\x01pg_config.",
    "two_gigabytes": HEAD + b"X\xff\xff\xff\x7fpg_config",
    "eight_exabytes": HEAD + b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7fpg_config",
    "long_number": HEAD + b"\x8b\xff\xff\xff\x7fpg_config",
    "large_memo": HEAD + b"r\xff\xff\xff\x7fX\x09\x00\x00\x00pg_configs.",
    "cut": pickle.dumps(plain(), 2)[:-40],
    "no_stop": pickle.dumps(plain(), 2)[:-1],
    "cyclic": cyclic(),
    "bomb": bomb(),
    "deep": HEAD + b"X\x09\x00\x00\x00pg_config" + b"]" * 50_000 + b"a" * 49_999 + b"su.",
    "no_values": HEAD + b"X\x09\x00\x00\x00pg_configu" * 3 + b".",
    "other_types": pickle.dumps(plain(entries={"a": 1}), 2),
    "text_for_number": pickle.dumps(plain(entries=[{**plain()["entries"][0], "collective_seq_id": "x"}]), 2),
    "huge_number": pickle.dumps(
        plain(entries=[{**plain()["entries"][0], "collective_seq_id": 2**62, "time_created_ns": 2**70}]), 2
    ),
    "half_a_character": pickle.dumps(plain(entries=[{**plain()["entries"][0], "process_group": "\ud800"}]), 2),
    "version_9": pickle.dumps(plain(version="9.1"), 2),
}
