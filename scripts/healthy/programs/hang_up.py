"""A client that asks for a large file and hangs up after the first bytes."""

import socket
import struct
import sys

with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as client:
    client.sendall(f"GET {sys.argv[2]} HTTP/1.0\r\n\r\n".encode())
    client.recv(100)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
