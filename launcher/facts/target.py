"""The Python (or program) that serves, found by wish and read without running it.

Order: --target, GPULAUNCH_TARGET, the profile; then, only if the engine's package is in it, an active virtual or conda
environment and the interpreter that runs us. Which, and how found, is always said. Package versions come from metadata
folders, torch's CUDA release from the text of `torch/version.py`: importing torch would cost seconds and load CUDA
libraries into us.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from launcher.facts import libraries, packages, torch
from launcher.facts.files import below, is_file, is_folder, is_there
from launcher.model import Target
from launcher.profile.schema import TargetWish

_PYTHON = re.compile(r"python[0-9.]*")


def find(
    asked: TargetWish | None,
    *,
    wish: str | None,
    environ: Mapping[str, str],
    cwd: str,
    engine_packages: tuple[str, ...],
    folder: str | None = None,
) -> Target | None:
    """The target, or None where none is named and none of the caller's environments holds the engine.

    What the operator says is relative to `cwd`, what the profile says to its own working `folder` (else `cwd`, too).
    """
    named = _named(asked, wish, environ, cwd, folder or cwd)
    if named is not None:
        return named
    for place, how in _of_the_shell(environ):
        found = read_python(place, how)
        if found.packages and set(engine_packages) & set(found.packages):
            return found
    return None


def _named(
    asked: TargetWish | None, wish: str | None, environ: Mapping[str, str], cwd: str, folder: str
) -> Target | None:
    if wish:
        return read(Path(cwd, wish).expanduser(), "--target")
    if environ.get("GPULAUNCH_TARGET"):
        return read(Path(cwd, environ["GPULAUNCH_TARGET"]), "GPULAUNCH_TARGET")
    if asked is None:
        return None
    if asked.venv is not None:
        return read_python(Path(folder, asked.venv) / "bin/python", "profile target.venv")
    if asked.program is not None:
        return read_program(Path(folder, asked.program), "profile target.program")
    if asked.python == "self":
        return read_python(Path(sys.executable), "profile target.python: self")
    return read_python(Path(folder, asked.python or ""), "profile target.python")


def _of_the_shell(environ: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if environ.get(variable, "").startswith("/"):
            yield Path(environ[variable], "bin/python"), variable
    yield Path(sys.executable), "our own interpreter"


def read(path: Path, how: str) -> Target:
    """A folder is a prefix with bin/python, a file called python a Python, any other file a program."""
    if is_folder(path) or not (is_there(path) or _PYTHON.fullmatch(path.name)):
        return read_python(path / "bin/python", how)
    return read_python(path, how) if _PYTHON.fullmatch(path.name) else read_program(path, how)


def read_program(path: Path, how: str) -> Target:
    """A server binary: nothing is known of it but whether it can be run."""
    return Target(
        kind="program",
        path=str(path),
        how=how,
        bin=str(path.parent),
        exists=is_there(path),
        executable=os.access(path, os.X_OK),
    )


def read_python(path: Path, how: str) -> Target:
    """A Python and what is installed for it. The path stays as it is: a venv's bin/python is a link to its base."""
    prefix = path.parent.parent
    sites, readable = _site_packages(path)
    found = packages.installed(sites) if sites else None
    return Target(
        kind="python",
        path=str(path),
        how=how,
        prefix=str(prefix),
        bin=str(path.parent),
        version=_version(sites, prefix),
        site_packages=tuple(str(site) for site in sites),
        packages=found,
        torch=torch.read(sites),
        exists=is_there(path),
        executable=os.access(path, os.X_OK),
        readable=readable,
        python_header=_has_header(path, sites),
        libraries=libraries.in_wheels(sites),
    )


def _site_packages(python: Path) -> tuple[tuple[Path, ...], bool]:
    """The folders that its packages are in, and whether all of them could be read."""
    prefix = python.parent.parent
    sites = list(_below(prefix))
    config = _pyvenv(prefix)
    if config.get("include-system-site-packages", "").lower() == "true" and config.get("home"):
        sites += _below(Path(config["home"]).parent)
    elif not config and not sites and os.path.islink(python):
        sites += _below(python.resolve().parent.parent)
    readable = tuple(site for site in dict.fromkeys(sites) if os.access(site, os.R_OK | os.X_OK))
    return readable, len(readable) == len(dict.fromkeys(sites))


def _below(prefix: Path) -> Iterator[Path]:
    """`lib/pythonX.Y/site-packages`, and Debian's `dist-packages`, below a prefix."""
    for lib in ("lib", "lib64"):
        for version in below(prefix / lib, "python3*"):
            for name in ("site-packages", "dist-packages"):
                folder = version / name
                if is_folder(folder) and not (lib == "lib64" and os.path.islink(prefix / "lib64")):
                    yield folder
    if str(prefix) == "/usr":
        yield from (folder for folder in below(Path("/usr/local/lib"), "python3*/dist-packages") if is_folder(folder))


def _pyvenv(prefix: Path) -> dict[str, str]:
    try:
        text = (prefix / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    pairs = (line.partition("=") for line in text.splitlines())
    return {name.strip().lower(): value.strip() for name, equals, value in pairs if equals}


def _version(sites: tuple[Path, ...], prefix: Path) -> str | None:
    for site in sites:
        match = re.search(r"python(3\.[0-9]+)", str(site))
        if match:
            return match[1]
    said = _pyvenv(prefix).get("version", "")
    return ".".join(said.split(".")[:2]) or None


def _has_header(python: Path, sites: tuple[Path, ...]) -> bool | None:
    """Python.h beside the base interpreter: Triton builds a small module against it (vllm-project/vllm#27890)."""
    if not is_there(python):
        return None
    version = _version(sites, python.parent.parent)
    if version is None:
        return None
    base = python.resolve().parent.parent
    return any(is_file(root / f"include/python{version}/Python.h") for root in (base, python.parent.parent))
