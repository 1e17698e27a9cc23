"""What the keys of a profile may hold, and what they must agree on."""

from __future__ import annotations

import pytest

from launcher.profile.schema import Ready
from launcher.profile.units import NoQuantity, seconds, size
from tests.profile.conftest import Bench, told


@pytest.mark.parametrize(
    ("text", "value"),
    [("60s", 60), ("5m", 300), ("1h", 3600), ("500ms", 0.5), ("1h30m", 5400), ("1.5h", 5400), ("2d", 172800), ("0", 0)],
)
def test_durations_are_seconds(text: str, value: float) -> None:
    assert seconds(text) == value


@pytest.mark.parametrize(
    ("text", "value"), [("64MiB", 64 << 20), ("1GB", 10**9), ("1.5KiB", 1536), ("10 kB", 10_000), ("7B", 7), ("0", 0)]
)
def test_sizes_are_bytes(text: str, value: int) -> None:
    assert size(text) == value


@pytest.mark.parametrize(
    "text", ["", "s", "60", "60 sec", "-5s", "5s5", "5s,1m", "1e3s", "9" * 400 + "s", "²s", "1.5.s"]
)
def test_anything_else_is_no_duration(text: str) -> None:
    with pytest.raises(NoQuantity):
        seconds(text)


@pytest.mark.parametrize("text", ["", "64", "64M", "64Mi", "64mib", "-1B", "1.5.MiB", "9" * 400 + "GB", "1GB 1MB"])
def test_anything_else_is_no_size(text: str) -> None:
    with pytest.raises(NoQuantity):
        size(text)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("stop: {grace: 60}", "stop.grace: 60 has no unit. Write 60s, or with another of the units ms, s, m, h, d."),
        ("stop: {grace: soon}", "stop.grace: this is no duration. Write a duration such as 500ms, 60s, 5m or 1h30m."),
        ("log: {rotate: 64}", "log.rotate: 64 has no unit. Write 64MiB, or with another of the units B, kB, MB,"),
        ("restart: {policy: always}", "restart.policy: always is no policy. Write never or on-failure."),
        ("restart: {policy: no}", "restart.policy: no is no policy. Write never or on-failure."),
        ("restart: {policy: 'no'}", "restart.policy: no is no policy. Write never or on-failure."),
        ("restart: {policy: false}", "restart.policy: false is no policy. Write never or on-failure."),
        ("restart: {max: -1}", "restart.max: expected a whole number. Write one, such as 8."),
        ("gpus: {count: 0}", "gpus.count: it must be 1 or more."),
        ("gpus: {count: eight}", "gpus.count: expected a whole number."),
        ("gpus: {count: '²'}", "gpus.count: expected a whole number."),
        ("gpus: {count: 99999999999999999999}", "gpus.count: expected a whole number."),
        ("gpus: 8", "gpus: expected a mapping. Write gpus: {count: 8}."),
        ("gpus: {select: '0,1'}", "gpus.select: it names several in one text. Write a list: [0, 1]."),
        ("gpus: {capability: 12}", "gpus.capability: 12 is no compute capability. Write it as 12.0."),
        ("gpus: {capability: 120}", "gpus.capability: 120 is no compute capability. Write it as 12.0."),
        ("gpus: {capability: sm_90}", "gpus.capability: sm_90 is no compute capability. Write it as 9.0."),
        ("cuda: {arch: [12.0a]}", "cuda.arch.0: 12.0a has a suffix. Write 12.0: each library gets the form"),
        ("cuda: {arch: 9.0+PTX}", "cuda.arch: 9.0+PTX has a suffix. Write 9.0"),
        ("cuda: {toolkit: newest}", "cuda.toolkit: newest is no choice. Write one of auto, keep, wheel, provision"),
        ("cuda: {toolkit: ./cuda}", "cuda.toolkit: ./cuda is no choice."),
        ("cuda: {arch: 9.0}\ngpus: {capability: 12.0}", "1: cuda.arch: it has no 12.0, which gpus.capability asserts."),
        ("target: {}", "target: it names nothing. Write one of {venv: DIR}"),
        ("target: /opt/venv", "target: expected a mapping. Write target: {venv: DIR}."),
        ("target: {venv: a, python: b}", "target: it names venv and python. Keep one."),
        ("target: {venv: ''}", "target.venv: it is empty."),
        ("target: {conda: a}", "target.conda: there is no such key."),
        ("model: ''", "model: it is empty. Write a value, or leave the key out."),
        ("model: true", 'model: expected text, got true. Write "true", if that is the text.'),
        ("model: [a]", "model: expected text, got a list."),
        ("cwd: ''", "cwd: it is empty."),
        ("ready: false", "ready: expected none or a mapping, got false. Write none, {path: /health} or {url: URL}."),
        ("ready: soon", "ready: expected none or a mapping, got text."),
        ("ready: {path: health}", "ready.path: it does not begin with /."),
        ("ready: {url: localhost:8000}", "ready.url: it is no whole URL."),
        ("ready: {path: /a, url: 'http://x/'}", "ready: it has both path and url. Keep one."),
        ("ready: {path: /a, retries: 3}", "ready.retries: there is no such key."),
        ("ready: {generate: maybe}", "ready.generate: expected true or false, got text."),
        ("live: {stall: 5}", "live.stall: 5 has no unit."),
        ("command: [a]", "command: it belongs to engine: command, not to sglang."),
        ("requires: {sglang: 0.5.14}", 'requires.sglang: 0.5.14 is no version specifier. Write one, such as "==0.5'),
        ("requires: {'a b': '>1'}", "requires.a b: 'a b' is no name of a package."),
        ("requires: [sglang]", 'requires: expected a mapping. Write requires: {sglang: ">=0.5.14"}.'),
        ("extends: {a: b}", "extends: expected text, got a mapping."),
        ("env: {set: {PATH: /x}}", "env.set.PATH: PATH is gpulaunch's own, so that all libraries see one toolkit. U"),
        ("env: {set: {CUDA_HOME: /x}}", "env.set.CUDA_HOME: CUDA_HOME is gpulaunch's own"),
        ("env: {pass: [CUDA_PATH]}", "env.pass.0: CUDA_PATH is gpulaunch's own"),
        ("env: {unset: [CUDA_LIB_PATH]}", "env.unset.0: CUDA_LIB_PATH is gpulaunch's own"),
        ("env: {pass: ['*']}", "env.pass.0: \"*\" would copy the caller's whole environment."),
        ("env: {pass: ['?*']}", "env.pass.0: \"?*\" would copy the caller's whole environment."),
        ("env: {pass: HF_TOKEN}", "env.pass: expected a list, got text. Write [A, B]"),
        ("env: {pass: ['A-B']}", "env.pass.0: it can be no variable here."),
        ("env: {unset: ['NCCL_*']}", "env.unset.0: it can be no variable here. Write whole names"),
        ("env: {set: {A-B: x}}", "env.set.A-B: it can be no variable here."),
        ("env: {set: {A: true}}", 'env.set.A: expected text, got true. Write "true", if that is the text.'),
        ("env: {set: {A: [x]}}", "env.set.A: expected text, got a list."),
        ("env: {set: {A: x}, unset: [A]}", "env.set.A: env.unset removes it again. Keep one of them."),
        ("env: {set: {FLASHINFER_CUDA_ARCH_LIST: ''}}", "Leave it out, or use cuda.arch."),
        ("env: {set: {TORCH_CUDA_ARCH_LIST: ''}}", "Leave it out, or use cuda.arch."),
        ("env: {set: {TRITON_PTXAS_PATH: ''}}", "Leave it out, or use cuda.toolkit."),
        ("env: {set: {CUDA_VISIBLE_DEVICES: 0}}\ngpus: {select: [0]}", "gpus.select chooses the GPUs, too."),
        ("env: {path: [bin]}", "env.path.0: it is not absolute. Write the whole path."),
        ("env: {path: ['/a:/b']}", "env.path.0: it holds a colon"),
        ("env: {HF_HOME: /x}", "env.HF_HOME: there is no such key. Variables stand below env.set: set: {HF_HOME:"),
        ("engin: vllm", "engin: there is no such key. Did you mean engine? Known here: args, command, "),
        ("grace: 60s", "grace: there is no such key. Did you mean stop.grace?"),
        ("venv: /opt", "venv: there is no such key. Did you mean target.venv?"),
        ("tp-size: 8", "tp-size: there is no such key. Options of the engine stand below args."),
        ("env: {passed: [A]}", "env.passed: there is no such key. Did you mean pass?"),
        ("schema_version: 1", "schema_version: there is no such key."),
        ("stop: {graze: 60s}", "stop.graze: there is no such key. Did you mean grace?"),
        ("ready: {url: 'http://127.0.0.1:${PORT}/'}", "ready.url: ${...} is not expanded here."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence_with_what_to_do(bench: Bench, lines: str, says: str) -> None:
    problem = bench.problem(f"{lines}\n")
    assert says in problem
    assert problem.startswith("1: ")
    assert problem.endswith(".")


@pytest.mark.parametrize(
    "lines",
    [
        "gpus: {count: '8', capability: '12.0', select: [0, GPU-1234, NVIDIA RTX]}",
        "gpus: {capability: [9.0, '12.0'], select: 0}\ncuda: {arch: [12.0, 9.0, 10.3]}",
        "cuda: {toolkit: /usr/local/cuda-13.0}",
        "env: {pass: [HF_TOKEN, 'NCCL_*', 'VLLM_?', '*_PROXY', '[A-C]X']}",
        "env: {set: {A: 1, B: '', C: 1.50}, path: [~/bin, /opt/bin]}",
        "env: {set: {CUDA_VISIBLE_DEVICES: ''}}\ngpus: {count: 1}",
        "ready: none",
        "ready: {timeout: 0, stall: 20m}",
        "requires: {sglang: '>=0.5.14,<0.6', torch: '', flashinfer_python: '==0.6.8'}",
        "restart: {policy: never}",
        "target: {venv: ~/venv}",
        "cwd: sub",
        "live: {stall: 5m, generate: true}",
    ],
)
def test_what_is_right_is_taken(bench: Bench, lines: str) -> None:
    assert bench.asked(f"{lines}\n").profile.name == "mine"


def test_values_are_taken_as_they_stand(bench: Bench) -> None:
    lines = """\
requires: {sglang: '>=0.5.14'}
target: {program: /opt/llama-server}
cuda: {toolkit: /usr/local/cuda-13.0}
gpus: {select: [0, GPU-12]}
env: {pass: [A, 'B_*'], unset: [C], path: [/opt/bin]}
ready: {path: /health, timeout: 5m}
restart: {policy: on-failure, delay: 2s}
cwd: sub
"""
    profile = bench.asked(lines).profile
    assert profile.requires == {"sglang": ">=0.5.14"}
    assert profile.target is not None and profile.target.program == "/opt/llama-server"
    assert (profile.cuda.toolkit, profile.gpus.select, profile.cwd) == ("/usr/local/cuda-13.0", ("0", "GPU-12"), "sub")
    assert (profile.env.passed, profile.env.unset, profile.env.path) == (("A", "B_*"), ("C",), ("/opt/bin",))
    assert isinstance(profile.ready, Ready) and (profile.ready.path, profile.ready.timeout) == ("/health", 300)
    assert (profile.restart.policy, profile.restart.delay) == ("on-failure", 2)
    by_url = bench.asked("ready: {url: 'http://[::1]:8000/x'}\n").profile.ready
    assert isinstance(by_url, Ready) and by_url.url == "http://[::1]:8000/x"


def test_capabilities_keep_their_spelling_quoted_or_not(bench: Bench) -> None:
    for spelling in ("12.0", '"12.0"', "[12.0]", '["12.0"]'):
        assert bench.asked(f"gpus: {{capability: {spelling}}}\ncuda: {{arch: {spelling}}}\n").profile.cuda.arch == (
            "12.0",
        )


def test_every_capability_that_is_wrong_is_told(bench: Bench) -> None:
    assert len(bench.problems("cuda: {arch: [12.0a, x, 9.0, 90]}\n")) == 3


COMMAND = "schema: 1\nname: mine\nengine: command\n"


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (
            "command: [a]\n",
            "3: ready: it is missing, and only you know when this command is ready. Write ready: none, or",
        ),
        ("command: [a]\nready: {path: /health}\n", "5: ready: engine: command has no address of its own"),
        ("command: [a]\nready: {timeout: 1m}\n", "5: ready: engine: command has no address of its own"),
        (
            "ready: none\n",
            "3: command: it is missing, and engine: command runs it. Write command: [PROGRAM, ARGUMENT].",
        ),
        ("ready: none\ncommand: []\n", "5: command: it is missing"),
        ("ready: none\ncommand: ['']\n", "5: command.0: the program is empty."),
        ("ready: none\ncommand: python3 server.py\n", "5: command: expected a list, got text. Write [A, B]"),
        ("ready: none\ncommand: [a, true]\n", '5: command.1: expected text, got true. Write "true"'),
    ],
)
def test_a_command_says_what_an_engine_would_know(bench: Bench, lines: str, says: str) -> None:
    (line,) = told(bench.refused(bench.write(COMMAND + lines)))
    line = line.removeprefix("./mine.yaml:")
    assert line.startswith(says.replace("3: ", "None: ", 1) if says.startswith("3: ") else says)


