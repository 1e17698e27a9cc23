"""What `gpulaunch selftest` must find wanting: a supervisor as simple ones are.

`python plain_launcher.py FOLDER PROFILE` starts the profile's command, says that it is ready when it answers,
and passes SIGTERM on to its one child.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.hostiles import health


def main(profile: dict[str, object]) -> int:
    command = [os.path.expandvars(word) for word in profile["command"]]  # type: ignore[attr-defined]
    child = subprocess.Popen(command)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    port = int(command[command.index("--port") + 1])
    while health(port) != 200:
        time.sleep(0.02)
    print("gpulaunch: ready: http", file=sys.stderr, flush=True)
    child.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main(json.loads(Path(sys.argv[2]).read_text())))
