"""`gpulaunch` and `python -m launcher`: answers --version at once, hands everything else to the command line.

Must never import anything but the version before it knows that more is wanted: scripts ask for it in loops.
"""

from __future__ import annotations

import sys

from launcher import __version__


def main() -> int:
    """The exit code of what the caller asked for."""
    if sys.argv[1:2] == ["--version"]:
        print(f"gpulaunch {__version__}")
        return 0
    try:
        from launcher.cli import afresh, entry

        return entry.run(sys.argv[1:], afresh.command_line())
    except KeyboardInterrupt:  # also while our own modules are being imported
        return 130


if __name__ == "__main__":
    sys.exit(main())
