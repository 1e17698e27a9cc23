"""No secret that was planted anywhere is in anything of ours: vllm-project/vllm#52523, #53625 print API keys.

Each is first shown to be in the raw output of the child, in every spelling; then it must be nowhere in the run's
folder, on the terminal, in what the reading commands print, or on a command line of one of our own processes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.helpers import eventually
from tests.launching import Launch

# Where a secret is planted, and its value: of those that nobody names a secret the shape or the place gives it away.
PLANTED = {
    "passed": "pAss3d-thr0ugh/the env+ironment",
    "yaml": 'wr1tten "in" the-profile\\x',
    "option": "g1ven0n-the-command-line",
    "flag": "g1ven-behind-the-dashes",
    "url": "us3r:w0rd-of-the-proxy",
    "unknown": "hf_Nob0dyT0ldUsOfThisValue",
    "bearer": "Zm9vYmFyOmJhejEyMzQ1Njc4",
}

# What a child may do with what it knows: say it plainly, in two writes, as JSON, in a URL, as Python's repr, coloured.
CHILD = """
import json, os, sys, time
from urllib.parse import quote
raw = open(sys.argv[1], "wb")
def say(*parts, stream=1):
    for part in parts:
        raw.write(part.encode())
        os.write(stream, part.encode())
        time.sleep(0.4 if len(parts) > 1 else 0)
option, flag = sys.argv[sys.argv.index("--api-key") + 1], sys.argv[sys.argv.index("--hf-token") + 1]
for value in (os.environ["HF_TOKEN"], os.environ["DB_PASSWORD"], option, flag):
    say(f"plain {value}\\n")
    say("halves " + value[:9], value[9:] + "\\n", stream=2)
    say(json.dumps({"nested": json.dumps({"value": value})}) + "\\n" + json.dumps({"value": value}) + "\\n")
    say(f"GET https://host/path?q={quote(value, safe='')}&x=1\\n")
    say(repr([value]) + "\\n", stream=2)
    say("\\x1b[1m" + value[:5] + "\\x1b[0m" + value[5:] + "\\n")
say(f"proxy is {os.environ['HTTPS_PROXY']}\\n")
say("Namespace(hf_token='hf_Nob0dyT0ldUsOfThisValue', port=1)\\n")
say("Authorization: Bearer Zm9vYmFyOmJhejEyMzQ1Njc4\\n")
say("the last line without an end: " + os.environ["HF_TOKEN"], stream=2)
raw.close()
os.rename(sys.argv[1], sys.argv[2])
while not os.path.exists(sys.argv[3]):
    time.sleep(0.05)
sys.exit(7)
"""


def spellings(value: str) -> set[str]:
    """How it may be written."""
    return {value, json.dumps(value)[1:-1], quote(value), quote(value, safe=""), repr(value)[1:-1]}


def found_in(text: bytes | str) -> set[str]:
    """Which of the planted secrets a text holds, in any spelling."""
    shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return {name for name, value in PLANTED.items() if any(spelling in shown for spelling in spellings(value))}


@pytest.fixture
def planted(launch: Launch) -> Launch:
    """The profile of a server that knows all of them."""
    script, raw = launch.folder / "child.py", launch.folder / "raw"
    script.write_text(CHILD)
    command = [sys.executable, str(script), str(raw), str(raw) + ".whole", str(launch.folder / "go")]
    launch.profile(
        ready=False,
        command=[*command, "--api-key", PLANTED["option"], "--hf-token", PLANTED["flag"]],
        env={"pass": ["HF_TOKEN"], "set": {"DB_PASSWORD": PLANTED["yaml"]}},
    )
    return launch


def environment(launch: Launch) -> dict[str, str]:
    return {**launch.environ, "HF_TOKEN": PLANTED["passed"], "HTTPS_PROXY": f"http://{PLANTED['url']}@127.0.0.1:9"}


@pytest.mark.parametrize("behind_dashes", [False, True], ids=["in the profile", "behind the dashes"])
def test_no_planted_secret_is_shown(planted: Launch, behind_dashes: bool) -> None:
    launch, environ = planted, environment(planted)
    flags = ("--", "--hf-token", PLANTED["flag"]) if behind_dashes else ()
    launch.run(launch.command("-v", *flags), environ)
    whole = Path(f"{launch.folder}/raw.whole")
    eventually(whole.exists, within=30, what="the child has said everything")
    assert found_in(whole.read_bytes()) == set(PLANTED), "each must be in the raw output"

    own, *others = our_command_lines(launch)
    assert others, "gpulaunch has a guard"
    assert not [line for line in others if found_in(line)]
    # What a user writes on our own command line stands there already when we begin.
    assert found_in(own) == ({"flag"} if behind_dashes else set())

    (launch.folder / "go").touch()
    assert launch.wait() == 7
    log = launch.log
    assert log.count(b"plain ***\n") == log.count(b"halves ***\n") == 4, log
    assert log.endswith(b"the last line without an end: ***\n") or b"without an end: ***\n" in log
    for file in launch.run_folder.iterdir():
        assert not found_in(file.read_bytes()), file.name
    assert not found_in(launch.output), "standard output"
    assert not found_in(launch.errors), "standard error"


@pytest.mark.parametrize(
    "words",
    [
        ["check"],
        ["explain"],
        ["env", "--format", "json"],
        ["check", "--json"],
        ["explain", "--json"],
        ["facts", "--json"],
    ],
)
def test_no_planted_secret_is_in_what_a_reading_command_prints(planted: Launch, words: list[str]) -> None:
    command = [sys.executable, "-m", "launcher", *words, "--profile", str(planted.file)]
    run = subprocess.run(command, env=environment(planted), cwd=planted.folder, capture_output=True, text=True)
    assert run.stdout
    assert not found_in(run.stdout + run.stderr)


@pytest.mark.parametrize("options", [["--dry-run"], ["--dry-run", "--json"]])
def test_no_planted_secret_is_in_a_dry_run(planted: Launch, options: list[str]) -> None:
    run = subprocess.run(
        planted.command(*options), env=environment(planted), cwd=planted.folder, capture_output=True, text=True
    )
    assert run.stdout
    assert not found_in(run.stdout + run.stderr)


def our_command_lines(launch: Launch) -> list[bytes]:
    """Of gpulaunch and everybody whom it started but the server, which alone was given them."""
    assert launch.process is not None
    pids, lines = [launch.process.pid], []
    for pid in pids:
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
        if b"child.py" not in line:
            lines.append(line)
        for task in Path(f"/proc/{pid}/task").iterdir():
            pids += map(int, (task / "children").read_text().split())
    return lines
