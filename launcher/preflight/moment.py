"""What is asked about, and where the machine's own files are: in tests they are a described tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from launcher.model import Facts, Gpu, Plan
from launcher.profile.schema import Profile
from launcher.supervise import gpu_memory
from launcher.supervise.gpu_memory import Looked
from launcher.wanted_gpus import wanted_gpus


@dataclass(frozen=True, kw_only=True)
class Moment:
    """The plan that is about to be carried out, by whoever asks: access is judged for this very process."""

    plan: Plan
    profile: Profile
    facts: Facts
    dev: Path = Path("/dev")
    proc: Path = Path("/proc")
    programs: tuple[Path, ...] = (Path("/usr/bin"), Path("/usr/local/bin"), Path("/sbin"))
    nvml: Callable[[], Looked] = gpu_memory.look

    @property
    def wanted(self) -> tuple[Gpu, ...]:
        """The GPUs that the server will use."""
        return wanted_gpus(self.plan, self.profile)

    @property
    def asks_for_gpus(self) -> bool:
        """True if it cannot run without any."""
        wish = self.profile.gpus
        return bool(wish.count or wish.capability or wish.select or self.wanted)

    @cached_property
    def looked(self) -> Looked:
        """NVML's answer, asked once."""
        return self.nvml()
