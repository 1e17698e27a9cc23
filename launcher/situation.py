"""What a decision may know: the wish, the facts and what was decided before it. A frozen value, handed to every
consumer, engine and check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from launcher.model import Choice, Facts, Target
from launcher.paths import Places

if TYPE_CHECKING:  # the supervisor needs the consumers' rules without the profile's schema
    from launcher.profile.asked import Asked
    from launcher.profile.schema import Profile

ASSUMED = "assumed: the target could not be read"


@dataclass(frozen=True, kw_only=True)
class Situation:
    """`packages` maps distributions in the target to versions; None: assumed to be there (`assumed`), version unknown.

    `capabilities` are the compute capabilities to build for, ascending; empty where none could be told.
    """

    asked: Asked
    facts: Facts
    places: Places
    packages: Mapping[str, str | None] = field(default_factory=dict)
    assumed: bool = False
    capabilities: tuple[str, ...] = ()
    choice: Choice | None = None

    @property
    def profile(self) -> Profile:
        """What was asked for."""
        return self.asked.profile

    @property
    def target(self) -> Target | None:
        """Whose Python serves."""
        return self.facts.target

    @property
    def torch_cuda(self) -> str | None:
        """The CUDA release that the target's torch was built for; None without torch, without CUDA or unread."""
        torch = self.facts.target.torch if self.facts.target else None
        return torch.cuda if torch else None

    def has(self, package: str) -> bool:
        """True if a distribution is in the target, or assumed to be."""
        return package in self.packages

    def version(self, package: str) -> str | None:
        """A distribution's version; None where it is absent or only assumed."""
        return self.packages.get(package)

    def because(self, reason: str) -> str:
        """The reason, marked where it rests on an assumption about the target."""
        return f"{reason} ({ASSUMED})" if self.assumed else reason
