"""`gpulaunch` itself: finds the command in the table and imports its file; --help imports none."""

from __future__ import annotations

from importlib import import_module

import click

from launcher import __version__
from launcher.cli.names import Names
from launcher.cli.options import screen_options
from launcher.cli.table import COMMANDS, RESERVED

WELCOME = """\
gpulaunch starts LLM inference servers in a clean, explained environment.
  gpulaunch llamacpp --profile demo  serve a tiny model, on any CPU
  gpulaunch explain --profile NAME   what would run, with which toolkit and why
  gpulaunch profiles list            the profiles that there are
  gpulaunch --help                   all commands"""


class _Table(Names):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"launcher.cli.commands.{COMMANDS[cmd_name].module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading in dict.fromkeys(entry.heading for entry in COMMANDS.values()):
            rows = [(name, entry.summary) for name, entry in COMMANDS.items() if entry.heading == heading]
            with formatter.section(heading):
                formatter.write_dl(rows)
        with formatter.section("Reserved for later versions"):
            formatter.write_text(", ".join(RESERVED))


@click.group(cls=_Table, reserved=RESERVED, invoke_without_command=True, subcommand_metavar="COMMAND ...")
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
