"""What the operator sees, and where: data on standard output, ours on standard error. Set up by -q, -v and --no-color.

Colours only on a terminal (NO_COLOR and FORCE_COLOR as everywhere); lines are wrapped at words on a terminal alone, so
that a log or a pipe gets one fact a line, and a path is never torn apart.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from launcher.cli.voice import STANDARD_ERROR, Voice
from launcher.errors import Refused
from launcher.report.findings import finding_lines
from launcher.report.lines import Line, render

PREFIX = "gpulaunch:"
STANDARD_OUTPUT = 1


@dataclass
class Screen:
    """The caller's two streams. The options of a command line change it before the command runs."""

    quiet: bool = False
    verbose: bool = False
    no_color: bool = False
    voice: Voice = field(default_factory=Voice)

    def show(self, lines: Iterable[Line]) -> None:
        """Data for people."""
        self.write(self._rendered(lines, STANDARD_OUTPUT, ""))

    def write(self, text: str) -> None:
        """Data as it is: bytes of names and values that are no UTF-8 stay what they are."""
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode(errors="surrogateescape"))
        sys.stdout.buffer.flush()

    def tell(self, lines: Iterable[Line]) -> None:
        """Ours, each line with our prefix."""
        self.voice.say(self._rendered(lines, STANDARD_ERROR, PREFIX))

    def say(self, sentence: str) -> None:
        """One sentence of ours."""
        self.tell([Line(sentence)])

    def refused(self, refused: Refused) -> None:
        """Every finding of what was not done."""
        self.tell(finding_lines(refused.findings))

    def _rendered(self, lines: Iterable[Line], descriptor: int, prefix: str) -> str:
        text = io.StringIO()
        is_terminal = os.isatty(descriptor)
        width = shutil.get_terminal_size().columns if is_terminal else None
        render(lines, text, prefix=prefix, width=width, colored=self._is_colored(is_terminal))
        return text.getvalue()

    def _is_colored(self, is_terminal: bool) -> bool:
        """https://no-color.org and https://force-color.org: set and not empty."""
        if self.no_color or os.environ.get("NO_COLOR"):
            return False
        return bool(os.environ.get("FORCE_COLOR")) or (is_terminal and os.environ.get("TERM") != "dumb")
