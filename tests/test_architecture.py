"""The import arrows of ARCHITECTURE.md: deciding touches nothing, everything points at the model, no circles."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "launcher"

# The world: a module that decides imports none of it.
WORLD = {
    "os",
    "sys",
    "subprocess",
    "time",
    "signal",
    "socket",
    "shutil",
    "pathlib",
    "threading",
    "psutil",
    "pynvml",
    "select",
}
DECIDING = (
    "model", "errors", "findings", "explanations", "secrets", "paths", "architectures", "situation", "gpu_selection",
    "surroundings", "diagnosis",
    "variables", "caches", "planning", "consumers", "checks", "engines", "supervise.lifecycle",
    "capture.masker", "capture.shapes", "capture.plain", "capture.pieces", "capture.progress", "capture.repeats",
    "capture.lines", "capture.ranks", "capture.records",
    "profile.scalars", "profile.schema", "profile.expand",
)  # fmt: skip
NOT_DECIDING = ("engines.servers",)  # programs that run in the target


def arrows() -> dict[str, set[str]]:
    """What each part may import of ours, as ARCHITECTURE.md draws it: lines `part -> a, b` in its block of arrows."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```arrows\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    drawn: dict[str, set[str]] = {}
    for line in block.splitlines():
        parts, _, targets = line.partition("->")
        for part in parts.split(","):
            drawn[part.strip()] = {target.strip() for target in targets.split(",") if target.strip()}
    return drawn


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Every module of the package by its dotted name below it."""
    for file in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
        yield name.removesuffix(".__init__"), ast.parse(file.read_text(encoding="utf-8"))


def imports(tree: ast.AST) -> Iterator[str]:
    """The dotted names that a module imports, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def at_load(tree: ast.Module) -> Iterator[str]:
    """The names imported when the module is loaded."""
    for node in tree.body:
        yield from imports(node) if isinstance(node, (ast.Import, ast.ImportFrom)) else ()


def part(name: str) -> str:
    """The first room below the package."""
    return name.split(".")[0]


def forbidden(name: str, tree: ast.AST, drawn: dict[str, set[str]]) -> set[str]:
    """Imports of ours that no arrow allows."""
    own = {part(found.removeprefix("launcher.")) for found in imports(tree) if found.startswith("launcher.")}
    return (own & set(drawn)) - drawn.get(part(name), set()) - {part(name)}


def touches(tree: ast.AST) -> set[str]:
    """What of the world a module imports."""
    return {found.split(".")[0] for found in imports(tree)} & WORLD


def decides(name: str) -> bool:
    """True for a module that must touch nothing."""
    inside = any(name == prefix or name.startswith(f"{prefix}.") for prefix in DECIDING)
    return inside and not any(name == prefix or name.startswith(f"{prefix}.") for prefix in NOT_DECIDING)


MODULES = dict(modules())


@pytest.mark.parametrize("name", MODULES)
def test_imports_follow_the_arrows(name: str) -> None:
    assert not forbidden(name, MODULES[name], arrows()), (
        f"{name}: draw the arrow in ARCHITECTURE.md or leave the import out"
    )


@pytest.mark.parametrize("name", [name for name in MODULES if decides(name)])
def test_deciding_touches_nothing(name: str) -> None:
    assert not touches(MODULES[name])


def test_every_part_has_its_arrows_and_no_arrow_leads_nowhere() -> None:
    drawn, parts = arrows(), {part(name) for name in MODULES} - {"__init__"}
    assert set(drawn) == parts
    assert {target for targets in drawn.values() for target in targets} <= parts


def test_the_arrows_have_no_circle() -> None:
    drawn = arrows()

    def walk(name: str, chain: tuple[str, ...]) -> None:
        assert name not in chain, " -> ".join((*chain, name))
        for target in drawn[name]:
            walk(target, (*chain, name))

    for name in drawn:
        walk(name, ())


def test_the_model_imports_none_of_ours() -> None:
    assert arrows()["model"] == set()


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("planning.choosing", "from launcher.facts import look"),
        ("model", "from launcher.errors import OK"),
        ("consumers.flashinfer", "import launcher.cli.story"),
    ],
)
def test_a_forbidden_import_would_be_seen(name: str, line: str) -> None:
    """The control: the check can fail."""
    assert forbidden(name, ast.parse(line), arrows())


@pytest.mark.parametrize("line", ["import os", "from pathlib import Path", "def f():\n    import subprocess"])
def test_a_look_at_the_world_would_be_seen(line: str) -> None:
    assert touches(ast.parse(line))


# What Python's library has on Linux alone, as far as we use it.
LINUX_ONLY = {
    "os": ("pidfd_open", "sched_getaffinity", "getxattr", "pipe2", "waitid"),
    "signal": ("pidfd_send_signal", "sigtimedwait"),
    "fcntl": ("F_SETPIPE_SZ",),
    "resource": ("prlimit",),
}


def test_commands_that_only_read_need_nothing_of_linux() -> None:
    """`check --facts`, `profiles`, `schema`, `explain --facts` work on a laptop with another system."""
    forget = "; ".join(
        f"[delattr({module}, name) for name in {names} if hasattr({module}, name)]"
        for module, names in LINUX_ONLY.items()
    )
    for words in (
        ["schema"],
        ["profiles", "list"],
        ["explain", "--profile", "demo", "--facts", f"{ROOT}/tests/machines/laptop.json"],
    ):
        run = f"sys.argv[1:] = {words}; from launcher.__main__ import main; main()"
        code = f"import {', '.join(LINUX_ONLY)}, sys; {forget}; {run}"
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
