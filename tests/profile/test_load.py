"""From a reference to what was asked: everything together, everything at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

from launcher.errors import CONFIG, Refused
from launcher.model import Severity
from launcher.profile.load import load_profile
from tests.profile.conftest import MINIMAL, Bench, codes, told

DESIGN = """\
# yaml-language-server: $schema=../schema/profile-1.schema.json
schema: 1
name: kimi
description: every key of the first version
engine: sglang
extends: []
requires: {sglang: ">=0.5.14", torch: ">=2.11"}
target: {venv: /opt/venvs/sglang}
model: moonshotai/Kimi-K2.6
args:
  tp-size: 8
  trust-remote-code: true
  speculative-algorithm: DFLASH
  speculative-draft-model-path: z-lab/Kimi-K2.6-DFlash
  port: 30000
gpus: {count: 8, capability: "12.0"}
cuda: {toolkit: auto, arch: ["12.0"]}
env:
  set: {NCCL_P2P_LEVEL: SYS}
  pass: [HF_TOKEN, "NCCL_*"]
  unset: []
  path: []
ready: {path: /health, generate: true, stall: 20m}
live: {stall: 5m}
stop: {grace: 60s}
restart: {policy: on-failure, max: 5}
log: {rotate: 64MiB, keep: 8}
"""


def test_every_key_of_the_first_version_is_valid(bench: Bench) -> None:
    asked = bench.load(bench.write(DESIGN))
    profile = asked.profile
    assert codes(asked.findings) == []
    assert profile.args == {
        "tp-size": "8",
        "trust-remote-code": True,
        "speculative-algorithm": "DFLASH",
        "speculative-draft-model-path": "z-lab/Kimi-K2.6-DFlash",
        "port": "30000",
    }
    assert (profile.gpus.count, profile.gpus.capability, profile.stop.grace) == (8, ("12.0",), 60.0)
    assert (profile.restart.max, profile.log.rotate, profile.log.keep) == (5, 64 << 20, 8)
    assert profile.env.passed == ("HF_TOKEN", "NCCL_*")


ALL_WRONG = """\
schema: 1
name: mine
engine: vlm
model: ${NOT_SET}
port: 8000
args:
  tp_size: 8
  tp-size: 4
  port: yes
  config: x.yaml
model: again
env: {set: {PATH: /x}, pass: ["*"]}
stop: {grace: 60}
target: {venv: a, python: b}
extends: nothing
"""


def test_errors_of_every_kind_are_told_at_once_in_the_order_of_the_file(bench: Bench) -> None:
    with pytest.raises(Refused) as refusal:
        bench.load(bench.write(ALL_WRONG))
    found = refusal.value.findings
    assert [finding.line for finding in found] == [3, 4, 5, 8, 9, 10, 11, 12, 12, 13, 14, 15]
    assert {finding.code for finding in found} == {
        "profile-value", "profile-expansion", "profile-unknown-key", "profile-duplicate-key", "profile-scalar",
        "profile-not-found",
    }  # fmt: skip
    assert all(finding.severity is Severity.ERROR for finding in found)
    assert refusal.value.exit_code == CONFIG


def test_each_error_says_file_line_path_what_and_what_to_do(bench: Bench) -> None:
    for finding in bench.refused(bench.write(ALL_WRONG)):
        assert finding.file == "./mine.yaml"
        key, colon, what = finding.message.partition(": ")
        assert key and colon and what.endswith(".")
        assert finding.fix.endswith(".")


def test_one_mistake_is_told_once(bench: Bench) -> None:
    """Nothing that follows from a refused value is told again."""
    assert len(bench.problems("target: {venv: ~}\n")) == 1
    assert len(bench.problems("model: ${GONE}\n")) == 1
    assert len(bench.problems("ready: {url: yes}\n")) == 1
    assert len(bench.problems("env: {set: {A: on}, unset: [A]}\n")) == 1
    assert len(bench.refused(bench.write("schema: 1\nname: on\nengine: vllm\n"))) == 1
    assert len(bench.refused(bench.write("schema: 1\nname: mine\nengine: y\ncommand: [a]\n"))) == 1
    assert len(bench.refused(bench.write("schema: 1\nname: mine\nengine: command\ncommand: on\nready: ~\n"))) == 2


@pytest.mark.parametrize("text", ["", "- a\n", "a: [\n", "a: 1\n---\nb: 2\n", "a: &a [*a]\n"])
def test_where_nothing_could_be_read_nothing_is_missing(bench: Bench, text: str) -> None:
    assert codes(bench.refused(bench.write(text))) == ["profile-syntax"]


def test_no_value_of_a_secret_reaches_an_error(bench: Bench) -> None:
    secret = "hf_very-secret-value"
    lines = f"""\
