"""Answers a path badly twice and then well: an overload, a reset, a slow answer; a Retry-After."""

import collections
import http.server
import socket
import struct
import time

seen: collections.Counter[str] = collections.Counter()


class Flaky(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        seen[self.path] += 1
        again = seen[self.path]
        if again == 1:
            self.send_error(503 if "flaky" in self.path else 429)
        elif again == 2 and "reset" in self.path:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        elif again == 2:
            time.sleep(3)
        else:
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")


http.server.ThreadingHTTPServer(("127.0.0.1", 8099), Flaky).serve_forever()
