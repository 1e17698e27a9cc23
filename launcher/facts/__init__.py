"""What is here: the only code that looks at the machine; each fact carries how it was found.

Looking never fails for what a machine is like and writes nothing: what could not be told is said as such. One file for
each thing that is looked at.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from launcher import __version__
from launcher.facts import (
    caches,
    driver_mounts,
    folders,
    gpus,
    host,
    host_compilers,
    libraries,
    limits,
    loader,
    native,
    programs,
    roots,
    systemd,
    toolkits,
)
from launcher.facts import target as targets
from launcher.model import Caller, Facts, Launcher, Target, Unknown
from launcher.paths import places
from launcher.profile.asked import Asked


def look(
    asked: Asked | None,
    *,
    environ: Mapping[str, str],
    cwd: str,
    target: str | None = None,
    engine_packages: tuple[str, ...] = (),
) -> Facts:
    """Everything that a plan may need to know. `target` is the operator's --target."""
    profile = asked.profile if asked else None
    served_by = targets.find(
        profile.target if profile else None,
        wish=target,
        environ=environ,
        cwd=cwd,
        folder=asked.working_folder(cwd) if asked else cwd,
        engine_packages=engine_packages,
    )
    identity = host.look(environ)
    own = places(environ, home=identity.home, uid=identity.uid)
    toolkit_path = profile.cuda.toolkit if profile and profile.cuda.toolkit.startswith("/") else None
    found, findings = toolkits.look(toolkits.Surroundings(environ, served_by, toolkit_path, own.data))
    on_path, path_findings = folders.look(environ, served_by, profile.env.path if profile else (), found)
    seen, driver, unknowns = gpus.look()
    return Facts(
        launcher=Launcher(
            version=__version__, python=sys.executable, package=str(Path(__file__).resolve().parent.parent)
        ),
        host=identity,
        systemd=systemd.look(environ),
        caller=Caller(environ=dict(environ), cwd=cwd, on_terminal=os.isatty(1) and os.isatty(2)),
        target=served_by,
        toolkits=found,
        folders=on_path,
        tools=roots.tools(environ),
        roots=roots.look(environ, on_path, served_by, (toolkit.root for toolkit in found)),
        programs=programs.look(
            served_by,
            (*(profile.env.path if profile else ()), *(f"{toolkit.root}/bin" for toolkit in found)),
            [profile.command[0]] if profile and _is_looked_up(profile.command) else (),
        ),
        host_compilers=host_compilers.look(),
        library_folders=libraries.on_library_path(environ, profile.env.set.get("LD_LIBRARY_PATH") if profile else None),
        system_libraries=loader.look(),
        modules=native.look(served_by),
        caches=caches.look(asked, environ, own),
        driver_mounts=driver_mounts.look(environ),
        gpus=seen,
        driver=driver,
        limits=limits.look(),
        findings=(*findings, *path_findings),
        unknowns=(*unknowns, *_about_target(served_by)),
    )


def _is_looked_up(command: Sequence[str]) -> bool:
    """A relative path belongs to the child's working folder, not to PATH."""
    return bool(command) and ("/" not in command[0] or command[0].startswith("/"))


def _about_target(found: Target | None) -> tuple[Unknown, ...]:
    if found is not None and found.kind == "python" and found.packages is None:
        because = f"no packages could be found beside {found.path}"
        return (Unknown(subject="what the target holds", because=because),)
    return ()
