"""What every probe does: ask part by part, and print one line of JSON in the form of `launcher.model.Found`.

Standard library only: it runs in the target.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any


class Answer:
    """The answer as it grows. What raises is no part, but the name of its exception."""

    def __init__(self) -> None:
        self.parts: dict[str, Any] = {"path": None, "release": None, "archs": None}
        self.errors: dict[str, str] = {}

    def ask(self, part: str, function: Callable[[], Any]) -> None:
        """Notes what the function returns, or what it raises."""
        try:
            value = function()
        except Exception as error:
            self.errors[part] = type(error).__name__
            return
        if part in self.parts:
            self.parts[part] = value

    def show(self) -> dict[str, Any]:
        """The answer as a value that JSON knows."""
        return {**self.parts, "errors": self.errors}

    def print(self) -> None:
        """The last line of standard output."""
        sys.stdout.flush()
        print(json.dumps(self.show()), flush=True)
