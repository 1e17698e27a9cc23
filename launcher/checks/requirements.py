"""Does the target hold what the profile requires?"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from launcher import findings
from launcher.checks.command import Command
from launcher.model import Finding
from launcher.situation import Situation


def check(situation: Situation, command: Command) -> Iterator[Finding]:
    """Unmet is an error, unreadable "could not tell"."""
    for name, specifier in situation.profile.requires.items():
        where = situation.asked.where(f"requires.{name}")
        if situation.target is None or situation.target.packages is None:
            yield findings.note(
                "requirement-unknown", f"Could not tell whether the target has {name} {specifier}.", where=where
            )
            continue
        version = situation.target.packages.get(canonicalize_name(name))
        if version is None or not _meets(version, specifier):
            has = f"it has {version}" if version else "it is not installed"
            yield findings.error(
                "requirement-unmet",
                f"The profile requires {name} {specifier}; in {situation.target.path} {has}.",
                fix=f"{situation.target.path} -m pip install '{name}{specifier}', or change requires.",
                where=where,
            )


def _meets(version: str, specifier: str) -> bool:
    """Local parts such as +cu130 do not count; a pre-release that is installed counts."""
    try:
        return SpecifierSet(specifier).contains(Version(version).public, prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return False
