"""A loaded profile: the validated value, where its keys stand, and what was noticed while loading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from launcher.model import Finding, Where
from launcher.profile.schema import Profile


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was asked.

    `file` is how the profile is named to people: its path, or `shipped/NAME.yaml` for one that came with us.
    `folder` is the folder of a profile given by path, else None: relative paths and the default cwd go by it.
    `lines` maps a dotted key path ("env.set.CUDA_HOME", "args.port") to where it stands.
    `secrets` holds the values that were expanded from secret variables.
    """

    profile: Profile
    file: str
    folder: str | None
    lines: Mapping[str, Where] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    secrets: frozenset[str] = frozenset()

    def where(self, key: str) -> Where:
        """Where a key stands, or its nearest parent that does; else the file alone."""
        while key:
            if key in self.lines:
                return self.lines[key]
            key = key.rpartition(".")[0]
        return Where(self.file, None)
