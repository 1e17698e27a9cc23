"""`args`: one spelling for each option, and values that survive as argv and JSON."""

from __future__ import annotations

import pytest

from launcher.profile.scalars import Number
from tests.profile.conftest import Bench


def test_underscores_are_the_same_option(bench: Bench) -> None:
    asked = bench.asked("args:\n  tp_size: 8\n  max-model-len: 128k\n")
    assert asked.profile.args == {"tp-size": "8", "max-model-len": "128k"}
    assert asked.where("args.tp-size").line == 5
    assert not asked.findings


def test_two_spellings_of_one_option_stand_twice(bench: Bench) -> None:
    problem = bench.problem("args:\n  tp-size: 8\n  tp_size: 4\n")
    assert problem == "3: args.tp_size: it stands twice, here and on line 5 as tp-size. Keep one of them."


def test_keys_of_json_keep_their_underscores(bench: Bench) -> None:
    lines = (
        "args:\n  compilation_config.cudagraph_capture_sizes: 1\n  speculative_config: {num_speculative_tokens: 2}\n"
    )
    assert bench.asked(lines).profile.args == {
        "compilation-config.cudagraph_capture_sizes": "1",
        "speculative-config": {"num_speculative_tokens": "2"},
    }


def test_values_keep_their_kind_and_spelling(bench: Bench) -> None:
    args = bench.asked(
        "args: {a: 3.10, b: true, c: false, d: [1, x], e: {f: 1e-5, g: null, h: [true]}, i: '8'}\n".replace(
            ", g: null", ""
        )
    ).profile.args
    assert args == {"a": "3.10", "b": True, "c": False, "d": ["1", "x"], "e": {"f": "1e-5", "h": [True]}, "i": "8"}
    nested = args["e"]
    assert isinstance(nested, dict)
    assert (type(args["a"]), type(args["i"]), type(nested["f"])) == (Number, str, Number)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("args: {config: x.yaml}", "args.config: it would read options behind the profile's back."),
        ("args: {--port: 1}", "args.--port: an option stands here without dashes in front. Write port."),
        ("args: {'port 8000': true}", "args.port 8000: it is no option."),
        ("args: {'port=8000': true}", "args.port=...: it is no option."),
        ("args: {'': true}", "args.: it is no option."),
        ("args: {lora: []}", "args.lora: the list is empty."),
        ("args: {lora: [null]}", "args.lora.0: null is no value of an option."),
        ("args: {a: {b: .5}}", 'args.a.b: .5 is no number in JSON, which this mapping becomes. Write 0.5 or ".5".'),
        ("args: {a: {b: [1.]}}", 'args.a.b.0: 1. is no number in JSON, which this mapping becomes. Write 1 or "1.".'),
        ("args: {a: [{b: +1}]}", 'args.a.0.b: +1 is no number in JSON, which this mapping becomes. Write 1 or "+1".'),
        ("args: [--port, 1]", "args: expected a mapping. Write args: {port: 8000}."),
        ("args: --port 8000", "args: expected a mapping. Write args: {port: 8000}."),
    ],
)
def test_what_would_not_reach_the_engine_whole_is_refused(bench: Bench, lines: str, says: str) -> None:
    assert says in bench.problem(f"{lines}\n")


def test_what_is_fine_outside_json_is_fine_there(bench: Bench) -> None:
    assert bench.asked("args: {gpu-memory-utilization: .9, a: ['x', '']}\n").profile.args == {
        "gpu-memory-utilization": ".9",
        "a": ["x", ""],
    }


def test_a_template_or_script_of_several_lines_stays_one_token(bench: Bench) -> None:
    lines = 'args: {chat-template: "a\\nb", stop: ["\\n"], more: "${CHAT}"}\n'
    assert bench.asked(lines, CHAT="x\ny").profile.args == {"chat-template": "a\nb", "stop": ["\n"], "more": "x\ny"}


def test_json_may_hold_line_breaks(bench: Bench) -> None:
    assert bench.asked('args: {a: {b: "x\\ny"}}\n').profile.args == {"a": {"b": "x\ny"}}
