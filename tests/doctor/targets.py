"""A target whose Python is a small script: it answers as the libraries would, and notes that it was asked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from launcher.consumers import CONSUMERS

# Answers in the words of the environment that it runs in: what gpulaunch predicts for a root without a compiler.
RIGHT = """\
say() { printf '{"path": "%s", "release": "13.0", "archs": %s, "errors": {}}\\n' "$CUDA_HOME" "$1"; }
case "$2" in
*/ask_torch.py) say null ;;
*/ask_flashinfer.py) say '["12.0f"]' ;;
*) exit 9 ;;
esac
"""
STALE = """\
wrong='{"path": "/usr/local/cuda", "release": "12.8", "archs": [], "errors": {"check": "RuntimeError"}}'
case "$2" in
*/ask_flashinfer.py) echo "$wrong"; exit ;;
esac
"""
HANGS = 'echo $$ > "$0.hangs.$$"\nexec tail -f /dev/null\n'
PACKAGES = {"torch": "2.11.0", "flashinfer-python": "0.6.8"}
PROFILE = """\
schema: 1
name: server
engine: command
command: [sh, -c, {script}]
ready: none
target: {{venv: {venv}}}
cuda: {{toolkit: hide, arch: ["12.0"]}}
"""


@dataclass(frozen=True)
class FakeTarget:
    """A prefix with bin/python and the metadata of packages."""

    folder: Path

    @property
    def python(self) -> Path:
        """What stands for the interpreter."""
        return self.folder / "bin/python"

    @property
    def asked(self) -> list[str]:
        """The probes that it was given, in the order of their names."""
        notes = self.folder / "asked"
        return sorted(Path(line).name for line in notes.read_text().splitlines()) if notes.exists() else []

    def answers(self, script: str) -> FakeTarget:
        """From now on it runs this, after it has noted which probe it was given."""
        self.python.write_text(f'#!/bin/sh\necho "$2" >> "{self.folder}/asked"\n{script}')
        self.python.chmod(0o755)
        return self

    def profile(self, script: str = "exit 3", more: str = "") -> str:
        """A server that is a shell script, served from here."""
        return PROFILE.format(script=json.dumps(script), venv=self.folder) + more


def a_target(folder: Path, packages: dict[str, str] | None = None, script: str = RIGHT) -> FakeTarget:
    """By default torch 2.11.0 for CUDA 13.0 and FlashInfer 0.6.8, which find what they should."""
    site = folder / "lib/python3.11/site-packages"
    for name, version in (PACKAGES if packages is None else packages).items():
        (site / f"{name.replace('-', '_')}-{version}.dist-info").mkdir(parents=True)
    site.mkdir(parents=True, exist_ok=True)
    (folder / "bin").mkdir()
    if packages is None or "torch" in packages:
        (site / "torch").mkdir()
        (site / "torch/version.py").write_text("__version__ = '2.11.0+cu130'\ncuda: str | None = '13.0'\n")
    return FakeTarget(folder).answers(script)


PROBED = sorted(consumer.PROBE for consumer in CONSUMERS if consumer.PROBE and consumer.PACKAGE in PACKAGES)
