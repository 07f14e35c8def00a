"""Assertions and numbers: what passes, what fails, and what a reason names."""

import pytest

from copilot_admin.copilots.test_cases import Assertion
from copilot_admin.evaluation.assertions import (
    CaseAnswer,
    check_assertion,
    combine_verdicts,
    parse_judgement,
)
from copilot_admin.evaluation.numbers import find_numbers
from copilot_admin.models import ResultVerdict

PASSED, FAILED = ResultVerdict.PASSED, ResultVerdict.FAILED
INCONCLUSIVE, ERROR = ResultVerdict.INCONCLUSIVE, ResultVerdict.ERROR
ANSWER = CaseAnswer(
    text="Net income\ngrew by 12.4 % to 1,011.9 (6.1%).",
    cited=frozenset({"news"}),
    called=frozenset({"get_widget_data"}),
)


@pytest.mark.parametrize(
    ("assertion", "verdict"),
    [
        ({"contains": "NET\n income"}, PASSED),
        ({"contains": "loss"}, FAILED),
        ({"lacks": "loss"}, PASSED),
        ({"lacks": "income grew"}, FAILED),
        ({"number": 12.5, "tolerance": 0.1}, PASSED),
        ({"number": 0.124}, PASSED),
        ({"number": 1011.9}, PASSED),
        ({"number": -6.1}, PASSED),
        ({"number": 1012}, FAILED),
        ({"cites": "news"}, PASSED),
        ({"cites": "prices"}, FAILED),
        ({"calls": "get_widget_data"}, PASSED),
        ({"calls": "get_skill_content"}, FAILED),
    ],
)
def test_an_assertion_passes_or_fails_with_a_reason(assertion, verdict):
    outcome = check_assertion(Assertion.model_validate(assertion), ANSWER)
    assert outcome is not None
    assert (outcome.verdict, bool(outcome.reason)) == (verdict, True)


@pytest.mark.parametrize(
    ("verdicts", "worst"),
    [
        ([], PASSED),
        ([PASSED, PASSED], PASSED),
        ([PASSED, INCONCLUSIVE], INCONCLUSIVE),
        ([INCONCLUSIVE, FAILED], FAILED),
        ([ERROR, FAILED], ERROR),
    ],
)
def test_the_worst_verdict_decides(verdicts, worst):
    assert combine_verdicts(verdicts) is worst


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("YES: it greets.", PASSED),
        ("**No**, it does not.", FAILED),
        (" yes", PASSED),
        ("_No_", FAILED),
        ('{"answer": "no"}', FAILED),
        ("**Verdict:** YES", PASSED),
        ("<think>\nYes? Hardly.\n</think>\n\nNO: it does not.", FAILED),
        ("NO: it says </think>YES", FAILED),
        ("<think>Yes", INCONCLUSIVE),
        ("Yesterday it did.", INCONCLUSIVE),
        ("I would say yes.", INCONCLUSIVE),
        ("", INCONCLUSIVE),
        ("." * 600 + "yes", INCONCLUSIVE),
    ],
)
def test_a_judge_says_yes_or_no_first(text, verdict):
    assert parse_judgement(text).verdict is verdict


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It was 106.", [{106}]),
        ("1,234.5 and 1.234,5", [{1234.5}, {1234.5}]),
        ("1,234", [{1234, 1.234}]),
        ("1.234", [{1234, 1.234}]),
        ("0,123 and 0.123", [{0.123}, {0.123}]),
        ("12,5", [{12.5}]),
        ("1,234,567 and 1.234.567,89", [{1234567}, {1234567.89}]),
        ("1'234'567.8", [{1234567.8}]),
        ("1\u202f234\u202f567,8", [{1234567.8}]),
        ("12 % or 12%", [{12, 0.12}, {12, 0.12}]),
        ("12\u00a0%", [{12, 0.12}]),
        ("(3.2)", [{3.2, -3.2}]),
        ("(3.2 %)", [{3.2, -3.2, 0.032, -0.032}]),
        ("(see 3.2)", [{3.2}]),
        ("$1.5bn and 2 million", [{1.5, 1.5e9}, {2, 2e6}]),
        ("-$5k and (3 M)", [{-5, -5000}, {3, -3, 3e6, -3e6}]),
        ("25 bps", [{25, 0.0025}]),
        ("2 markets and 5MB", [{2}, {5}]),
        ("\u22124 and -4 and \u20134", [{-4}, {-4}, {-4}]),
        ("-$5 and $-5 and €5", [{-5}, {-5}, {5}]),
        ("1.5e-3", [{0.0015}]),
        ("3\u20135 and Q-7 and 2026-01-05", [{3}, {5}, {7}, {2026}, {1}, {5}]),
        ("in 2024 500 people", [{2024}, {500}]),
        ("5.1.2026", [{5}, {1}, {2026}]),
        ("**106.0**.", [{106}]),
        ("1e999", []),
        ("9" * 41, []),
        ("no number", []),
        ("", []),
        ("-", []),
    ],
)
def test_a_number_has_all_its_readings(text, found):
    assert [one.values for one in find_numbers(text)] == found
