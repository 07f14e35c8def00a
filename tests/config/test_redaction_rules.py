"""What every copilot takes out is read once, and what is wrong is said in one line."""

import pytest

from copilot_admin.config.env import BadSetting
from copilot_admin.config.redaction_rules import redaction_rules

KNOWN = ("card", "email")


def test_kinds_and_expressions_are_read():
    assert redaction_rules(["card", "email"], '["CUST-[0-9]{6}"]', known=KNOWN) == (
        ("card", "email"),
        ("CUST-[0-9]{6}",),
    )
    assert redaction_rules([], "", known=KNOWN) == ((), ())


@pytest.mark.parametrize(
    ("kinds", "expressions", "words"),
    [
        (["colour"], "", "COPILOT_REDACT: 'colour' is no kind. Use: card, email."),
        ([], "CUST", "COPILOT_REDACT_EXPRESSIONS is a JSON list"),
        ([], '"CUST"', "COPILOT_REDACT_EXPRESSIONS is a JSON list"),  # not one for each letter
        ([], "{}", "COPILOT_REDACT_EXPRESSIONS is a JSON list"),
        ([], "7", "COPILOT_REDACT_EXPRESSIONS is a JSON list"),
        ([], '["("]', "COPILOT_REDACT_EXPRESSIONS is a JSON list"),
        ([], "[" * 100_000, "COPILOT_REDACT_EXPRESSIONS is a JSON list"),
    ],
)
def test_what_is_wrong_is_said(kinds, expressions, words):
    with pytest.raises(BadSetting) as wrong:
        redaction_rules(kinds, expressions, known=KNOWN)
    assert str(wrong.value).startswith(words)
