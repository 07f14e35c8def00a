"""How far two people agree."""

import pytest

from copilot_admin.review.agreement import Agreement, agreement


def test_kappa_of_the_textbook():
    # Cohen's own kind of example: 20 yes/yes, 15 no/no, 5 and 10 apart.
    pairs = [("y", "y")] * 20 + [("n", "n")] * 15 + [("y", "n")] * 5 + [("n", "y")] * 10
    found = agreement(pairs)
    assert (found.number, found.same, found.per_cent) == (50, 35, 70)
    assert found.kappa == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([], Agreement(number=0, same=0, kappa=None)),
        ([("a", "a")] * 3, Agreement(number=3, same=3, kappa=None)),
        ([("a", "a"), ("b", "b")], Agreement(number=2, same=2, kappa=1.0)),
        ([("a", "b"), ("b", "a")], Agreement(number=2, same=0, kappa=-1.0)),
        ([("a", "a"), ("a", "b")], Agreement(number=2, same=1, kappa=0.0)),
    ],
)
def test_the_ends_of_the_scale(pairs: list, expected: Agreement):
    assert agreement(pairs) == expected


def test_nothing_is_no_per_cent():
    assert agreement([]).per_cent == 0
