"""Sortino, Calmar, value at risk, standard deviation, tracking error, IRR and XIRR at their edges."""

import json

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.agent.toolkits.returns.measures import measure_series
from copilot_admin.agent.toolkits.returns.payments import MAX_PAYMENTS

FLAT = {"values": [0.01, 0.01, 0.01], "kind": "returns", "periods_per_year": 12}


def only(series, measure):
    found = measure_series(series, measure)
    (row,) = found.rows
    json.dumps(found.rows, allow_nan=False)
    return row, found.notes


def dated(*points):
    return [{"date": date, "value": value} for date, value in points]


class TestNothingToDivideBy:
    @pytest.mark.parametrize(
        ("measure", "word"),
        [
            ("sharpe", "No Sharpe ratio of 'series': it needs two returns that differ."),
            ("sortino", "No Sortino ratio of 'series': no return falls short of the target."),
            ("calmar", "No Calmar ratio of 'series': it never falls."),
        ],
    )
    def test_a_constant_series_has_no_ratio_and_a_word_says_why(self, measure, word):
        row, notes = only(FLAT, measure)
        assert row == {"series": "series", measure: None}
        assert word in notes

    def test_one_return_has_no_standard_deviation(self):
        row, notes = only([1, 2], "standard_deviation")
        assert row["standard_deviation"] is None
        assert "No standard deviation of 'series': it needs two returns." in notes

    def test_one_value_has_no_standard_deviation(self):
        row, notes = only({"values": [1], "kind": "values"}, "standard_deviation")
        assert row["deviation_of_values"] is None
        assert "No standard deviation of 'series': it needs two values." in notes

    def test_one_common_return_has_no_tracking_error(self):
        row, notes = only({"A": [1, 2], "B": [1, 3]}, "tracking_error")
        assert row["tracking_error"] is None
        assert "No tracking error: it needs two common returns." in notes

    def test_a_series_does_not_stray_from_itself(self):
        row, _ = only({"A": [1, 2, 3], "B": [1, 2, 3]}, "tracking_error")
        assert row["tracking_error"] == 0

    def test_values_have_no_ratio(self):
        with pytest.raises(
            ValueError, match="Of the kind 'values' there is only standard_deviation"
        ):
            measure_series({"values": [1, 2], "kind": "values"}, "sharpe")


class TestConventions:
    def test_the_answer_says_which_target_and_which_deviation(self):
        _, notes = only({"values": [100, 90, 95], "risk_free_rate": 0.04}, "sortino")
        assert notes[-1] == (
            "The Sortino ratio is over a target of 4.00% a year; its downside deviation is over all"
            " returns."
        )
        _, notes = only({"values": [100, 90, 95], "target": "5%"}, "sortino")
        assert "a target of 5.00% a year" in notes[-1]

    def test_the_answer_says_how_value_at_risk_is_found_and_that_the_data_is_little(self):
        row, notes = only([100, 90, 95], "value_at_risk")
        assert row == {
            "series": "series",
            "value_at_risk": pytest.approx(0.1 - 0.05 * (0.1 + 5 / 90)),
            "confidence": 0.95,
        }
        assert notes == (
            "Value at risk is the loss of one period that 95% of the returns did not exceed:"
            " historical, on the line between two returns (as PERCENTILE.INC). Below zero it is a"
            " gain.",
            "'series' has 2 returns: too few to see one beyond that loss.",
        )

    def test_the_named_benchmark_is_taken_without_a_word(self):
        series = {"values": {"A": [1, 2, 3], "B": [1, 2, 4]}, "benchmark": "a"}
        found = measure_series(series, "tracking_error")
        assert (found.rows[0]["series"], found.rows[0]["benchmark"]) == ("B", "A")
        assert not any("No benchmark was named" in note for note in found.notes)

    def test_a_benchmark_of_other_dates_is_compared_where_both_have_values(self):
        series = {
            "A": dict.fromkeys(["2024-01-01", "2024-01-02", "2024-01-03"], 1) | {"2024-01-04": 2},
            "B": {"2024-01-02": 1, "2024-01-03": 2, "2024-01-04": 3, "2024-01-05": 4},
        }
        notes = measure_series(series, "tracking_error").notes
        assert notes[:2] == ("Compared at the 3 points that all series have.", "Common returns: 2.")

    def test_a_benchmark_of_another_length_without_dates_is_an_error(self):
        with pytest.raises(ValueError, match="A has 2, B has 3"):
            measure_series({"A": [1, 2], "B": [1, 2, 3]}, "tracking_error")


class TestPercent:
    def test_whole_numbers_are_questioned(self):
        _, notes = only({"values": [5.2, -0.5, 1.3], "kind": "returns"}, "total_return")
        assert notes == (
            "Are the returns of 'series' percent? 5.2 was taken as 520%. If it is percent, say"
            ' {"values": ..., "kind": "returns", "unit": "percent"}.',
        )

    def test_whole_numbers_below_a_total_loss_are_an_error_that_asks(self):
        with pytest.raises(ValueError, match="If the values are percent, say"):
            measure_series({"values": [5.2, -3.1], "kind": "returns"}, "total_return")

    def test_percent_is_read_as_such_where_it_is_said(self):
        series = {"values": [5.2, -3.1], "kind": "returns", "unit": "percent"}
        row, notes = only(series, "total_return")
        assert row["total_return"] == pytest.approx(1.052 * 0.969 - 1)
        assert notes == ()

    def test_prices_with_percent_signs_are_questioned(self):
        _, notes = only(["5.2%", "3.1%"], "total_return")
        assert notes == (
            "Are the values of 'series' returns? They have percent signs and were taken as prices."
            ' If they are returns, say {"values": ..., "kind": "returns"}.',
        )

    def test_a_rate_in_whole_numbers_is_questioned(self):
        _, notes = only({"values": [100, 101, 103], "risk_free_rate": 4}, "sharpe")
        assert notes[0] == (
            "Is the risk_free_rate percent? 4 was taken as 400% a year; 4% is 0.04."
        )

    def test_a_rate_may_be_a_text_in_percent(self):
        as_text, as_number = (
            only({"values": [100, 101, 103], "risk_free_rate": rate}, "sharpe")
            for rate in ("4%", 0.04)
        )
        assert as_text == as_number