def test_a_command_is_taken_as_it_stands(bench: Bench) -> None:
    lines = 'command: [python3, server.py, --port, 8000, "", "a b"]\nready: {url: "http://127.0.0.1:8000/health"}\n'
    assert bench.load(bench.write(COMMAND + lines)).profile.command == (
        "python3",
        "server.py",
        "--port",
        "8000",
        "",
        "a b",
    )


def test_a_model_that_nothing_reads_is_a_warning(bench: Bench) -> None:
    asked = bench.load(bench.write(COMMAND + "command: [a]\nready: none\nmodel: x\n"))
    assert [finding.code for finding in asked.findings] == ["profile-without-effect"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name: mine\nengine: vllm\n", "schema: it is missing. Add schema: 1."),
        ("schema: 1\nengine: vllm\n", "name: it is missing. Add name: NAME."),
        (
            "schema: 1\nname: mine\n",
            "engine: it is missing. Add engine: sglang or vllm or llamacpp or transformers or command.",
        ),
        ("schema: 2\nname: mine\nengine: vllm\n", ":1: schema: this gpulaunch knows schema 1, not 2."),
        ("schema: true\nname: mine\nengine: vllm\n", ":1: schema: this gpulaunch knows schema 1, not true."),
        ("schema: 1\nname: a b\nengine: vllm\n", ":2: name: 'a b' can be no name."),
        (
            "schema: 1\nname: mine\nengine: vlm\n",
            ":3: engine: vlm is not one of sglang, vllm, llamacpp, transformers, command. Did you mean",
        ),
        ("schema: 1\nname: mine\nengine: [vllm]\n", ":3: engine: this is not one of sglang"),
    ],
)
def test_schema_name_and_engine_are_asked_for(bench: Bench, text: str, says: str) -> None:
    (line,) = told(bench.refused(bench.write(text)))
    assert says in line


def test_everything_else_has_a_default(bench: Bench) -> None:
    profile = bench.asked("").profile
    assert (profile.stop.grace, profile.restart.policy, profile.cuda.toolkit, profile.ready) == (
        30,
        "never",
        "auto",
        None,
    )


def test_a_profile_does_not_change_after_loading(bench: Bench) -> None:
    profile = bench.asked("").profile
    with pytest.raises(ValueError, match="frozen"):
        profile.model = "other"
