"""A loaded profile: the validated value, where its keys stand, and what was noticed while loading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from launcher.model import Finding, Where
from launcher.profile import document
from launcher.profile.schema import Profile


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was asked.

    `file` is how the profile is named to people: its path as given, or `shipped/NAME.yaml` for one that came with us.
    `folder` is the absolute folder of a profile given by path, else None: relative paths and the default cwd go by it.
    `lines` maps a dotted key path ("env.set.CUDA_HOME", "args.port") to where it stands; keys of args are kebab.
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
        return document.where(self.lines, key, self.file)

    def working_folder(self, caller: str) -> str:
        """Where the server starts, and what relative paths of the profile (its target too) are relative to.

        `caller`: the absolute folder of whoever called.
        """
        base = self.folder or caller
        cwd = self.profile.cwd
        if not cwd:
            return base
        return cwd if cwd.startswith("/") else f"{base.rstrip('/')}/{cwd}"
