"""Runs llama.cpp's own HTTP server, which the xllamacpp wheel embeds, with the option names of llama-server.

Runs in the target's Python, where gpulaunch need not be installed: nothing but the standard library and xllamacpp.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any


def options() -> argparse.ArgumentParser:
    """Those of llama-server's options that the wheel can apply; another one is an error, exit 2."""
    parser = argparse.ArgumentParser(prog="xllamacpp_server", allow_abbrev=False)
    parser.add_argument("--model", required=True, help="a GGUF file")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--alias", help="the model's name in /v1/models")
    parser.add_argument("--api-key", help="requests must carry it")
    parser.add_argument("--ctx-size", type=int, default=0, help="tokens; 0: the model's own")
    parser.add_argument("--parallel", type=int, default=1, help="requests at once")
    parser.add_argument("--threads", type=int, default=-1)
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--n-gpu-layers", type=int)
    parser.add_argument("--metrics", action="store_true", help="serve /metrics")
    parser.add_argument("--no-warmup", action="store_true")
    return parser


def main(arguments: list[str]) -> int:
    """Serves until SIGTERM or SIGINT, then until no request is in work; exit 0, or 1 where it cannot serve.

    While the model loads, either signal ends the process at once: nothing is lost.
    """
    wished = options().parse_args(arguments)
    try:
        import xllamacpp
    except ImportError as error:
        return _cannot(f"{sys.executable} cannot import xllamacpp: {error}")
    if not Path(wished.model).is_file():
        return _cannot(f"{wished.model} is no file")
    # Its constructor returns when the model is loaded and holds the interpreter until then: no handler of ours would
    # run, so Ctrl-C has its own effect, too.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        server = xllamacpp.Server(parameters(xllamacpp, wished))
    except RuntimeError as error:
        return _cannot(f"llama.cpp does not serve {wished.model}: {error}")
    asked_to_stop = _stop_signals()
    print(f"listening on {server.listening_address}", flush=True)
    asked_to_stop.recv(1)
    print("stopping", flush=True)
    _until_idle(server.listening_address, wished.api_key)
    # Not by its destructor: that ends the main loop and then waits for ever for a client whose answer was to come from
    # that loop (xllamacpp 2026.10.11549).
    os._exit(0)


def _cannot(sentence: str) -> int:
    print(f"xllamacpp_server: {sentence}", file=sys.stderr, flush=True)
    return 1


def _stop_signals() -> socket.socket:
    """Something to wait at: a byte comes with SIGTERM or SIGINT, whichever of llama.cpp's threads gets it."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    signal.set_wakeup_fd(theirs.detach())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _ends_at_once_the_next_time)
        signal.siginterrupt(number, False)
    return ours


def _ends_at_once_the_next_time(number: int, frame: object) -> None:
    signal.signal(number, signal.SIG_DFL)


def _until_idle(address: str, api_key: str | None) -> None:
    """Waits until every slot has been idle twice in a row: the last bytes of an answer leave after its slot is free."""
    idle = 0
    while idle < 2:
        idle = 0 if _is_working(address, api_key) else idle + 1
        time.sleep(0.05)


def _is_working(address: str, api_key: str | None) -> bool:
    """llama.cpp's own word for it. No answer in time: all its threads have work; any other failure: nothing to lose."""
    request = urllib.request.Request(f"{address}/slots", headers={"Authorization": f"Bearer {api_key}"})
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(request, timeout=10) as reply:
            return any(slot["is_processing"] for slot in json.load(reply))
    except OSError as problem:
        return isinstance(getattr(problem, "reason", problem), TimeoutError)
    except ValueError:
        return False


def parameters(xllamacpp: Any, wished: argparse.Namespace) -> Any:
    """llama.cpp's own parameters for the options."""
    found = xllamacpp.CommonParams()
    found.model.path = wished.model
    found.hostnames = [wished.host]
    found.port = wished.port
    found.n_ctx = wished.ctx_size
    found.n_parallel = wished.parallel
    found.warmup = not wished.no_warmup
    found.endpoint_metrics = wished.metrics
    found.cpuparams.n_threads = wished.threads
    if wished.alias:
        found.model_alias = {wished.alias}
    if wished.api_key:
        found.api_keys = [wished.api_key]
    if wished.batch_size is not None:
        found.n_batch = wished.batch_size
    if wished.n_gpu_layers is not None:
        found.n_gpu_layers = wished.n_gpu_layers
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
