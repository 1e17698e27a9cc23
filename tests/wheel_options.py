"""Which options an engine's own sources declare, read from its wheel without installing or running any of it."""

from __future__ import annotations

import ast
import zipfile
from collections.abc import Iterator
from pathlib import Path

# Where each engine declares its options: paths inside the wheel.
SOURCES = {
    "sglang": ("sglang/srt/server_args.py", "sglang/srt/arg_groups/"),
    "transformers": ("transformers/cli/serve.py",),
    "vllm": ("vllm/engine/arg_utils.py", "vllm/entrypoints/common/cli_args.py"),
}


def declared(wheel: Path, engine: str) -> set[str]:
    """Long options as `--kebab-case`: strings given to add_argument, and fields of the classes that become options."""
    return {option for text in sources(wheel, engine) for option in options(text)}


def sources(wheel: Path, engine: str) -> Iterator[str]:
    """The texts of the files that declare options."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".py") and name.startswith(SOURCES[engine]):
                yield archive.read(name).decode("utf-8")


def options(text: str) -> Iterator[str]:
    """The options that one source file declares. Pure."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            for argument in node.args:
                if isinstance(argument, ast.Constant) and str(argument.value).startswith("--"):
                    yield str(argument.value).replace("_", "-")
        if isinstance(node, ast.ClassDef):
            yield from _fields(node)
        if isinstance(node, ast.FunctionDef):
            yield from _parameters(node)


def _fields(node: ast.ClassDef) -> Iterator[str]:
    """Annotated fields: sglang's ServerArgs and its groups, vLLM's FrontendArgs."""
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield f"--{statement.target.id.replace('_', '-')}"


def _parameters(node: ast.FunctionDef) -> Iterator[str]:
    """Parameters that typer makes options of: transformers' serve."""
    for argument in (*node.args.args, *node.args.kwonlyargs):
        if argument.annotation is not None and "typer.Option(" in ast.unparse(argument.annotation):
            yield f"--{argument.arg.replace('_', '-')}"
