"""Returns and risk: values by hand, published examples, laws, and what has no result."""

from math import log, sqrt
from statistics import correlation, covariance, stdev, variance

import pytest

from copilot_admin.agent.toolkits.returns.measures import measure_series
from copilot_admin.agent.toolkits.returns.options import Options, split_options

PRICES = [100, 110, 99, 121]
RETURNS = [0.1, -0.1, 2 / 9]
DATES = ("2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30")


def measure(series, name, **options):
    return measure_series({"values": series, **options} if options else series, name)


def value(series, name, **options):
    (row,) = measure(series, name, **options).rows
    return row[name]


def dated(*points):
    return [{"date": date, "value": value} for date, value in points]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("total_return", 0.21),
        ("annualised_return", 1.21 ** (12 / 3) - 1),
        ("cagr", 1.21 ** (12 / 3) - 1),
        ("volatility", stdev(RETURNS) * sqrt(12)),
        ("standard_deviation", stdev(RETURNS)),
        ("sharpe", sum(RETURNS) / 3 / stdev(RETURNS) * sqrt(12)),
        ("max_drawdown", -0.1),
        ("returns", RETURNS),
        ("log_returns", [log(1.1), log(0.9), log(11 / 9)]),
        ("drawdown", [0.0, -0.1, 0.0]),
        ("rolling_return", [-0.01, 0.1]),
        ("rolling_volatility", [stdev(RETURNS[:2]) * sqrt(12), stdev(RETURNS[1:]) * sqrt(12)]),
    ],
)
@pytest.mark.parametrize("kind", ["prices", "returns"])
def test_values_by_hand(name, expected, kind):
    given = PRICES if kind == "prices" else RETURNS
    found = measure(given, name, window=2, periods_per_year=12, kind=kind).rows
    if isinstance(expected, list):
        assert [row["series"] for row in found] == pytest.approx(expected, rel=1e-11)
    else:
        assert found[0][name] == pytest.approx(expected, rel=1e-11)


def test_cagr_goes_by_the_calendar_and_the_annualised_return_by_the_periods():
    years = dated(("2020-01-01", 100), ("2022-01-01", 121))
    assert value(years, "cagr") == pytest.approx(1.21 ** (365.25 / 731) - 1, rel=1e-11)
    assert value(years, "annualised_return", periods_per_year=1) == pytest.approx(0.21)


def test_ratios_are_over_the_rate_of_the_options():
    per_period = 1.05 ** (1 / 12) - 1
    options = {"periods_per_year": 12, "risk_free_rate": "5%"}
    expected = (sum(RETURNS) / 3 - per_period) / stdev(RETURNS) * sqrt(12)
    assert value(PRICES, "sharpe", **options) == pytest.approx(expected, rel=1e-11)
    assert "over a target of 5.00% a year" in measure(PRICES, "sortino", **options).notes[-1]
    assert "over a target of 3.00% a year" in measure(PRICES, "sortino", target=0.03).notes[-1]


def test_the_summary_holds_what_one_wants_to_know_first():
    found = measure(dated(*zip(DATES, PRICES, strict=True)), "summary")
    assert found.title == "Summary"
    assert found.lines == (
        "value: begin 2024-01-31, end 2024-04-30, returns 3, total return 21.00%, annualised return"
        " 114.36%, volatility 56.35%, sharpe 1.5774, max drawdown -10.00%, peak 2024-02-29, trough"
        " 2024-03-31, recovery 2024-04-30",
    )
    assert found.notes == (
        "A year has 12 periods of 'value'.",
        "'value' covers 0.25 years: a return made annual from less than a year is no forecast.",
        "The Sharpe ratio is over a risk-free rate of 0.00% a year.",
    )


