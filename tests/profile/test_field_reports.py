"""What went wrong for people with launchers' configuration files, one test each."""

from __future__ import annotations

from launcher.engines.arguments import tokens
from launcher.profile.scalars import Number
from tests.profile.conftest import MINIMAL, Bench


def test_r031_a_variable_that_was_never_exported_is_named(bench: Bench) -> None:
    """flashinfer-ai/flashinfer#3078: MAX_JOBS was set in a script, not exported, and nobody noticed."""
    problem = bench.problem("env: {set: {MAX_JOBS: '${MAX_JOBS}'}}\n")
    assert problem.startswith("1: env.set.MAX_JOBS: ${MAX_JOBS} is not set. Export MAX_JOBS")


def test_r142_what_overrides_what_is_the_same_at_every_level(bench: Bench) -> None:
    """NVIDIA/TensorRT-LLM#14812: a file overrode what was said more explicitly (4 became 8)."""
    bench.name("schema: 1\nname: one\nengine: sglang\nargs: {tp-size: 1, dp-size: 1, pp-size: 1}\n", "one")
    bench.name("schema: 1\nname: two\nextends: one\nargs: {tp_size: 2, dp-size: 2}\n", "two")
    asked = bench.asked("extends: [one, two]\nargs: {tp-size: 4}\n")
    assert asked.profile.args == {"tp-size": "4", "dp-size": "2", "pp-size": "1"}
    assert [asked.where(f"args.{name}").file.rpartition("/")[2] for name in ("tp-size", "dp-size", "pp-size")] == [
        "mine.yaml", "two.yaml", "one.yaml",
    ]  # fmt: skip


def test_r144_off_is_not_silently_false(bench: Bench) -> None:
    """hiyouga/LlamaFactory#4446: `flash_attn: off` became false."""
    assert bench.problem("args: {flash-attn: off}\n") == (
        '1: args.flash-attn: off may be false or text. Write false or "off".'
    )
    assert bench.asked('args: {flash-attn: "off"}\n').profile.args == {"flash-attn": "off"}


def test_r147_json_and_braces_reach_the_engine_as_they_stand(bench: Bench) -> None:
    """eugr/spark-vllm-docker#111, #163, #283: placeholders ate braces of JSON, shells ate its quotes."""
    values = {
        "json": '{"method": "mtp", "num_speculative_tokens": 2}',
        "template": "{{ messages[0]['content'] }} {% if x %}{port}{% endif %}",
        "quotes": 'it\'s "quoted" \\n',
    }
    lines = "".join(f"  {name}: '{value.replace(chr(39), chr(39) * 2)}'\n" for name, value in values.items())
    args = bench.asked(f"args:\n{lines}  map: {{method: mtp, n: 2, f: 1e-5}}\n").profile.args
    assert {name: args[name] for name in values} == values
    assert list(tokens({"map": args["map"]}, negate=False))[1] == '{"method": "mtp", "n": 2, "f": 1e-5}'


def test_r156_a_key_that_stands_twice_is_an_error_with_both_lines(bench: Bench) -> None:
    """R156 FAIR-Chem/fairchem#658: the last of two keys won in silence."""
    problems = bench.problems("args:\n  tp-size: 8\n  port: 1\n  tp-size: 4\nargs: {}\n")
    assert problems == [
        "4: args.tp-size: it stands twice, here and on line 5. Keep one of them.",
        "5: args: it stands twice, here and on line 4. Keep one of them.",
    ]


def test_r156_unknown_keys_are_errors(bench: Bench) -> None:
    assert "there is no such key. Did you mean engine?" in bench.problem("enigne: vllm\n")


def test_r168_variables_expand_in_scalars_and_change_no_type(bench: Bench) -> None:
    """mostlygeek/llama-swap#336: text was replaced in the file, integers became strings, fields were missed."""
    lines = "args: {port: 8000, flag: true, name: '${NAME}', n: {deep: ['${NAME}', 3.10]}}\nmodel: ${NAME}/m\n"
    for order in (1, -1):
        environ = dict(list({"NAME": "a: b # c", "A": "1", "B": "2"}.items())[::order])
        profile = bench.asked(lines, **environ).profile
        assert profile.args == {"port": "8000", "flag": True, "name": "a: b # c", "n": {"deep": ["a: b # c", "3.10"]}}
        assert isinstance(profile.args["port"], Number)
        assert not isinstance(profile.args["name"], Number)
        assert profile.model == "a: b # c/m"


def test_r168_an_unknown_variable_is_an_error_not_an_empty_text(bench: Bench) -> None:
    assert "${GONE} is not set" in bench.problem("args: {host: 'a${GONE}b'}\n")


def test_several_words_in_one_are_one_word(bench: Bench) -> None:
    """vllm-project/vllm#22072: ["--dtype auto"] is one word to the server; nothing here splits it."""
    text = MINIMAL.replace("sglang", "command") + 'command: [serve, "--dtype auto"]\nready: none\n'
    assert bench.load(bench.write(text)).profile.command == ("serve", "--dtype auto")
