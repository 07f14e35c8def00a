"""The measures of the returns toolkit against worked examples that others have published.

Each class names title and place of its source.
"""

import pytest

from copilot_admin.agent.toolkits.returns.measures import measure_series

# quantopian/empyrical, empyrical/tests/test_stats.py: the series and what its tests expect.
MIXED = [0.01, 0.10, -0.04, 0.02, 0.03, 0.02, 0.01, -0.10]  # `mixed_returns` behind its NaN
NINE = [0.0, *MIXED]  # `weekly_returns` and `monthly_returns`
ONE = [
    -0.00171614,
    0.01322056,
    0.03063862,
    -0.01422057,
    -0.00489779,
    0.01268925,
    -0.03357711,
    0.01797036,
]
TWO = [
    0.01846232,
    0.00793951,
    -0.01448395,
    0.00422537,
    -0.00339611,
    0.03756813,
    0.0151531,
    0.03549769,
]


def value(values, measure, name="", **options):
    (row,) = measure_series({"values": values, **options}, measure).rows
    return row[name or measure]


class TestIrr:
    """Microsoft, "IRR function", support.microsoft.com/excel/irr-function: the example.

    Greytrout, "SS user guide", greytrout.com/manuals/SS_user_guide/node132.html: two more.
    """

    PAYMENTS = (-70000, 12000, 15000, 18000, 21000, 26000)

    @pytest.mark.parametrize(("years", "rate"), [(4, -0.021), (5, 0.087), (2, -0.444)])
    def test_irr_is_that_of_microsofts_example(self, years, rate):
        assert value(list(self.PAYMENTS[: years + 1]), "irr") == pytest.approx(rate, abs=0.0005)

    @pytest.mark.parametrize(
        ("payments", "guess", "rate"),
        [
            ([-80, 90, 67, 72, -90], -0.3, -0.32606171),
            ([-700, 750, 900, 600, 850], 0.1, 1.0462142),
        ],
    )
    def test_irr_is_that_of_the_user_guide_of_a_spreadsheet(self, payments, guess, rate):
        assert value(payments, "irr", guess=guess) == pytest.approx(rate, abs=5e-8)


class TestXirr:
    """Microsoft, "XIRR function", support.microsoft.com/excel/functions/xirr-function."""

    PAYMENTS = (
        ("2008-01-01", -10000),
        ("2008-03-01", 2750),
        ("2008-10-30", 4250),
        ("2009-02-15", 3250),
        ("2009-04-01", 2750),
    )

    @pytest.mark.parametrize("order", [1, -1])
    def test_xirr_is_that_of_microsofts_example_in_any_order(self, order):
        rows = [{"date": date, "paid": paid} for date, paid in self.PAYMENTS[::order]]
        assert value(rows, "xirr") == pytest.approx(0.373362535, abs=5e-9)


class TestStandardDeviation:
    """Microsoft, "STDEV.S function", support.microsoft.com/excel/stdev-s-function."""

    STRENGTHS = (1345, 1301, 1368, 1322, 1310, 1370, 1318, 1350, 1303, 1299)

    def test_the_standard_deviation_is_that_of_microsofts_example(self):
        given = {"values": list(self.STRENGTHS), "kind": "values"}
        found = measure_series(given, "standard_deviation")
        assert found.rows[0]["deviation_of_values"] == pytest.approx(27.46391572, abs=5e-9)
        assert found.lines == ("series: deviation of values 27.4639",)

    def test_that_of_returns_is_of_one_period(self):
        strengths = [one / 1e4 for one in self.STRENGTHS]
        found = value(strengths, "standard_deviation", kind="returns")
        assert found == pytest.approx(27.46391572e-4, abs=5e-13)


class TestSortino:
    """quantopian/empyrical, `test_sortino` with daily returns: 252 periods, target 0."""

    @pytest.mark.parametrize(
        ("returns", "ratio"),
        [
            (MIXED, 2.605531251673693),
            (ONE, 3.0639640966566306),
            (TWO, 38.090963117002495),
        ],
    )
    def test_the_sortino_ratio_is_that_of_empyrical(self, returns, ratio):
        found = value(returns, "sortino", kind="returns", periods_per_year=252)
        assert found == pytest.approx(ratio, rel=1e-11)


class TestCalmar:
    """quantopian/empyrical, `test_calmar`."""

    @pytest.mark.parametrize(
        ("periods", "ratio"), [(52, 2.4690830513998208), (12, 0.52242061386048144)]
    )
    def test_the_calmar_ratio_is_that_of_empyrical(self, periods, ratio):
        found = value(NINE, "calmar", kind="returns", periods_per_year=periods)
        assert found == pytest.approx(ratio, rel=1e-11)


class TestValueAtRisk:
    """Microsoft, "PERCENTILE.INC function": of 1, 3, 2, 4 the 30th percentile is 1.9."""

    def test_value_at_risk_is_the_percentile_of_microsofts_example(self):
        found = value([0.01, 0.03, 0.02, 0.04], "value_at_risk", kind="returns", confidence=0.7)
        assert found == pytest.approx(-0.019, abs=1e-12)  # a gain

    def test_a_loss_is_above_zero(self):
        found = value([-0.01, -0.03, -0.02, -0.04], "value_at_risk", kind="returns", confidence=0.7)
        assert found == pytest.approx(0.031, abs=1e-12)


class TestTrackingError:
    """GARP, FRM practice exam, fund and benchmark of 2005 to 2009: the answer is 3.05%."""

    FUND = (0.01, 0.03, 0.05, 0.04, 0.015)
    BENCHMARK = (0.09, 0.07, 0.07, 0.05, 0.02)

    def test_the_tracking_error_is_that_of_the_practice_exam(self):
        given = {"Fund": list(self.FUND), "Benchmark": list(self.BENCHMARK)}
        options = {"kind": "returns", "periods_per_year": 1}
        found = measure_series({"values": given, **options}, "tracking_error")
        assert found.rows[0]["tracking_error"] == pytest.approx(0.0305, abs=0.00005)
        assert found.lines == ("Fund: tracking error 3.05%, benchmark Benchmark",)
        assert "No benchmark was named: it is 'Benchmark', the last series." in found.notes