def test_several_series_have_a_row_or_a_column_each():
    table = "date,A,B\n2024-01-02,1,4\n2024-01-03,2,\n2024-01-04,3,2"
    assert measure(table, "total_return").rows == (
        {"series": "A", "total_return": 2.0},
        {"series": "B", "total_return": -0.5},
    )
    found = measure(table, "returns")
    assert found.rows == (
        {"date": "2024-01-03", "A": 1.0, "B": None},
        {"date": "2024-01-04", "A": 0.5, "B": -0.5},
    )
    assert found.lines[0] == (
        "A: 2 values from 2024-01-03 to 2024-01-04, lowest 50.00% (2024-01-04), highest 100.00%"
        " (2024-01-03), the last 2: 2024-01-03 100.00%, 2024-01-04 50.00%"
    )
    matrix = measure({"series": [1, 2, 4.5], "B": [1, 3, 2]}, "correlation")
    assert list(matrix.rows[0]) == ["series_", "series", "B"]
    (line,) = measure(list(range(1, 300)), "returns").lines
    assert "298 values from point 2 to point 299, lowest 0.34%" in line
    assert "the last 20: point 280 0.36%, point 281" in line


@pytest.mark.parametrize(
    ("levels", "depth", "peak", "trough", "recovery"),
    [
        ([2, 1], -0.5, 1, 2, None),
        ([2, 2, 1, 1, 3], -0.5, 2, 3, 5),
        ([4, 3, 4, 2, 8, 4, 1], -0.875, 5, 7, None),
        ([4, 2, 4, 2], -0.5, 1, 2, 3),
        ([1, 1, 2], 0.0, None, None, None),
    ],
)
def test_the_deepest_fall_has_a_peak_a_trough_and_perhaps_a_recovery(
    levels, depth, peak, trough, recovery
):
    (row,) = measure(levels, "max_drawdown").rows
    places = {"peak": peak, "trough": trough, "recovery": recovery}
    named = {name: place and f"point {place}" for name, place in places.items()}
    assert row == {"series": "series", "max_drawdown": depth, **named}
    falling = measure([-0.5], "max_drawdown", kind="returns")
    assert falling.rows[0]["peak"] == "start"


def test_correlations_make_a_matrix_over_the_common_points():
    given = {
        "A": dated(*((f"2024-01-0{day}", one) for day, one in enumerate(PRICES, 2))),
        "B": {"2024-01-05": 3, "2024-01-02": 2, "2024-01-04": 1, "2024-01-09": 7},
        "flat": {f"2024-01-0{day}": 5 for day in range(1, 7)},
    }
    found = measure(given, "correlation")
    expected = pytest.approx(correlation([-0.01, 2 / 9], [-0.5, 2.0]))
    assert found.rows[0] == {"series": "A", "A": 1.0, "B": expected, "flat": None}
    assert found.lines == ("A and B: 1", "A and flat: none", "B and flat: none")
    assert found.notes == (
        "'B' was put in the order of its dates.",
        "Compared at the 3 points that all series have.",
        "Common returns: 2.",
        "No correlation with 'flat': its returns do not vary.",
    )


@pytest.mark.parametrize("benchmark", [None, " b "])
def test_beta_is_to_the_benchmark_or_else_to_the_last(benchmark):
    series = {"A": PRICES, "C": [1, 2, 3, 4], "B": [10, 12, 9, 11]}
    b = [0.2, -0.25, 2 / 9]
    first, second = measure(series, "beta", benchmark=benchmark).rows
    assert first["beta"] == pytest.approx(covariance(RETURNS, b) / variance(b))
    assert (first["series"], first["benchmark"], second["series"]) == ("A", "B", "C")


@pytest.mark.parametrize(
    ("series", "name", "reason"),
    [
        ([1, 2], "volatility", "needs two returns"),
        ([1, 2], "standard_deviation", "needs two returns"),
        ({"values": [1], "kind": "values"}, "standard_deviation", "needs two values"),
        ([1, 1, 1], "sharpe", "two returns that differ"),
        ([1, 1, 1], "sortino", "no return falls short"),
        ([1, 1, 1], "calmar", "never falls"),
        ({"A": [1, 2, 3], "cash": [1, 1, 1]}, "beta", "do not vary"),
        ({"A": [1, 2], "B": [1, 3]}, "tracking_error", "two common returns"),
    ],
)
def test_a_note_says_why_there_is_none(series, name, reason):
    found = measure(series, name)
    assert found.lines[0].split(",")[0].endswith("none")
    assert any(reason in note for note in found.notes)


