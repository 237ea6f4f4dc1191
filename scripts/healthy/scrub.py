r"""A captured text without what names this machine, its Python's place or the network it stands in.

Collecting numpy
  Downloading https://HOST/numpy-2.4.6.whl (16 MB)    ->    Downloading https://index.example/numpy-2.4.6.whl (16 MB)
"""

import os
import re
import sys

URL = re.compile(r"\b(https?|ftp)://(?!localhost|127\.0\.0\.1|node-1)[^\s/'\"<>)\]]+")
HOST = re.compile(r"\b[\w-]+(?:\.[\w-]+)*\.(?:org|com|net|io|dev|internal)\b")
ADDRESS = re.compile(r"\b(?!127\.|0\.0\.0\.0|255\.)(?:\d{1,3}\.){3}\d{1,3}\b(?=[:/\s,)])")
SOURCES = re.compile(
    r"^(?:Looking in (?:indexes|links)|Get:\d|Hit:\d|Ign:\d|WARNING: Location|npm (?:http|verbose)).*\n", re.MULTILINE
)
PYTHON = re.compile(re.escape(sys.base_prefix))
TOKEN = re.compile(r"token=[0-9a-f]{32,}")


def scrubbed(text: str) -> str:
    """`text` with neutral hosts, addresses, tokens and kernel release; lines that only name a package host are left out."""
    release = os.uname().release
    text = SOURCES.sub("", text).replace(release, release.split("-")[0])
    text = PYTHON.sub("/opt/python", text)
    text = URL.sub(r"\1://index.example", TOKEN.sub("token=...", text))
    return ADDRESS.sub("192.0.2.1", HOST.sub("index.example", text))
