"""No report shows a secret, wherever in a plan it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from launcher.model import Choice, Outcome, Plan, Severity, Step, Verdict
from launcher.report.document import plan_document
from launcher.report.dry_run import dry_run_lines
from launcher.report.golden import golden
from launcher.report.launch import before, outcome
from launcher.report.lines import plain
from launcher.report.masking import masked, masked_outcome
from launcher.report.plan import plan_lines
from tests.report.builders import TOOLKIT, a_change, a_finding, a_plan

REPORTS: dict[str, Callable[[Plan], str]] = {
    "document": lambda plan: "\n".join(_texts(plan_document(plan))),
    "golden": golden,
    "explain": lambda plan: plain(plan_lines(plan)),
    "dry run": lambda plan: plain(dry_run_lines(plan, {}, ())),
    "launch": lambda plan: plain(before(plan, "kimi", verbose=True, quiet=False)),
}

# Long enough to be masked wherever it stands; of characters that JSON and the terminal show as they are.
LONG = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=40)


def _texts(value: object) -> list[str]:
    """Every text in a JSON value, keys included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for text in (*_texts(pair[0]), *_texts(pair[1]))]
    return [text for entry in value for text in _texts(entry)] if isinstance(value, list) else []


def _full_of(secret: str) -> Plan:
    """A plan that holds the secret everywhere a text may stand."""
    said = f"before {secret} after"
    verdict = Verdict(root=f"/r/{secret}", fits=False, because=said)
    toolkit: Choice = replace(TOOLKIT, root=f"/r/{secret}", how=said, because=said, verdicts=(verdict,))
    return a_plan(
        (
            a_change("HF_TOKEN", secret, secret=True, because=said),
            a_change("PLAIN", f"x{secret}x", because=said),
            a_change("GONE", None, because=said),
        ),
        argv=("python", "--api-key", secret, f"--hf-token={secret}", "--other", f"x{secret}"),
        cwd=f"/srv/{secret}",
        prepare=(Step(action="view", path=f"/c/{secret}", source=f"/s/{secret}", because=said),),
        toolkit=toolkit,
        findings=(
            a_finding(message=said, fix=said, file=f"/f/{secret}", line=3),
            a_finding(Severity.NOTE, message=said),
        ),
        secrets=frozenset({secret}),
        secret_arguments=frozenset({2, 3}),
    )


@pytest.mark.parametrize("report", REPORTS)
@given(secret=LONG)
def test_no_report_shows_a_secret(report: str, secret: str) -> None:
    harmless = REPORTS[report](_full_of("harmless"))
    assume(secret not in harmless.replace("harmless", "***"))
    assert secret not in REPORTS[report](_full_of(secret))


@pytest.mark.parametrize("report", REPORTS)
def test_the_check_above_would_see_a_secret(report: str) -> None:
    plan = replace(_full_of("s3cret-value"), secrets=frozenset(), secret_arguments=frozenset())
    assert "s3cret-value" in REPORTS[report](plan)


def test_a_short_secret_is_masked_at_its_own_place_and_nowhere_else() -> None:
    plan = a_plan(
        (a_change("MY_PASSWORD", "abc", secret=True), a_change("ALPHABET", "abcdef")),
        argv=("serve", "--api-key", "abc", "--api-key=abc", "--letters", "abcdef"),
        secrets=frozenset({"abc"}),
        secret_arguments=frozenset({2, 3}),
    )
    shown = masked(plan)
    assert shown.env == {"MY_PASSWORD": "***", "ALPHABET": "abcdef"}
    assert shown.argv == ("serve", "--api-key", "***", "--api-key=***", "--letters", "abcdef")


def test_the_user_of_a_url_is_masked_without_being_told() -> None:
    shown = masked(
        a_plan(argv=("serve", "--url", "http://me:pw@host/x"), findings=(a_finding(message="at s3://k:v@b"),))
    )
    assert shown.argv[2] == "http://***@host/x"
    assert shown.findings[0].message == "at s3://***@b"


def test_masking_twice_changes_nothing_more() -> None:
    once = masked(_full_of("s3cret-value"))
    assert masked(once) == once


def test_the_servers_last_lines_are_masked_at_the_end() -> None:
    ended = Outcome(
        exit_code=1,
        cause="it said s3cret-value",
        origin="child",
        child="exit 1",
        requested=False,
        ready=False,
        last_lines=("token s3cret-value refused",),
    )
    text = plain(outcome(masked_outcome(ended, frozenset({"s3cret-value"}))))
    assert "s3cret-value" not in text
    assert "token *** refused" in text
