"""The directories that PATH holds or will hold: which exist, can be read, and hold an nvcc, and whose."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from launcher import findings
from launcher.facts.files import is_folder
from launcher.facts.nvcc import examine
from launcher.model import LOOKED_FOR, Finding, Folder, Target, Toolkit
from launcher.paths import SYSTEM_PATH

Origin = Literal["caller", "system", "target", "profile"]


def look(
    environ: Mapping[str, str], target: Target | None, asked: tuple[str, ...], toolkits: tuple[Toolkit, ...]
) -> tuple[tuple[Folder, ...], tuple[Finding, ...]]:
    """Each directory once, in order of origin, and what is wrong with the caller's entries."""
    roots = {toolkit.nvcc: toolkit.root for toolkit in toolkits if toolkit.nvcc}
    found: dict[str, Folder] = {}
    said: list[Finding] = []
    for path, origin in _wanted(environ, target, asked):
        problem = None if path.startswith("/") else "is empty" if not path else "is relative"
        if problem:
            what = f"An entry of the caller's PATH {problem} ({path!r}): programs of the working folder would run."
            said.append(findings.warning("path-entry-malformed", what, fix="Nothing; the server's PATH has none."))
        if path not in found:
            found[path] = _folder(path, origin, roots)
    said += [_unreadable(folder) for folder in found.values() if folder.exists and not folder.readable]
    return tuple(found.values()), tuple(said)


def _wanted(environ: Mapping[str, str], target: Target | None, asked: tuple[str, ...]) -> Iterator[tuple[str, Origin]]:
    value = environ.get("PATH", "")
    yield from ((entry, "caller") for entry in value.split(":") if value)
    yield from ((path, "system") for path in SYSTEM_PATH)
    if target is not None and target.bin:
        yield target.bin, "target"
    yield from ((path, "profile") for path in asked)


def _folder(path: str, origin: Origin, roots: Mapping[str, str]) -> Folder:
    exists = is_folder(path)
    readable = exists and os.access(path, os.R_OK | os.X_OK)
    nvcc = str(Path(path, "nvcc")) if readable and os.path.lexists(Path(path, "nvcc")) else None
    return Folder(
        path=path,
        origin=origin,
        real=os.path.realpath(path) if exists else None,
        exists=exists,
        readable=readable,
        nvcc=nvcc,
        # An nvcc of the working folder is never run: it may be anybody's.
        nvcc_root=_root(nvcc, roots) if nvcc and path.startswith("/") else None,
        programs=tuple(name for name in LOOKED_FOR if _is_program(f"{path or '.'}/{name}")) if readable else (),
    )


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _root(nvcc: str, roots: Mapping[str, str]) -> str:
    compiler = examine(Path(nvcc))
    return roots.get(compiler.path, compiler.root)


def _unreadable(folder: Folder) -> Finding:
    return findings.note(
        "path-entry-unreadable",
        f"{folder.path} on PATH cannot be read by this user: what is in it could not be told.",
        fix="Nothing, unless a program of it is needed.",
    )
