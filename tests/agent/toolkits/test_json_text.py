"""JSON in a text has as many values as a call of a component may have, and no more."""

import pytest

from copilot_admin.agent.toolkits import texts as json_text
from copilot_admin.agent.toolkits.texts import json_in


@pytest.fixture(autouse=True)
def most_tokens(monkeypatch):
    monkeypatch.setattr(json_text, "MOST_TOKENS", 11)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1,2,3,4,5,6,7,8,9]", [*range(1, 10)]),
        ('{"a":1}', {"a": 1}),
        ('["a,b,c,d,,,,,,","é","\ud800"]', None),
    ],
)
def test_as_many_values_as_may_be_are_read(text, value):
    assert json_in(text, what="rows") == (value or ["a,b,c,d,,,,,,", "é", "\ud800"])


@pytest.mark.parametrize("text", ["[1,2,3,4,5,6,7,8,9,0]", '{"a":[]}'])
def test_one_more_is_refused_in_words(text):
    with pytest.raises(
        ValueError, match=r"^The rows have more than 11 JSON values\. Send fewer\.$"
    ):
        json_in(text, what="rows")
