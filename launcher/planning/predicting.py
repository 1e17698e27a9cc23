"""Says in advance what each library's own lookup will find: in the caller's environment, and in the planned one. Pure.

The prediction for the planned environment is what the whole plan is for; `gpulaunch doctor --verify` and a launch
compare it with what the library itself says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from launcher.consumers import Consumer, installed
from launcher.gpu_selection import used
from launcher.model import Choice, Found, Prediction, Root, Step, Tool
from launcher.situation import Situation
from launcher.surroundings import Surroundings, Unforeseen


def predictions(situation: Situation, env: Mapping[str, str], steps: tuple[Step, ...]) -> tuple[Prediction, ...]:
    """One for each installed consumer that looks for a toolkit. `steps` make what is not there yet."""
    callers, planned = of_caller(situation), of_child(situation, env, steps)
    made = (_prediction(consumer, situation, callers, planned) for consumer in installed(situation))
    return tuple(prediction for prediction in made if prediction is not None)


def _prediction(
    consumer: Consumer, situation: Situation, callers: Surroundings, planned: Surroundings
) -> Prediction | None:
    try:
        before = consumer.predict(callers)
    except Unforeseen:
        return Prediction(
            consumer=consumer.NAME,
            version=situation.version(consumer.PACKAGE),
            callers=None,
            planned=_or_none(consumer, planned),
        )
    if before is None:
        return None
    return Prediction(
        consumer=consumer.NAME,
        version=situation.version(consumer.PACKAGE),
        callers=before,
        planned=_or_none(consumer, planned),
        consequence=consumer.harm(before, situation) or "",
    )


def _or_none(consumer: Consumer, surroundings: Surroundings) -> Found | None:
    try:
        return consumer.predict(surroundings)
    except Unforeseen:
        return None


def of_caller(situation: Situation) -> Surroundings:
    """The shell or service that called us."""
    facts = situation.facts
    return Surroundings(
        environ=facts.caller.environ,
        roots={root.path: root for root in facts.roots},
        folders={folder.path: folder.programs for folder in facts.folders},
        tools={tool.path: tool for tool in facts.tools},
        packages=situation.packages,
        torch_cuda=situation.torch_cuda,
        capabilities=_visible(situation),
        site_packages=facts.target.site_packages if facts.target else (),
    )


def _visible(situation: Situation) -> tuple[str, ...]:
    """Of the GPUs that are used; where none is here, those that the profile is for."""
    here = tuple(gpu.capability for gpu in used(situation.profile, situation.facts))
    return here or situation.capabilities


def of_child(situation: Situation, env: Mapping[str, str], steps: tuple[Step, ...]) -> Surroundings:
    """The planned child: what the plan's steps will have made is there."""
    before = of_caller(situation)
    roots, folders, tools = dict(before.roots), dict(before.folders), dict(before.tools)
    choice = situation.choice
    if choice is not None:
        roots[choice.root] = _root(choice, roots)
        if choice.release:
            ptxas = f"{choice.root}/bin/ptxas"
            tools[ptxas] = Tool(path=ptxas, answer="runs", release=choice.release)
            source = f"{choice.source}/bin"
            folders.setdefault(f"{choice.root}/bin", tuple(dict.fromkeys((*folders.get(source, ()), "nvcc"))))
    for step in steps:
        if step.action == "links" and step.source is not None:
            there = folders.get(step.source, ())
            folders[step.path] = tuple(name for name in there if name not in step.leave_out)
    return replace(before, environ=env, roots=roots, folders=folders, tools=tools)


def _root(choice: Choice, roots: Mapping[str, Root]) -> Root:
    """The chosen root as it will stand: a view or a hide root is made before the server starts."""
    if choice.root in roots and roots[choice.root].state == "folder":
        return roots[choice.root]
    return Root(
        path=choice.root,
        state="folder",
        nvcc="runs" if choice.release else "missing",
        release=choice.release,
        holds=("lib", "lib64", "include", "bin") if choice.release else ("lib", "lib64"),
    )
