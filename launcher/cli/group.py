"""`gpulaunch` itself: finds the command in the table, imports its file, and knows what to say of any other name."""

from __future__ import annotations

from importlib import import_module

import click

from launcher import __version__
from launcher.cli.options import screen_options
from launcher.cli.table import COMMANDS, RESERVED
from launcher.cli.usage import nearest
from launcher.errors import UsageError

WELCOME = """\
gpulaunch starts an LLM inference server from a YAML profile, in an explained environment.
  gpulaunch llamacpp --profile demo    serve a tiny model, on any CPU
  gpulaunch explain --profile NAME     what would run, with which toolkit, and why
  gpulaunch profiles list              the profiles that there are
  gpulaunch --help                     all commands"""


class _Group(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"launcher.cli.commands.{COMMANDS[cmd_name].module}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in RESERVED:
            raise UsageError(f"{name} comes with a later version of gpulaunch (this is {__version__}).")
        if name not in COMMANDS:
            raise UsageError(f"there is no command {name!r}: {nearest(name, COMMANDS)}.")
        return name, self.get_command(ctx, name), args[1:]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """From the table alone: --help imports no command."""
        for heading in dict.fromkeys(entry.heading for entry in COMMANDS.values()):
            rows = [(name, entry.summary) for name, entry in COMMANDS.items() if entry.heading == heading]
            with formatter.section(heading):
                formatter.write_dl(rows)
        with formatter.section("Names reserved for later versions"):
            formatter.write_text(", ".join(RESERVED))


@click.group(cls=_Group, invoke_without_command=True, options_metavar="[OPTIONS]", subcommand_metavar="COMMAND ...")
@screen_options
@click.version_option(__version__, message="gpulaunch %(version)s")
@click.pass_context
def gpulaunch(ctx: click.Context) -> int:
    """Starts an LLM inference server from a YAML profile, in a clean environment whose every variable has a reason, and
    stays until the last process is gone.
    """
    if ctx.invoked_subcommand is None:
        click.echo(WELCOME)
    return 0
