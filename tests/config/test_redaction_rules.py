"""What every copilot takes out is read once, and what is wrong is said in one line."""

import pytest

from copilot_admin.config.env import BadSetting
from copilot_admin.config.redaction_rules import KINDS, redaction_rules
from copilot_admin.redaction.kinds import DataKind


def test_kinds_and_expressions_are_read():
    assert redaction_rules(["card", "email"], '["CUST-[0-9]{6}"]') == (
        ("card", "email"),
        ("CUST-[0-9]{6}",),
    )
    assert redaction_rules([], "") == ((), ())
    assert tuple(kind.value for kind in DataKind) == KINDS


@pytest.mark.parametrize(
    ("kinds", "expressions", "words"),
    [
        (["colour"], "", "COPILOT_REDACT: 'colour' is no kind. Use: account, card, email, phone."),
        ([], "CUST", "COPILOT_REDACT_EXPRESSIONS is a JSON list"),
        ([], "7", "COPILOT_REDACT_EXPRESSIONS is a JSON list"),
        ([], '["("]', "COPILOT_REDACT_EXPRESSIONS is a JSON list"),
        ([], "[" * 100_000, "COPILOT_REDACT_EXPRESSIONS is a JSON list"),
    ],
)
def test_what_is_wrong_is_said(kinds, expressions, words):
    with pytest.raises(BadSetting) as wrong:
        redaction_rules(kinds, expressions)
    assert str(wrong.value).startswith(words)
