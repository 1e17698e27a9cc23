"""Answers questions on several machines from one process: a fork for each machine, in it a fork for each question.

Standard library only: it also runs in the environment that serves. A line of standard input is one machine: the shell
script that makes it, inside a mount namespace of its own, and the questions for it. A line of JSON for each answer.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

_NEW_MOUNT_NAMESPACE = 0x00020000


def answer_all(answer: Callable[[Any], Any]) -> None:
    """Reads every machine and prints every answer, in order."""
    for line in sys.stdin:
        machine = json.loads(line)
        for said in json.loads(_in_a_fork(lambda machine=machine: _on(machine, answer))):
            print(json.dumps(said))


def _on(machine: Any, answer: Callable[[Any], Any]) -> Any:
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_MOUNT_NAMESPACE):
        raise OSError(ctypes.get_errno(), "unshare")
    environ = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    subprocess.run(["sh", "-euc", f"mount --make-rprivate /\n{machine['script']}"], check=True, env=environ)
    return [json.loads(_in_a_fork(lambda question=question: answer(question))) for question in machine["questions"]]


def _in_a_fork(function: Callable[[], Any]) -> str:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            said = json.dumps(function())
        except BaseException as error:
            said = json.dumps({"failed": f"{type(error).__name__}: {error}"})
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(said.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(child, 0)
    return said
