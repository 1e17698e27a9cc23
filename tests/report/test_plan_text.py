"""What `explain` and a dry run tell people."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from launcher.explanations import CATALOGUE
from launcher.model import Liveness, PathEntry, Readiness, Restarts, Severity, Strategy
from launcher.report.dry_run import dry_run_lines
from launcher.report.launch import before
from launcher.report.lines import plain
from launcher.report.plan import COULD_NOT_TELL, STRATEGIES, plan_lines, toolkit_text
from tests.report.builders import TOOLKIT, a_change, a_finding, a_plan


def test_the_head_says_what_where_and_with_which_toolkit() -> None:
    text = plain(plan_lines(a_plan(), "A fine model"))
    assert text.startswith("kimi: sglang\n  A fine model\n")
    assert "/opt/venv/bin/python (--target)" in text
    assert "nvcc 13.0 in /usr/local/cuda-13.0" in text
    assert "127.0.0.1:30000" in text


def test_how_it_is_watched_is_said_where_the_profile_asks_for_it() -> None:
    plan = replace(
        a_plan(),
        ready=Readiness(url="http://127.0.0.1:30000/health", timeout=0.0, stall=1200.0, generate=True),
        live=Liveness(url="http://127.0.0.1:30000", stall=300.0, generate=False),
        restarts=Restarts(policy="on-failure", max=3, delay=2.0),
        grace=60.0,
    )
    told = plain(plan_lines(plan))
    assert "/health answers and it gives a token; ended after 1200 s without progress\n" in told
    assert "  live     ended when requests run and no token comes for 300 s\n" in told
    assert "  restart  after a failure that may heal, 3 times, the first 2 s later\n" in told
    assert "  stop     SIGTERM, 60 s later the end of whatever is left\n" in told
    unasked = plain(plan_lines(replace(plan, live=None, restarts=Restarts())))
    assert "  live " not in unasked and "  restart " not in unasked


def test_every_candidate_toolkit_has_its_verdict() -> None:
    text = plain(plan_lines(a_plan()))
    assert "+ /usr/local/cuda-13.0 (chosen)" in text
    assert "- /usr/local/cuda-12.8\n      12.8 < 12.9, which FlashInfer asks for\n" in text


def test_every_strategy_is_said_in_words() -> None:
    assert set(STRATEGIES) == set(get_args(Strategy))


def test_path_is_told_entry_by_entry() -> None:
    entries = (PathEntry(path="/a/bin", because="the target's"), PathEntry(path="/bin", because="system"))
    text = plain(plan_lines(a_plan((a_change("PATH", "/a/bin:/bin"),), search_path=entries)))
    assert "  1 /a/bin\n      the target's\n  2 /bin\n" in text
    assert "PATH (above)" in text


def test_every_variable_has_its_reason_also_one_of_an_origin_without_a_title() -> None:
    text = plain(plan_lines(a_plan((a_change("A", "1"), a_change("B", "2", origin="stars")))))
    assert "  from the profile\n    A=1\n        a reason of its own that is long\n" in text
    assert "  stars\n    B=2\n" in text


def test_variables_that_are_dropped_for_one_reason_share_a_line() -> None:
    gone = (
        a_change("A", None, because="why"),
        a_change("B", None, because="usual"),
        a_change("C", None, because="usual"),
    )
    assert "Dropped: 3 variables\n  A: why\n  B C: usual\n" in plain(plan_lines(a_plan(gone)))


def test_the_command_is_read_option_by_option() -> None:
    text = plain(
        plan_lines(a_plan(argv=("python", "-m", "vllm", "serve", "m", "--tp", "2", "--json", '{"a": -1}', "-v")))
    )
    assert "Command\n  python\n    -m vllm serve m\n    --tp 2\n    --json '{\"a\": -1}'\n    -v\n" in text


def test_what_could_not_be_told_stands_apart_and_every_such_code_is_explained() -> None:
    assert set(CATALOGUE) >= COULD_NOT_TELL
    unknown = a_finding(Severity.NOTE, code="could-not-tell", message="Could not tell gpus: no driver.")
    text = plain(plan_lines(a_plan(findings=(a_finding(), unknown))))
    assert "Findings\n  error: Something. [no-target]\n" in text
    assert "Could not tell\n  note: Could not tell gpus: no driver. [could-not-tell]\n" in text


def test_the_last_line_is_the_verdict() -> None:
    assert plain(plan_lines(a_plan())).splitlines()[-1] == "Would start: nothing to mend."
    blocked = plain(plan_lines(a_plan(findings=(a_finding(), a_finding(exit_code=75)))))
    assert blocked.splitlines()[-1] == "Would not start: 2 errors to mend, exit code 78."


def test_a_dry_run_compares_with_the_callers_environment() -> None:
    changes = (
        a_change("NEW", "1"),
        a_change("OTHER", "2"),
        a_change("SAME", "3"),
        a_change("GONE", None, because="no"),
    )
    text = plain(dry_run_lines(a_plan(changes), {"OTHER": "x", "SAME": "3", "GONE": "4"}, ("the command",)))
    assert "\nthe command\n" in text
    assert "  + NEW=1\n  ~ OTHER=2\n  - GONE: no\n  = 1 variable as you have it: SAME\n" in text


def test_a_dry_run_says_why_for_what_the_cuda_decision_sets() -> None:
    changes = (a_change("CUDA_HOME", "/c", origin="cuda", because="it suits"), a_change("PLAIN", "1"))
    text = plain(dry_run_lines(a_plan(changes), {}, ()))
    assert "  + CUDA_HOME=/c\n      it suits\n  + PLAIN=1\n" in text


def test_a_launch_tells_notes_only_when_asked() -> None:
    findings = (a_finding(Severity.WARNING, message="Careful."), a_finding(Severity.NOTE, message="By the way."))
    plan = a_plan(findings=findings)
    usual = plain(before(plan, "./k.yaml", verbose=False, quiet=False))
    assert "warning: Careful." in usual
    assert "By the way." not in usual
    assert "1 note: gpulaunch explain --profile ./k.yaml" in usual
    assert "note: By the way." in plain(before(plan, "./k.yaml", verbose=True, quiet=False))
    assert plain(before(plan, "./k.yaml", verbose=False, quiet=True)) == ""


def test_a_blocked_launch_says_that_it_did_not_start() -> None:
    text = plain(before(a_plan(findings=(a_finding(fix="Do it."),)), "k", verbose=False, quiet=True))
    assert text == (
        "error: Something. [no-target]\n  fix: Do it.\nnot started: mend the errors above (exit code 78).\n"
    )


def test_a_hidden_compiler_is_not_shown_as_a_toolkit() -> None:
    hidden = a_plan(toolkit=replace(TOOLKIT, strategy="hide", release=None, root="/c/hidden"))
    assert toolkit_text(hidden) == "none: every compiler is hidden"
