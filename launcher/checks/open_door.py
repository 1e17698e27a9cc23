"""Would the server listen to everybody without a key?"""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.checks.command import Command
from launcher.engines.arguments import option
from launcher.model import Finding
from launcher.situation import Situation

_WILDCARDS = ("0.0.0.0", "::", "*", "")
_KEYS_IN_THE_ENVIRONMENT = ("VLLM_API_KEY", "LLAMA_API_KEY", "SGLANG_API_KEY")


def check(situation: Situation, command: Command) -> Iterator[Finding]:
    """A wildcard bind without an API key is a warning."""
    endpoint = command.endpoint
    if endpoint is None or endpoint.host not in _WILDCARDS:
        return
    if option(command.argv, "--api-key", "--api-key-file") or any(command.env.get(n) for n in _KEYS_IN_THE_ENVIRONMENT):
        return
    yield findings.warning(
        "open-door",
        f"The server listens on every address (port {endpoint.port}) and asks for no API key.",
        fix='args: {host: "127.0.0.1"}, or api-key: "${API_KEY}".',
        where=situation.asked.where("args.host"),
    )
