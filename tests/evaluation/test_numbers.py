"""Numbers are found in a text however they are written, and what has two readings has both."""

import pytest

from copilot_admin.evaluation.expectations import is_near, numbers_in


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
def test_a_number_is_found_with_all_that_it_can_mean(text, found):
    assert list(numbers_in(text)) == found


@pytest.mark.parametrize(
    ("value", "expected", "tolerance", "near"),
    [
        (0.1 + 0.2, 0.3, 0.0, True),
        (3.3, 3.2, 0.1, True),
        (3.31, 3.2, 0.1, False),
        (1e12 + 1, 1e12, 0.0, True),
        (-4.0, 4.0, 1.0, False),
    ],
)
def test_what_the_machine_rounds_is_no_difference(value, expected, tolerance, near):
    assert is_near(value, expected, tolerance) is near
