"""A command line that cannot be understood: one sentence, exit 2, nothing on standard output."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from launcher.cli.table import RESERVED
from tests.cli.conftest import Answer, Caller

Here = Callable[..., Answer]

WRONG = [
    ("sglnag --profile x", "there is no command 'sglnag': did you mean sglang? There are: sglang, vllm, llamacpp,"),
    ("xyzzy", "there is no command 'xyzzy': there are: sglang,"),
    ("profiles shw", "there is no command 'profiles shw': did you mean show?"),
    ("sglang --profil x", "sglang: there is no option --profil; did you mean --profile?; put engine flags after --"),
    ("sglang --profile x --tp-size 8", "sglang: there is no option --tp-size; put engine flags after --"),
    ("vllm --profile x model", "vllm: got unexpected extra argument (model); put engine flags after --"),
    ("facts --jsn", "facts: there is no option --jsn; did you mean --json?"),
    ("facts -- x", "facts: got unexpected extra argument"),
    ("sglang", "which profile? Say --profile NAME; `gpulaunch profiles list` shows them"),
    ("check", "which profile?"),
    ("explain", "which profile?"),
    ("env -- true", "which profile?"),
    ("sglang --profile", "option '--profile' requires an argument"),
    ("sglang --profile x --json", "--json belongs to a query: add --dry-run"),
    ("sglang --profile x --facts f.json", "--facts describes another machine: add --dry-run"),
    ("check --profile x --target t --facts f.json", "--target looks at this machine and --facts does not"),
    ("facts --target t --facts f.json", "--target looks at this machine and --facts does not"),
    ("check --profile x --env NAME", "--env takes NAME=VALUE; --keep-env NAME keeps a variable of yours"),
    ("check --profile x --env =v", "--env takes NAME=VALUE"),
    ("env --profile x --facts f.json -- true", "--facts describes another machine"),
    ("env --profile x --format json --with-secrets", "json always shows ***"),
    ("env --profile x --format yaml", "'yaml' is not one of 'shell', 'json'"),
    ("explain --profile x no-target", "name a CODE or a --profile, not both"),
    ("explain toolkit-hide", "there is no code 'toolkit-hide': did you mean toolkit-hidden?"),
    ("profiles", "profiles: which of copy, list, show?"),
    ("profiles show", "missing argument 'PROFILE'"),
]


@pytest.mark.parametrize(("line", "sentence"), WRONG, ids=[line for line, _ in WRONG])
def test_it_is_one_sentence_and_exit_2(here: Here, line: str, sentence: str) -> None:
    answer = here(*line.split())
    assert answer.code == 2
    assert sentence in answer.err
    assert answer.err.startswith("gpulaunch: ")
    assert answer.err.count("\n") == 1
    assert answer.out == ""


@pytest.mark.parametrize("name", [*RESERVED, "profiles validate", "profiles diff"])
def test_a_reserved_name_says_that_it_comes_later(here: Here, name: str) -> None:
    answer = here(*name.split(), "--whatever")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"gpulaunch: {name} comes with a later version")


def test_an_engine_that_is_not_the_profiles_is_named_with_it(here: Here, caller: Caller) -> None:
    answer = here("vllm", "--profile", caller.command_profile())
    assert answer.code == 2
    assert answer.err == (
        "gpulaunch: ./server.yaml is a profile for command, not for vllm: gpulaunch command --profile ./server.yaml\n"
    )


def test_the_options_of_the_screen_count_before_and_after_the_command(here: Here, caller: Caller) -> None:
    profile = caller.command_profile()
    for arguments in (("-q", "env", "--profile", profile), ("env", "--profile", profile, "-q")):
        assert here(*arguments).err == ""


@pytest.mark.parametrize("line", ["--help", "sglang --help", "env -h", "profiles copy --help"])
def test_help_is_data(here: Here, line: str) -> None:
    answer = here(*line.split())
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("Usage: gpulaunch")
