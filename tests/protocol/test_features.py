"""What a copilot offers of Workspace where nobody said anything about it."""

from protocol.features import FEATURES


def test_nothing_is_offered_that_nobody_switched_on():
    assert [feature.key for feature in FEATURES if feature.default] == []
