"""A launch with its locks in a folder of its own: `python -m launcher.cli.apart FOLDER PROFILE`, for the self-test.

Other folders follow the environment; locks of root do not. A self-test must neither be refused for a server that runs,
nor keep one from starting.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from launcher.cli import story
from launcher.cli.screen import Screen
from launcher.errors import Refused

# Also where gpulaunch is not installed, but runs from its own folder.
_BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from launcher.cli import apart; sys.exit(apart.main())"


def command(folder: Path, profile: Path) -> Sequence[str]:
    """The command line of such a launch."""
    return (sys.executable, "-c", _BOOT, str(Path(__file__).resolve().parents[2]), str(folder), str(profile))


def main() -> int:
    """The exit code of the launch."""
    folder, profile = sys.argv[1:]
    here, screen = story.here(), Screen()
    at = replace(here, places=replace(here.places, locks=f"{folder}/locks"))
    try:
        return story.launch(story.Wish(profile=profile), "here", at, screen, verify=False)
    except Refused as refused:
        screen.refused(refused)
        return refused.exit_code


if __name__ == "__main__":
    sys.exit(main())
