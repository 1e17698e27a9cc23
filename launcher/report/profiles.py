"""The list of profiles, for people and as JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from launcher.profile.catalogue import Listed
from launcher.report.document import SCHEMA_VERSION, Document
from launcher.report.lines import Line


def profile_lines(listed: Iterable[Listed]) -> Iterator[Line]:
    """Name, engine and what it is; then the file, and what keeps it from being used."""
    entries = tuple(listed)
    name = max((len(entry.name) for entry in entries), default=0)
    engine = max((len(entry.engine) for entry in entries), default=0)
    indent = name + engine + 4
    for entry in entries:
        lead = f"{entry.name:{name}}  {entry.engine:{engine}} "
        yield Line(entry.description, lead=lead, hanging=indent, lead_style="bold")
        yield Line(entry.file, indent=indent, style="dim", whole=True)
        if entry.shadowed_by:
            yield Line(f"not used by its name: {entry.shadowed_by} comes first", indent=indent, style="yellow")
        if entry.problem:
            yield Line(f"broken: {entry.problem}", indent=indent, style="red")
    if not entries:
        yield Line("No profiles were found.")


def profiles_document(listed: Iterable[Listed]) -> Document:
    """`shadowed_by` and `problem` are null where all is well."""
    return {
        "schema_version": SCHEMA_VERSION,
        "profiles": [
            {
                "name": entry.name,
                "engine": entry.engine,
                "description": entry.description,
                "file": entry.file,
                "path": str(entry.path),
                "shipped": entry.shipped,
                "shadowed_by": entry.shadowed_by,
                "problem": entry.problem,
            }
            for entry in listed
        ],
    }
