"""JSON in a text has as many values as a call of a component may have, and no more."""

import pytest

from copilot_admin.agent import text as json_text
from copilot_admin.agent.text import parse_json_text


@pytest.fixture(autouse=True)
def max_values(monkeypatch):
    monkeypatch.setattr(json_text, "MAX_VALUES", 9)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1,2,3,4,5,6,7,8,9]", [*range(1, 10)]),
        ('{"a":1}', {"a": 1}),
        ('["é","\ud800"]', ["é", "\ud800"]),
    ],
)
def test_as_many_values_as_may_be_are_read(text, value):
    assert parse_json_text(text, what="rows") == value


def test_one_more_is_refused_in_words():
    with pytest.raises(ValueError, match=r"^The rows have more than 9 JSON values\. Send fewer\.$"):
        parse_json_text("[1,2,3,4,5,6,7,8,9,0]", what="rows")