@pytest.mark.parametrize(
    ("series", "name", "sentence"),
    [
        ([5], "returns", "'series' has 1 prices, after what is missing was left out"),
        ({"values": [None], "kind": "returns"}, "returns", "'series' has 0 returns"),
        ([1, 0], "returns", "'series' is 0 at point 2, but a price must be above zero"),
        ({"values": [-1.5], "kind": "returns"}, "returns", "cannot be below -1, a total loss"),
        ({"values": [0.5, -1], "kind": "returns"}, "log_returns", "loses everything at point"),
        ([1, 2], "correlation", "Give at least two series"),
        ({"A": [1, 2, 3], "B": [1, 2]}, "beta", "equally many values: A has 3, B has 2"),
        ({"A": {"2024-01-02": 1}, "B": {"2025-01-02": 1}}, "correlation", "no date in common"),
        ({"values": {"A": [1, 2], "B": [1, 2]}, "benchmark": "C"}, "beta", "no series 'C'"),
        ([1, 2, 3], "rolling_return", "has 2 returns, fewer than the window of 21"),
        ([1e-160, 1e149], "total_return", "too large for a number"),
        ({"2024-01-02T10:00": 1, "2024-01-02T11:00": 2}, "volatility", "less than a day apart"),
        ({"values": {"2024-01-02": 0.1}, "kind": "returns"}, "cagr", "too short to tell"),
        ({"values": [1, 2], "kind": "values"}, "sharpe", "there is only standard_deviation"),
        ([1, 2], "alpha", "There is no measure 'alpha'. The measures are: summary"),
        ([1, 2], "irr", "at least one payment below zero"),
        ([-10, 21, -11.5], "irr", "at no rate are its payments worth nothing"),
        ([-100, 110], "xirr", "xirr needs dates: give"),
        (dated(("2024-01-01", -1), ("2024-01-01T00:01", 2)), "xirr", "at least two dates"),
    ],
)
def test_an_error_says_what_to_do(series, name, sentence):
    with pytest.raises(ValueError, match=sentence):
        measure(series, name)


def test_an_object_is_options_only_if_all_of_it_is():
    assert split_options({"values": [1]}, {"window": 9}) == ([1], Options(window=9))
    full = {"values": "x", "kind": "returns", "window": None}
    assert split_options(full, {"window": 9, "other": 1}) == ("x", Options(kind="returns"))
    for series in ({"values": [1], "A": [2]}, {"values": 1, "window": 2}, {"window": 2}):
        assert split_options(series, {}) == (series, Options())


@pytest.mark.parametrize(
    "option",
    [
        *({"kind": "volumes"}, {"unit": "bp"}, {"unit": "percent"}, {"confidence": 95}),
        *({"day_first": "soon"}, {"target": 52}, {"risk_free_rate": "4,5"}),
        *({"periods_per_year": 0}, {"periods_per_year": float("nan")}, {"window": 2.5}),
    ],
)
def test_an_option_out_of_bounds_is_an_error_that_names_it(option):
    for series, settings in (({"values": [1, 2], **option}, {}), ([1, 2], option)):
        with pytest.raises(ValueError, match=f"{next(iter(option))}[ :]"):
            measure_series(series, "returns", settings=settings)


@pytest.mark.parametrize(
    ("series", "question"),
    [
        ({"values": [5.2, -0.5], "kind": "returns"}, "Are the returns of 'series' percent?"),
        (["5.2%", "3.1%"], "Are the values of 'series' returns?"),
    ],
)
def test_what_may_be_meant_otherwise_is_questioned(series, question):
    assert measure(series, "total_return").notes[0].startswith(question)


