"""What the operator sees, and where: data on standard output, ours on standard error. Set up by -q, -v and --no-color.

Colours only on a terminal (NO_COLOR and FORCE_COLOR as everywhere); lines are wrapped at words on a terminal alone, so
that a log or a pipe gets one fact a line, and a path is never torn apart.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TextIO

from launcher.errors import Refused
from launcher.report.findings import finding_lines
from launcher.report.lines import Line, render

PREFIX = "gpulaunch:"


@dataclass
class Screen:
    """The caller's two streams. The options of a command line change it before the command runs."""

    quiet: bool = False
    verbose: bool = False
    no_color: bool = False
    json: bool = False

    def show(self, lines: Iterable[Line]) -> None:
        """Data."""
        _write(sys.stdout, lines, "", self._colored(sys.stdout))

    def write(self, text: str) -> None:
        """Data for programs, as it is: bytes of names and values that are no UTF-8 stay what they are."""
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode(errors="surrogateescape"))
        sys.stdout.buffer.flush()

    def tell(self, lines: Iterable[Line]) -> None:
        """Ours, each line with our prefix."""
        _write(sys.stderr, lines, PREFIX, self._colored(sys.stderr))

    def say(self, sentence: str) -> None:
        """One sentence of ours."""
        self.tell([Line(sentence)])

    def refused(self, refused: Refused) -> None:
        """Every finding of what was not done."""
        self.tell(finding_lines(refused.findings))

    def _colored(self, stream: TextIO) -> bool:
        """https://no-color.org and https://force-color.org: set and not empty."""
        if self.no_color or os.environ.get("NO_COLOR"):
            return False
        return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def _write(stream: TextIO, lines: Iterable[Line], prefix: str, colored: bool) -> None:
    width = shutil.get_terminal_size().columns if stream.isatty() else None
    render(lines, stream, prefix=prefix, width=width, colored=colored)
