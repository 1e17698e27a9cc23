"""`gpulaunch schema`: the JSON Schema of a profile, for editors and for checks of others."""

from __future__ import annotations

import click

from launcher import errors
from launcher.cli import options
from launcher.report.document import to_json


@click.command(cls=options.Command)
@options.screen_options
@click.pass_context
def command(ctx: click.Context) -> int:
    """Prints the JSON Schema of a profile. An editor finds it by the first line of a profile:

    # yaml-language-server: $schema=PATH
    """
    from launcher.profile.schema import json_schema

    ctx.obj.write(to_json(json_schema()))
    return errors.OK
