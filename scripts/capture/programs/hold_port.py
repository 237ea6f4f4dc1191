"""Listens on port 29500, as a forgotten job would."""

import pathlib
import socket
import time

with socket.socket() as listener:
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("0.0.0.0", 29500))
    listener.listen()
    pathlib.Path("held").write_text("yes")
    time.sleep(60)
