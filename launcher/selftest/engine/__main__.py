"""`python -I -S launcher/selftest/engine --port 8000 --worker ...`: the whole life of one hostile server."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))  # where `launcher` lies: -I knows no folder of ours

from launcher.selftest.engine import LIFETIME, TICK
from launcher.selftest.engine.answers import listens
from launcher.selftest.engine.files import segment, write_whole
from launcher.selftest.engine.options import arguments
from launcher.selftest.engine.server import Server
from launcher.selftest.engine.streams import show_progress, spam, speak
from launcher.selftest.engine.workers import start_worker, take_title


def main(words: list[str]) -> int:
    options = arguments(words)
    signal.alarm(LIFETIME)
    everything = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT}
    # A blocked signal waits for us even where its disposition is to ignore it: nohup's HUP must stay ignored.
    watched = {number for number in everything if signal.getsignal(number) != signal.SIG_IGN}
    signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    server = Server(options, watched)

    for number in range(options.worker):
        pid, life = start_worker(options, number)
        server.workers.append(pid)
        server.lives.append(life)
    if options.setproctitle:
        take_title(b"renamed server")
    segments = [segment(name.format(pid=os.getpid())) for name in options.leave_shm]  # mapped as long as it runs
    speak(options)
    if options.port is not None and not (options.listen_when_ready or listens(server)):
        return 1
    if options.pid_file is not None:
        lines = [{"role": "server", "pid": os.getpid()}, *({"role": "worker", "pid": pid} for pid in server.workers)]
        write_whole(options.pid_file, "".join(json.dumps(line) + "\n" for line in lines))
    threading.Thread(target=work_off, args=(server,), daemon=True).start()
    code = server.run()
    for mapped in segments:
        mapped.close()
    return code


def work_off(server: Server) -> None:
    """What takes its time, in order; the server answers signals and questions meanwhile."""
    options = server.options
    show_progress(options)
    if options.spam is not None:
        spam(options)
    server.wrote_all.set()
    if options.listen_when_ready and options.port is not None:
        while not server.ready:
            time.sleep(TICK)
        if not listens(server):
            os._exit(1)
    while len(server.eaten) < options.eat:
        server.eaten += b"x" * min(16 << 20, options.eat - len(server.eaten))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