class TestDecimalCommas:
    @pytest.mark.parametrize(
        ("written", "meant"), [("5,2", "5.2"), ("1.234,56", "1234.56"), ("€ 3,5", "3.5")]
    )
    def test_they_are_named_in_the_error(self, written, meant):
        for series in ([1, written], [{"close": written}, {"close": written}]):
            with pytest.raises(ValueError, match=f"decimals with a point, as in {meant}"):
                measure_series(series, "returns")

    def test_a_column_of_them_is_not_left_out_in_silence(self):
        csv = "date;A;B\n2024-01-02;10,5;3\n2024-01-03;10,7;4"
        with pytest.raises(ValueError, match="column 'A' has '10,5' in it"):
            measure_series(csv, "returns")

    def test_thousands_are_no_decimals(self):
        assert only(["1,000", "1,100.5"], "total_return")[0]["total_return"] == pytest.approx(
            0.1005
        )


class TestIrr:
    def test_payments_of_one_sign_have_none(self):
        for payments in ([100, 200], [-1, -2], [0, 0], [5]):
            with pytest.raises(ValueError, match="'series' has no irr: it needs at least one paym"):
                measure_series(payments, "irr")

    def test_several_rates_are_all_said_and_none_is_the_return(self):
        row, notes = only([-100, 230, -132], "irr")
        assert row["irr"] == pytest.approx(0.1)
        assert row["all_rates"] == "10.00%, 20.00%"
        assert notes[0] == (
            "'series' has 2 rates, since its payments change sign more than once: 10.00%, 20.00%."
            " None of them is the return by itself; 10.00% is the nearest to the guess of 10.00%."
        )
        assert only({"values": [-100, 230, -132], "guess": 0.5}, "irr")[0]["irr"] == pytest.approx(
            0.2
        )

    def test_where_no_rate_exists_it_is_said(self):
        with pytest.raises(ValueError, match="at no rate are its payments worth nothing together"):
            measure_series([-10, 21, -11.5], "irr")

    def test_a_rate_that_is_only_touched_is_found(self):
        assert only([-1, 2.2, -1.21], "irr")[0]["irr"] == pytest.approx(0.1, abs=1e-6)

    def test_a_missing_payment_is_none_and_shifts_no_other(self):
        row, notes = only([-100, None, 121], "irr")
        assert row["irr"] == pytest.approx(0.1)
        assert notes[0] == "Missing values of 'series' left out: 1."

    def test_monthly_payments_have_a_rate_a_month_and_a_year(self):
        row, _ = only({"values": [-100, 101], "periods_per_year": 12}, "irr")
        assert row["irr"] == pytest.approx(0.01)
        assert row["irr_a_year"] == pytest.approx(1.01**12 - 1)
        by_dates, _ = only(dated(("2024-01-31", -100), ("2024-02-29", 101)), "irr")
        assert by_dates == {**row, "series": "value"}

    def test_too_many_payments_are_refused(self):
        with pytest.raises(ValueError, match="more than 10,000 payments"):
            measure_series([-1, 1] * (MAX_PAYMENTS // 2 + 1), "irr")

    @given(st.lists(st.floats(0.01, 1e6), min_size=1, max_size=20), st.floats(0.01, 1e6))
    def test_at_the_rate_the_payments_are_worth_nothing(self, received, paid):
        payments = [-paid, *received]
        rate = only(payments, "irr")[0]["irr"]
        worth = (
            sum(one / (1 + rate) ** place for place, one in enumerate(payments))
            if rate > -0.999
            else 0
        )
        assert abs(worth) <= 1e-6 * paid


class TestXirr:
    def test_it_needs_dates(self):
        with pytest.raises(ValueError, match="xirr needs dates: give"):
            measure_series([-100, 110], "xirr")
        with pytest.raises(ValueError, match="payments on at least two dates"):
            measure_series(
                dated(("2024-01-01", -1), ("2024-01-01", 2)) + dated(("2024-01-01", 3)), "xirr"
            )

    def test_payments_of_one_day_are_added_up_even_equal_ones(self):
        twice = dated(("2023-01-01", -100), ("2023-01-01", -100), ("2024-01-01", 220))
        row, notes = only(twice, "xirr")
        assert row["xirr"] == pytest.approx(0.1)
        assert "Payments of 'value' on the same date were added up." in notes

    def test_a_gain_within_a_day_has_no_rate(self):
        with pytest.raises(ValueError, match="payments on at least two dates"):
            measure_series(dated(("2024-01-01", -1e-150), ("2024-01-01T00:01", 1e150)), "xirr")
