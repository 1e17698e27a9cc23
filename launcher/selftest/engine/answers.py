"""What it says over HTTP: /health, /metrics and a token."""

from __future__ import annotations

import contextlib
import errno
import json
import threading
import time

from launcher.selftest.engine import LIFETIME, METRICS
from launcher.selftest.engine.files import write_all
from launcher.selftest.engine.server import Server


def listens(server: Server) -> bool:
    """Answers from now on, in threads that do not hold up the end. False where the port is taken."""
    from socketserver import StreamRequestHandler, ThreadingTCPServer

    options = server.options

    class Handler(StreamRequestHandler):
        """HTTP/1.0, as far as it is needed: http.server would double the time that it takes to start."""

        def handle(self) -> None:
            words = self.rfile.readline().decode("latin-1").split()
            self.rfile.read(self.length_of_body())
            if len(words) >= 2:
                status, body = answer(server, words[0], words[1].partition("?")[0])
                head = f"HTTP/1.0 {status} -\r\nContent-Length: {len(body)}\r\nContent-Type: text/plain\r\n\r\n"
                with contextlib.suppress(OSError):
                    self.wfile.write(head.encode() + body.encode())
                    if status == 200 and words[1] == "/health":
                        server.answered.set()

        def length_of_body(self) -> int:
            length = 0
            while header := self.rfile.readline().strip():
                name, _, value = header.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            return length

    class Listener(ThreadingTCPServer):
        allow_reuse_address, daemon_threads, request_queue_size = True, True, 128

        def handle_error(self, request: object, client_address: object) -> None:
            """Whoever asked is gone: nobody is to be told."""

    try:
        listener = Listener((options.host, options.port), Handler)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        where = (options.host, options.port)
        write_all(2, f"ERROR: [Errno {errno.EADDRINUSE}] {where}: address already in use\n".encode())
        while options.port_taken == "hang":
            time.sleep(LIFETIME)
        return False
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    return True


def answer(server: Server, method: str, path: str) -> tuple[int, str]:
    """Status and body; it may take for ever."""
    options = server.options
    if server.hangs:
        time.sleep(LIFETIME)
    if method == "POST" and path in ("/v1/completions", "/v1/chat/completions", "/generate"):
        return generation(server)
    if method == "GET" and path == "/health":
        time.sleep(LIFETIME if options.health == "hangs" else options.health_delay)
        return (200 if server.healthy else 503), ""
    if method == "GET" and path == "/metrics" and options.metrics is not None:
        return 200, metrics(server)
    if method == "GET" and path == "/v1/models":
        return 200, json.dumps({"object": "list", "data": [{"id": "tiny", "object": "model"}]})
    return 404, ""


def generation(server: Server) -> tuple[int, str]:
    """One token, an error, or nothing for ever."""
    if server.options.generate == "hangs" or server.stalls:
        time.sleep(LIFETIME)
    if server.options.generate == "errs" or not server.ready:
        return 500, json.dumps({"error": {"message": "the engine is dead"}})
    server.tokens += 1
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    choice = {"index": 0, "text": "x", "finish_reason": "length"}
    return 200, json.dumps({"model": "tiny", "choices": [choice], "usage": usage})


def metrics(server: Server) -> str:
    """In Prometheus' text format."""
    running, waiting, tokens = METRICS[server.options.metrics]
    rows = ((running, "gauge", server.options.requests), (waiting, "gauge", 0), (tokens, "counter", server.tokens))
    return "".join(
        f'# TYPE {name} {kind}\n{name}{{engine="0",model_name="tiny"}} {float(value)}\n' for name, kind, value in rows
    )
