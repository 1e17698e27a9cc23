"""One profile on top of others."""

from __future__ import annotations

import pytest

from tests.profile.conftest import MINIMAL, Bench, codes, told

BASE = """\
schema: 1
name: base
description: what others build on
engine: sglang
model: org/base
args:
  tp-size: 8
  port: 30000
  speculative-config: {method: mtp, num: 2}
gpus: {count: 8}
env:
  pass: [A, B, C]
  set: {X: "1", Y: "2"}
"""


def test_maps_merge_key_by_key_and_lists_and_scalars_replace(bench: Bench) -> None:
    bench.name(BASE, "base")
    lines = (
        "extends: base\nmodel: org/mine\nargs: {port: 1, speculative-config: {num: 3}}\nenv: {pass: [D], set: {Y: z}}\n"
    )
    profile = bench.asked(lines).profile
    assert profile.model == "org/mine"
    assert profile.args == {"tp-size": "8", "port": "1", "speculative-config": {"method": "mtp", "num": "3"}}
    assert profile.env.passed == ("D",)
    assert profile.env.set == {"X": "1", "Y": "z"}
    assert profile.gpus.count == 8


def test_null_removes(bench: Bench) -> None:
    bench.name(BASE, "base")
    asked = bench.asked(
        "extends: base\nmodel: null\nargs: {port: null}\nenv: {set: {X: null}, pass: null}\ngpus: null\n"
    )
    assert asked.profile.model is None
    assert set(asked.profile.args) == {"tp-size", "speculative-config"}
    assert asked.profile.env.set == {"Y": "2"}
    assert asked.profile.env.passed == ()
    assert asked.profile.gpus.count is None
    assert not asked.findings


@pytest.mark.parametrize(
    ("lines", "key"),
    [("model: null", "model"), ("args: {port: null}", "args.port"), ("env: {set: {A: null}}", "env.set.A")],
)
def test_a_null_that_removes_nothing_is_a_warning(bench: Bench, lines: str, key: str) -> None:
    (line,) = told(bench.asked(f"{lines}\n").findings)
    assert line == f"./mine.yaml:4: {key}: null removes what a parent says, and none says it. Leave it out."


def test_a_null_inside_an_option_is_no_silent_change_of_its_json(bench: Bench) -> None:
    assert "written in the option's value as one text, '{\"key\": null}'" in bench.problem("args: {hf: {a: null}}\n")
    assert bench.asked("args: {hf: '{\"a\": null}'}\n").profile.args == {"hf": '{"a": null}'}


def test_a_later_parent_wins_and_the_profile_over_all(bench: Bench) -> None:
    for name in ("one", "two"):
        bench.name(
            f"schema: 1\nname: {name}\nengine: vllm\nmodel: org/{name}\nargs: {{{name}: 1, port: {name}}}\n", name
        )
    profile = bench.asked("extends: [one, two]\n").profile
    assert (profile.model, profile.args) == ("org/two", {"one": "1", "two": "1", "port": "two"})
    assert profile.engine == "sglang"
    assert bench.asked("extends: [two, one]\n").profile.model == "org/one"


def test_a_parent_says_its_name_and_description_of_itself_alone(bench: Bench) -> None:
    bench.name(BASE, "base")
    profile = bench.load(bench.write("name: child\nextends: base\n", "child.yaml")).profile
    assert (profile.name, profile.description, profile.engine) == ("child", "", "sglang")
    assert profile.extends == ("base",)


def test_lines_follow_the_file_that_won(bench: Bench) -> None:
    bench.write(BASE, "base.yaml")
    asked = bench.asked("extends: ./base.yaml\nargs:\n  port: 1\nenv: {pass: [D]}\n")
    assert (asked.where("args.port").file, asked.where("args.port").line) == ("./mine.yaml", 6)
    assert (asked.where("args.tp-size").file, asked.where("args.tp-size").line) == ("base.yaml", 7)
    assert asked.where("env.pass.2") == asked.where("env.pass")  # the parent's third entry is gone
    assert asked.where("gpus.count").file == "base.yaml"


def test_what_a_parent_said_below_a_key_that_is_replaced_or_removed_stands_nowhere(bench: Bench) -> None:
    bench.write("schema: 1\nname: base\nargs: {a: [1, 2]}\nenv: {pass: [A, B]}\n", "base.yaml")
    asked = bench.asked("extends: ./base.yaml\nargs: {a: {b: 1}}\nenv: {pass: null}\n")
    assert [asked.where(key).line for key in ("args.a.1", "env.pass.1")] == [5, 6]
    assert {asked.where(key).file for key in ("args.a.1", "env.pass.1")} == {"./mine.yaml"}


