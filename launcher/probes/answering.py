"""What every probe does: ask part by part, and print one line of JSON in the form of `launcher.model.Found`.

Standard library only: it runs in the target.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
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


def folder_of(package: str) -> Path:
    """Where a package lies, without importing it. Raises ImportError where it is not installed."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ImportError(package)
    return Path(spec.origin).parent


def module_of(package: str, file: str) -> Any:
    """One file of a package as a module, without what the package's import would load."""
    path = folder_of(package) / file
    name = f"{package}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
