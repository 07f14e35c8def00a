"""What a copilot offers of Workspace where nobody said anything about it."""

from protocol.features import Feature


def test_a_feature_is_on_by_itself_only_where_its_row_says_so():
    assert Feature(key="k", label="L", help="H.").default is False
