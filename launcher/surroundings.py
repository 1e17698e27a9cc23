"""What a process meets that looks for CUDA: its environment, and what stands where lookups ask. Pure.

The same value describes the caller's shell and the planned child, so that one prediction serves both: a prediction is
the library's rule, said again over this value, and imports nothing of the library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from launcher.model import Root, Tool


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """`roots` by their spelling and `folders` (of PATH) with the programs that can be run from each.

    A spelling that is not in `roots` was not looked at: `root` raises Unforeseen, and the prediction is "could not
    tell". `capabilities` are those of the GPUs that the process sees, in its order; empty: none, or not known.
    """

    environ: Mapping[str, str]
    roots: Mapping[str, Root] = field(default_factory=dict)
    folders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tools: Mapping[str, Tool] = field(default_factory=dict)
    packages: Mapping[str, str | None] = field(default_factory=dict)
    torch_cuda: str | None = None
    capabilities: tuple[str, ...] = ()
    site_packages: tuple[str, ...] = ()

    def said(self, *names: str) -> str | None:
        """The first of these variables that is set and not empty."""
        return next((self.environ[name] for name in names if self.environ.get(name)), None)

    def which(self, program: str) -> str | None:
        """Where PATH finds a program that can be run, as which(1) spells it. Raises Unforeseen for an entry that nobody
        looked at before the one that has it.
        """
        for entry in self.environ.get("PATH", "").split(":"):
            if entry not in self.folders:
                raise Unforeseen(entry)
            if program in self.folders[entry]:
                return f"{entry or '.'}/{program}"
        return None

    def tool(self, path: str) -> Tool:
        """The program that a variable names. Raises Unforeseen where nobody looked."""
        if path not in self.tools:
            raise Unforeseen(path)
        return self.tools[path]

    def root(self, spelling: str) -> Root:
        """What stands there. Raises Unforeseen where nobody looked."""
        if spelling not in self.roots:
            raise Unforeseen(spelling)
        return self.roots[spelling]


class Unforeseen(LookupError):
    """A lookup leads to a place that the facts do not describe: what it finds cannot be told."""
