"""A disk that is really full: a small file system of its own for what a run keeps."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tests.launching import Launch
from tests.survivors import Corral

pytestmark = pytest.mark.host

SPAM = 20_000_000
SMALL = 'mount -t tmpfs -o size=4m none "$XDG_STATE_HOME"; exec "$@"'


def test_a_full_disk_neither_stops_the_server_nor_what_is_shown(tmp_path: Path) -> None:
    with Corral() as corral:
        launch = Launch(corral, tmp_path)
        (tmp_path / "state").mkdir()
        digest = tmp_path / "digest"
        before = ("unshare", "--mount", "sh", "-euc", SMALL, "sh")
        launch.start("--spam", SPAM, "--spam-digest", digest, "--exit", 6, ready=False, before=before)
        assert launch.wait(60) == 6
        assert hashlib.sha256(launch.output).hexdigest() == json.loads(digest.read_text())["stdout"]["sha256"]
        assert launch.errors.count("the log cannot be written: No space left on device") == 1
        assert "bytes are missing in the log" in launch.errors
        assert corral.survivors() == []
        launch.remove_locks()