model: "${{HF_TOKEN}}\\n"
args: {{api-key: "${{HF_TOKEN}}\\n", token: [null, '${{HF_TOKEN}}'], "x={secret}": 1}}
env:
  set: {{HF_TOKEN: ['${{HF_TOKEN}}'], "HF_TOKEN={secret}": x}}
  pass: ["HF_TOKEN={secret}", '${{HF_TOKEN}}=']
  path: ['${{HF_TOKEN}}']
  unset: ['${{HF_TOKEN}}']
  "A={secret}": x
cwd: "${{HF_TOKEN:?}}\\n"
target: {{venv: "${{HF_TOKEN}}\\n"}}
"""
    found = bench.problems(lines, HF_TOKEN=secret)
    assert len(found) == 12
    assert not [line for line in found if secret in line]


def test_expanded_names_of_variables_are_no_way_around_the_rules(bench: Bench) -> None:
    assert len(bench.problems("env: {pass: ['${A}'], unset: ['${A}']}\n", A="CUDA_HOME")) == 2


def test_relative_paths_go_by_the_folder_of_a_profile_given_by_path(bench: Bench) -> None:
    asked = bench.load(bench.write(MINIMAL + "cwd: sub\n", "profiles/mine.yaml"))
    assert asked.working_folder("/somewhere") == f"{bench.work}/profiles/sub"
    assert bench.load(bench.write(MINIMAL, "profiles/mine.yaml")).working_folder("/x") == f"{bench.work}/profiles"
    assert bench.load(bench.name(MINIMAL + "cwd: sub\n")).working_folder("/somewhere") == "/somewhere/sub"
    assert bench.load(bench.name(MINIMAL + "cwd: /abs\n")).working_folder("/somewhere") == "/abs"


def test_a_home_in_the_environment_stands_for_the_tilde(bench: Bench) -> None:
    assert bench.asked("model: ~/m\n", HOME="/srv/other").profile.model == "/srv/other/m"
    assert bench.asked("model: ~/m\n", HOME="/").profile.model == f"{bench.home}/m"


def test_the_place_of_a_key_or_its_nearest_parent_is_known(bench: Bench) -> None:
    asked = bench.asked("args:\n  port: 1\n")
    assert asked.where("args.port").line == 5
    assert asked.where("args.host").line == 4
    assert (asked.where("gpus.count").file, asked.where("gpus.count").line) == ("./mine.yaml", None)


def test_loading_changes_nothing_on_disk(bench: Bench) -> None:
    reference = bench.write(DESIGN)
    before = sorted(str(path) for path in bench.work.parent.rglob("*"))
    bench.load(reference)
    assert sorted(str(path) for path in bench.work.parent.rglob("*")) == before


def test_other_systems_can_load_the_modules_that_load_profiles() -> None:
    """Nothing that only Linux or POSIX has is imported with them."""
    script = (
        "import sys\n"
        "for name in ('grp', 'pwd', 'fcntl', 'resource', 'termios'): sys.modules[name] = None\n"
        "import launcher.profile.load, launcher.profile.catalogue\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_name_that_is_no_profile_and_a_bad_profile_have_the_same_code(bench: Bench) -> None:
    for reference in ("nothing", bench.write("a: [")):
        with pytest.raises(Refused) as refusal:
            load_profile(reference, environ={}, places=bench.places, cwd=str(bench.work), uid=1000)
        assert refusal.value.exit_code == CONFIG


def test_the_working_folder_of_the_caller_starts_relative_paths(bench: Bench) -> None:
    bench.write(MINIMAL, "deep/mine.yaml")
    asked = load_profile("mine.yaml", environ={}, places=bench.places, cwd=str(bench.work / "deep"), uid=1000)
    assert asked.folder == str(bench.work / "deep")


def test_errors_are_sentences_without_pydantics_words(bench: Bench) -> None:
    words = ("pydantic", "Input should", "validation", "_type", "NoneType", "<class", "dict", "Field", "extra")
    for line in told(bench.refused(bench.write(ALL_WRONG))):
        assert not [word for word in words if word in line]