def test_an_error_in_a_parent_is_told_with_the_parents_line(bench: Bench) -> None:
    bench.write("schema: 1\nname: base\nargs:\n  port: on\nenv: {pass: ['*']}\n", "base.yaml")
    found = told(bench.refused(bench.write(MINIMAL + "extends: ./base.yaml\ngpus: {count: x}\n")))
    assert [line.split(" ")[0] for line in found] == ["./mine.yaml:5:", "base.yaml:4:", "base.yaml:5:"]


def test_a_parents_path_is_relative_to_the_file_that_extends_it(bench: Bench) -> None:
    bench.write("name: top\nextends: ../common/base.yaml\n", "profiles/deep/top.yaml")
    bench.write("name: base\nschema: 1\nengine: vllm\nextends: ./more/own.yaml\n", "profiles/common/base.yaml")
    bench.write("name: own\nargs: {port: on}\n", "profiles/common/more/own.yaml")
    found = told(bench.refused("profiles/deep/top.yaml"))
    assert found[0].startswith("profiles/common/more/own.yaml:2: args.port: on may be")


def test_both_spellings_of_an_option_are_one_option(bench: Bench) -> None:
    bench.name("schema: 1\nname: base\nargs: {tp_size: 8, max_model_len: 1}\n", "base")
    assert bench.asked("extends: base\nargs: {tp-size: 4}\n").profile.args == {"tp-size": "4", "max-model-len": "1"}


def test_a_circle_is_named_with_its_whole_chain(bench: Bench) -> None:
    bench.name("schema: 1\nname: a\nengine: vllm\nextends: b\n", "a")
    bench.name("schema: 1\nname: b\nextends: c\n", "b")
    bench.name("schema: 1\nname: c\nextends: a\n", "c")
    (line,) = told(bench.refused("a"))
    named = [str(bench.named / f"{name}.yaml") for name in "abca"]
    assert line.endswith(f"extends: {' -> '.join(named)} is a circle. Remove one of them.")


def test_a_profile_may_not_extend_itself(bench: Bench) -> None:
    assert "is a circle" in bench.problem("extends: ./mine.yaml\n")


def test_a_missing_parent_is_told_where_it_is_named_and_nothing_else_is_missing(bench: Bench) -> None:
    found = bench.refused(bench.write("schema: 1\nname: mine\nextends: [bse, ./gone.yaml]\n"))
    assert told(found)[0].startswith("./mine.yaml:3: extends: bse: there is no profile named bse. ")
    assert told(found)[1].startswith("./mine.yaml:3: extends: ./gone.yaml: there is no such file. ")
    assert codes(found) == ["profile-not-found", "profile-not-found"]


def test_what_keeps_a_grandparent_from_being_read_is_told_once(bench: Bench) -> None:
    bench.name("name: top\nextends: gone\n", "top")
    bench.name("name: one\nextends: top\n", "one")
    bench.name("name: two\nextends: top\n", "two")
    assert len(bench.refused(bench.write(MINIMAL + "extends: [one, two]\n"))) == 1


def test_many_diamonds_are_read_once_each(bench: Bench) -> None:
    bench.name("schema: 1\nname: p0\nengine: vllm\nmodel: m\n", "p0")
    for number in range(1, 15):
        parents = ", ".join(f"p{number - 1}" for _ in range(8))
        bench.name(f"name: p{number}\nextends: [{parents}]\n", f"p{number}")
    assert bench.load("p14").profile.model == "m"


def test_a_chain_without_end_is_refused(bench: Bench) -> None:
    bench.name("schema: 1\nname: p0\nengine: vllm\n", "p0")
    for number in range(1, 40):
        bench.name(f"name: p{number}\nextends: p{number - 1}\n", f"p{number}")
    assert "more than 20 deep" in told(bench.refused("p39"))[0]


def test_a_choice_of_the_parents_that_stands_in_the_way_is_named(bench: Bench) -> None:
    bench.write("schema: 1\nname: base\ntarget: {venv: /opt/a}\nready: {path: /health}\n", "base.yaml")
    found = bench.problems("extends: ./base.yaml\ntarget: {python: self}\nready: {url: 'http://x/'}\n")
    assert found == [
        "2: target: it names venv and python. Keep one: venv comes from base.yaml, and venv: null removes it.",
        "3: ready: it has both path and url. Keep one: path comes from base.yaml, and path: null removes it.",
    ]
    fixed = "extends: ./base.yaml\ntarget: {python: self, venv: null}\n"
    assert bench.asked(fixed).profile.target is not None


def test_a_broken_parent_does_not_make_its_keys_missing(bench: Bench) -> None:
    bench.write("schema: 1\nengine: [vllm\n", "base.yaml")
    (line,) = told(bench.refused(bench.write("name: mine\nextends: ./base.yaml\n")))
    assert line.startswith("base.yaml:3: a bracket is not closed")
