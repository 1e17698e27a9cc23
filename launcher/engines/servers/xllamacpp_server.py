"""Runs llama.cpp's own HTTP server, which the xllamacpp wheel embeds, with the option names of llama-server.

Runs in the target's Python, where gpulaunch need not be installed: nothing but the standard library and xllamacpp.
"""

from __future__ import annotations

import argparse
import signal
import sys
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
    """Serves until SIGTERM or SIGINT; exit 0 then."""
    wished = options().parse_args(arguments)
    import xllamacpp

    signals = {signal.SIGTERM, signal.SIGINT}
    # Before the server starts its threads, which inherit the mask: the signal is ours alone.
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    server = xllamacpp.Server(parameters(xllamacpp, wished))
    print(f"listening on {server.listening_address}", flush=True)
    signal.sigwait(signals)
    print("stopping", flush=True)
    return 0


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
