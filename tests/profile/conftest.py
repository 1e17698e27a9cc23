"""A folder for profiles and somebody who loads them, with a home and an environment of their own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from launcher.errors import Refused
from launcher.model import Finding
from launcher.paths import Places
from launcher.profile.asked import Asked
from launcher.profile.load import load_profile

MINIMAL = "schema: 1\nname: mine\nengine: sglang\n"
# Whoever runs the tests; never root, for whom other rules hold.
USER = os.getuid() or 1000


@dataclass
class Bench:
    """Profiles by path lie in `work`, profiles by name in `named`; the shipped ones can be named, too."""

    work: Path
    named: Path
    home: Path
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def places(self) -> Places:
        """Only the folder for names, so that nothing of this machine is seen."""
        empty = str(self.home / "nothing")
        return Places(
            state=empty, cache=empty, data=empty, locks=empty, profiles=(str(self.named),), home=str(self.home)
        )

    def write(self, text: str, name: str = "mine.yaml") -> str:
        """A file in the working folder; returns its reference."""
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        _written(path, text)
        return f"./{name}"

    def name(self, text: str, name: str = "mine") -> str:
        """A file in the profile folder; returns its name."""
        _written(self.named / f"{name}.yaml", text)
        return name

    def load(self, reference: str, *, environ: Mapping[str, str] | None = None, uid: int = USER) -> Asked:
        """What a reference comes to."""
        variables = {"HOME": str(self.home), **self.environ, **(environ or {})}
        return load_profile(reference, environ=variables, places=self.places, cwd=str(self.work), uid=uid)

    def refused(
        self, reference: str, *, environ: Mapping[str, str] | None = None, uid: int = USER
    ) -> tuple[Finding, ...]:
        """Why a reference is refused."""
        with pytest.raises(Refused) as refusal:
            self.load(reference, environ=environ, uid=uid)
        return refusal.value.findings

    def asked(self, lines: str, **environ: str) -> Asked:
        """A small sglang profile with these lines below."""
        return self.load(self.write(MINIMAL + lines), environ=environ)

    def problems(self, lines: str, **environ: str) -> list[str]:
        """What is wrong with these lines below a small sglang profile, the first of them being line 1."""
        found = self.refused(self.write(MINIMAL + lines), environ=environ)
        return [f"{(finding.line or 0) - MINIMAL.count(chr(10))}: {finding.message} {finding.fix}" for finding in found]

    def problem(self, lines: str, **environ: str) -> str:
        """The one thing that is wrong with these lines."""
        (only,) = self.problems(lines, **environ)
        return only


def _written(path: Path, text: str) -> None:
    """Whatever the umask is, nobody else can write to it."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)
    path.parent.chmod(0o755)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Nobody else can write to these folders."""
    work, named, home = (tmp_path / name for name in ("work", "named", "home"))
    for folder in (work, named, home):
        folder.mkdir()
        folder.chmod(0o755)
    return Bench(work, named, home)


def told(findings: tuple[Finding, ...]) -> list[str]:
    """Findings as people see them."""
    return [f"{finding.file}:{finding.line}: {finding.message} {finding.fix}" for finding in findings]


def codes(findings: tuple[Finding, ...]) -> list[str]:
    """The codes of findings."""
    return [finding.code for finding in findings]
