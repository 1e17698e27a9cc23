"""What the queries with --json share: a refusal is their answer too, as the same object with what is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from launcher.cli.screen import Screen
from launcher.errors import Refused
from launcher.model import Finding
from launcher.report.document import Document, refused_document, to_json


class Answered(Exception):
    """Refused, and said so already: only the exit code is left."""

    def __init__(self, exit_code: int) -> None:
        self.exit_code = exit_code
        super().__init__(exit_code)


@contextmanager
def answering(
    screen: Screen,
    reference: str,
    *,
    as_json: bool,
    document: Callable[[str, Iterable[Finding]], Document] = refused_document,
) -> Iterator[None]:
    """With --json a refusal becomes a document on standard output; else it ends where all of them end."""
    try:
        yield
    except Refused as refused:
        if not as_json:
            raise
        screen.write(to_json(document(reference, refused.findings)))
        raise Answered(refused.exit_code) from None
