"""From a name or path to what was asked, or every error at once.

The story: find the file, read it and its parents, expand variables, judge. Nothing is printed, nothing is changed.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from launcher.errors import Refused
from launcher.model import Finding
from launcher.paths import Places, usable_home
from launcher.profile import notes, options, rules, safety, sentences, tree
from launcher.profile.asked import Asked
from launcher.profile.document import REFUSED, Document, short
from launcher.profile.expand import expand
from launcher.profile.extends import merged
from launcher.profile.lookup import Located, locate
from launcher.profile.schema import Profile
from launcher.profile.source import read_text


def load_profile(reference: str, *, environ: Mapping[str, str], places: Places, cwd: str, uid: int | None) -> Asked:
    """The profile that a name or path means.

    `environ` answers `${VAR}` and, where its HOME is usable, `~`; `cwd` is the absolute folder that a path starts
    from; `uid` is who will run it, None where nobody will: a plan for another machine does not depend on who owns the
    file on this one. Raises Refused with all that is wrong: 78; 77 where a file may not be read.
    """
    located = locate(reference, places=places, relative_to=cwd)
    document = merged(located, read=lambda found: read(found, uid=uid), places=places)
    profile, secrets = understand(document, environ=environ, home=usable_home(environ, places.home))
    if document.errors or profile is None:
        raise Refused([*located.findings, *ordered(document.errors)])
    return Asked(
        profile=profile,
        file=located.label,
        folder=located.folder,
        lines=document.lines,
        findings=(*located.findings, *document.findings),
        secrets=secrets,
    )


def read(located: Located, *, uid: int | None) -> Document:
    """One file by itself. Raises Refused where it cannot be read."""
    document = tree.parse(read_text(located), located.label)
    if uid is not None:
        document.findings += safety.check(located.path, located.label, uid=uid)
    options.to_kebab(document)
    _is_what_it_says(document, located)
    return document


def understand(
    document: Document, *, environ: Mapping[str, str], home: str | None
) -> tuple[Profile | None, frozenset[str]]:
    """The validated profile, None if it is not valid, and the secret values in it. Findings go to the document."""
    notes.secrets_in_clear(document)
    secrets = expand(document, environ, home)
    options.judge(document)
    rules.judge(document)
    if document.incomplete and not document.tree:
        return None, secrets
    try:
        return Profile.model_validate(document.tree), secrets
    except ValidationError as error:
        sentences.tell(error, document)
        return None, secrets


def ordered(findings: list[Finding]) -> list[Finding]:
    """As they stand in the files."""
    return sorted(findings, key=lambda finding: (finding.file or "", finding.line or 0))


def _is_what_it_says(document: Document, located: Located) -> None:
    """A file that answers to a name has that name, and each file is written in a schema that we know."""
    name = document.tree.get("name")
    if located.name and isinstance(name, str) and name != located.name:
        what = f"it is {short(name)} in a file that answers to {located.name}"
        document.error("profile-value", "name", what, f"Write name: {located.name}, or rename the file.")
        document.tree["name"] = REFUSED
