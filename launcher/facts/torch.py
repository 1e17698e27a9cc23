"""What `torch/version.py` says, read as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from launcher.model import Torch

_VERSION = re.compile(r"^__version__\s*(?::[^=]+)?=\s*['\"](?P<value>[^'\"]+)['\"]", re.MULTILINE)
_CUDA = re.compile(r"^cuda\s*(?::[^=]+)?=\s*(?:['\"](?P<value>[^'\"]+)['\"]|None)", re.MULTILINE)


def parse(text: str) -> tuple[str | None, str | None]:
    """Version and CUDA release (None for a build without CUDA). Pure."""
    version, cuda = _VERSION.search(text), _CUDA.search(text)
    return version["value"] if version else None, cuda["value"] if cuda else None


def read(sites: Iterable[Path]) -> Torch | None:
    """The first torch of these folders; None where there is none."""
    for site in sites:
        file = site / "torch/version.py"
        try:
            version, cuda = parse(file.read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
        if version:
            return Torch(version=version, cuda=cuda, file=str(file))
    return None
