"""Runs in gpulaunch's own environment: what our facts say of each environment on standard input, machine by machine.

The roots and the folders of PATH, as `launcher.facts` sees them.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from entering import answer_all

from launcher.facts import folders, roots


def answered(question: dict[str, Any]) -> Any:
    environ = question["environ"]
    on_path, _ = folders.look(environ, None, (), ())
    return {
        "roots": [dataclasses.asdict(root) for root in roots.look(environ, on_path, None, ())],
        "tools": [dataclasses.asdict(tool) for tool in roots.tools(environ)],
        "folders": {folder.path: folder.programs for folder in on_path},
    }


if __name__ == "__main__":
    answer_all(answered)