def test_several_rates_are_all_said_and_none_is_the_return():
    found = measure([-100, 230, -132], "irr")
    assert found.rows[0]["irr"] == pytest.approx(0.1)
    assert found.rows[0]["all_rates"] == "10.00%, 20.00%"
    assert "None of them is the return by itself" in found.notes[0]
    assert value([-100, 230, -132], "irr", guess=0.5) == pytest.approx(0.2)
    assert value([-100, None, 121], "irr") == pytest.approx(0.1)


def test_monthly_payments_have_a_rate_a_month_and_a_year():
    (row,) = measure([-100, 101], "irr", periods_per_year=12).rows
    assert row["irr"] == pytest.approx(0.01)
    assert row["irr_a_year"] == pytest.approx(1.01**12 - 1)
    (by_dates,) = measure(dated(("2024-01-31", -100), ("2024-02-29", 101)), "irr").rows
    assert by_dates == {**row, "series": "value"}


def test_payments_of_one_day_are_added_up_even_equal_ones():
    paid = dated(("2023-01-01", -100), ("2023-01-01", -100), ("2024-01-01", 220))
    found = measure(paid, "xirr")
    assert found.rows[0]["xirr"] == pytest.approx(0.1)
    assert "Payments of 'value' on the same date were added up." in found.notes


RETURN_KIND = {"kind": "returns"}
# quantopian/empyrical, empyrical/tests/test_stats.py: the series and what its tests expect.
MIXED = [0.01, 0.10, -0.04, 0.02, 0.03, 0.02, 0.01, -0.10]
MICROSOFT = [-70000, 12000, 15000, 18000, 21000, 26000]
STRENGTHS = [1345, 1301, 1368, 1322, 1310, 1370, 1318, 1350, 1303, 1299]


# Examples of Microsoft (IRR, STDEV.S, PERCENTILE.INC), empyrical, and GARP's FRM exam.
@pytest.mark.parametrize(
    ("values", "name", "options", "expected"),
    [
        (MICROSOFT[:5], "irr", {}, -0.021245),
        (MICROSOFT, "irr", {}, 0.087),
        (MICROSOFT[:3], "irr", {}, -0.444),
        ([-700, 750, 900, 600, 850], "irr", {}, 1.0462142),
        ([-80, 90, 67, 72, -90], "irr", {"guess": -0.3}, -0.32606171),
        ([one / 1e4 for one in STRENGTHS], "standard_deviation", RETURN_KIND, 0.002746391572),
        (MIXED, "sortino", {**RETURN_KIND, "periods_per_year": 252}, 2.605531251673693),
        ([0.0, *MIXED], "calmar", {**RETURN_KIND, "periods_per_year": 52}, 2.4690830513998208),
        ([5.2, "-3.1%"], "total_return", {**RETURN_KIND, "unit": "percent"}, 1.052 * 0.969 - 1),
        ([0.01, 0.03, 0.02, 0.04], "value_at_risk", {**RETURN_KIND, "confidence": 0.7}, -0.019),
    ],
)
def test_a_measure_of_one_series(values, name, options, expected):
    tolerance = 0.01 if values[0] == -70000 else 1e-7
    assert value(values, name, **options) == pytest.approx(expected, rel=tolerance)


def test_xirr_is_that_of_microsofts_example_in_any_order():
    days = ("2008-01-01", "2008-03-01", "2008-10-30", "2009-02-15", "2009-04-01")
    paid = [*zip(days, (-10000, 2750, 4250, 3250, 2750), strict=True)]
    for order in (1, -1):
        assert value(dated(*paid[::order]), "xirr") == pytest.approx(0.373362535, abs=5e-9)


def test_published_examples_are_described():
    found = measure(STRENGTHS, "standard_deviation", kind="values")
    assert found.lines == ("series: deviation of values 27.4639",)
    series = {"Fund": [0.01, 0.03, 0.05, 0.04, 0.015], "B": [0.09, 0.07, 0.07, 0.05, 0.02]}
    found = measure(series, "tracking_error", kind="returns", periods_per_year=1)
    assert found.lines == ("Fund: tracking error 3.05%, benchmark B",)
