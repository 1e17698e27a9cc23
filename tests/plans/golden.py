"""Golden plans: what each shipped profile does on described machines, whole, in files that are reviewed.

`python -m tests.plans.golden` writes them anew and keeps the paragraph at the end, which a person wrote: why CUDA_HOME,
PATH, the architecture list and argv are right. A change of a rule shows in the difference, for every profile.
"""

from __future__ import annotations

from pathlib import Path

from launcher.facts.document import load
from launcher.model import Facts, Plan, Request
from launcher.paths import places
from launcher.planning import make_plan
from launcher.profile.load import load_profile
from launcher.report.golden import golden

HERE = Path(__file__).parent
MACHINES = HERE.parent / "machines"
CASES = (
    ("demo", "desktop"),
    ("demo", "laptop"),
    ("kimi-k26-dflash", "founding"),
    ("kimi-k26-dflash", "founding-with-wheel-13.0"),
    ("kimi-k26-dflash", "founding-with-system-13.0"),
    ("kimi-k26-dflash", "laptop"),
    ("qwen3-0.6b", "workstation"),
    ("qwen3-0.6b", "laptop"),
    ("qwen3-8b", "workstation"),
    ("qwen3-8b", "laptop"),
)
WHY = "\nwhy this is right\n"


def path(profile: str, machine: str) -> Path:
    """The file of a golden plan."""
    return HERE / f"{profile}@{machine}.txt"


def machine(name: str) -> Facts:
    """A described machine."""
    return load(str(MACHINES / f"{name}.json"))


def plan(profile: str, there: Facts) -> Plan:
    """The plan of a shipped profile on a machine; nothing of this machine is read but the profile."""
    environ = there.caller.environ
    asked = load_profile(profile, environ=environ, places=places(environ, home=None, uid=1), cwd="/", uid=None)
    return make_plan(asked, there, Request())


def rendered(profile: str, name: str) -> str:
    """The plan as text."""
    return golden(plan(profile, machine(name)))


def paragraph(file: Path) -> str:
    """What a person wrote at the end of a file; empty for a new one."""
    return file.read_text(encoding="utf-8").partition(WHY)[2] if file.exists() else ""


def main() -> None:
    """Writes every plan, keeps every paragraph."""
    for profile, name in CASES:
        file = path(profile, name)
        why = paragraph(file) or "  (not written yet)\n"
        file.write_text(rendered(profile, name) + WHY + why, encoding="utf-8")


if __name__ == "__main__":
    main()
