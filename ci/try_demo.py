"""Runs README's first command until its server answers a chat completion, then stops it; exit 0 if both went well."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

from readme import command

URL = "http://127.0.0.1:8090/v1/chat/completions"
QUESTION = {"messages": [{"role": "user", "content": "Hello?"}], "max_tokens": 8}
PATIENCE = 300.0  # seconds for the installation, too


def main() -> int:
    """The answer is printed: it comes from a random model."""
    shell = subprocess.Popen(["bash", "-ec", command(1)], start_new_session=True)
    try:
        answer = _answer(shell, time.monotonic() + PATIENCE)
        if answer is None:
            print(f"no answer from {URL}", file=sys.stderr)
            return 1
        print(f"answered: {answer}")
        # As a terminal does: Ctrl-C reaches the whole foreground group, bash and gpulaunch.
        os.killpg(shell.pid, signal.SIGINT)
        code = shell.wait(60)
        print(f"ended with {code}")
        return 0 if code in (130, -signal.SIGINT) else 1
    finally:
        if shell.poll() is None:
            os.killpg(shell.pid, signal.SIGTERM)
            shell.wait(60)


def _answer(shell: subprocess.Popen[bytes], until: float) -> str | None:
    request = urllib.request.Request(URL, json.dumps(QUESTION).encode(), {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < until and shell.poll() is None:
        try:
            with opener.open(request, timeout=30) as reply:
                return str(json.load(reply)["choices"][0]["message"])
        except (OSError, urllib.error.HTTPError):
            time.sleep(0.5)
    return None


if __name__ == "__main__":
    sys.exit(main())
