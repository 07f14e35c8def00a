"""Returns and risk: the formulas against the statistics module, numbers by hand, and laws."""

from datetime import datetime, timedelta
import doctest
import importlib
from math import log, sqrt
from statistics import correlation, covariance, stdev, variance

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.agent.toolkits.returns.dates import periods_per_year
from copilot_admin.agent.toolkits.returns.formatting import format_number, format_percent
from copilot_admin.agent.toolkits.returns.measures import measure_series
from copilot_admin.agent.toolkits.returns.options import Options, SeriesKind, split_options

PRICES = [100, 110, 99, 121]
RETURNS = [0.1, -0.1, 2 / 9]
at = datetime.fromisoformat
DAY = timedelta(days=1)

prices = st.lists(st.floats(0.01, 1e6), min_size=3, max_size=40)


def row(series, measure, **options):
    wrapped = {"values": series, **options} if options else series
    (only,) = measure_series(wrapped, measure).rows
    return only


def value(series, measure, **options):
    return row(series, measure, **options)[measure]


def values(series, measure, **options):
    wrapped = {"values": series, **options} if options else series
    return [one["series"] for one in measure_series(wrapped, measure).rows]


def rows_of(dates, numbers, name="A"):
    return [{"date": date, name: one} for date, one in zip(dates, numbers, strict=True)]


@pytest.mark.parametrize("module", ["options", "dates", "measures", "formatting"])
def test_the_examples_of_the_docstrings_are_true(module):
    checked = importlib.import_module(f"copilot_admin.agent.toolkits.returns.{module}")
    outcome = doctest.testmod(checked)
    assert outcome.attempted > 0
    assert outcome.failed == 0


# Values by hand


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("total_return", 0.21),
        ("annualised_return", 1.21 ** (12 / 3) - 1),
        ("cagr", 1.21 ** (12 / 3) - 1),
        ("volatility", stdev(RETURNS) * sqrt(12)),
        ("sharpe", sum(RETURNS) / 3 / stdev(RETURNS) * sqrt(12)),
        ("max_drawdown", -0.1),
    ],
)
def test_one_number_for_a_series(measure, expected):
    assert value(PRICES, measure, periods_per_year=12) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("returns", RETURNS),
        ("log_returns", [log(1.1), log(0.9), log(11 / 9)]),
        ("drawdown", [0.0, -0.1, 0.0]),
        ("rolling_return", [-0.01, 0.1]),
        (
            "rolling_volatility",
            [stdev(RETURNS[:2]) * sqrt(12), stdev(RETURNS[1:]) * sqrt(12)],
        ),
    ],
)
def test_a_value_for_each_point(measure, expected):
    found = values(PRICES, measure, window=2, periods_per_year=12)
    assert found == pytest.approx(expected, rel=1e-11)


def test_the_sharpe_ratio_is_over_the_risk_free_rate():
    per_period = 1.05 ** (1 / 12) - 1
    expected = (sum(RETURNS) / 3 - per_period) / stdev(RETURNS) * sqrt(12)
    found = measure_series(
        {"values": PRICES, "periods_per_year": 12, "risk_free_rate": 0.05}, "sharpe"
    )
    assert found.rows[0]["sharpe"] == pytest.approx(expected, rel=1e-11)
    assert found.notes == (
        "A year has 12 periods of 'series'.",
        "The Sharpe ratio is over a risk-free rate of 5.00% a year.",
    )


def test_cagr_goes_by_the_calendar_and_the_annualised_return_by_the_periods():
    years = [{"date": "2020-01-01", "A": 100}, {"date": "2022-01-01", "A": 121}]
    expected = 1.21 ** (365.25 / 731) - 1
    assert row(years, "cagr") == {"series": "A", "cagr": pytest.approx(expected, rel=1e-11)}
    assert measure_series(years, "cagr").notes == ()
    assert value(years, "annualised_return", periods_per_year=1) == pytest.approx(0.21)


def test_returns_can_be_given_instead_of_prices():
    given = {"values": RETURNS, "kind": "returns", "periods_per_year": 12, "window": 2}
    assert measure_series(given, "total_return").rows[0]["total_return"] == pytest.approx(0.21)
    assert measure_series(given, "cagr").rows[0]["cagr"] == pytest.approx(1.21**4 - 1)
    assert [one["series"] for one in measure_series(given, "returns").rows] == pytest.approx(
        RETURNS
    )
    assert measure_series(given, "max_drawdown").rows == (
        {
            "series": "series",
            "max_drawdown": -0.1,
            "peak": "point 1",
            "trough": "point 2",
            "recovery": "point 3",
        },
    )
    falling = {"values": [-0.5], "kind": "returns"}
    assert measure_series(falling, "max_drawdown").rows[0]["peak"] == "start"


def test_the_summary_holds_what_one_wants_to_know_first():
    dates = ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"]
    found = measure_series(rows_of(dates, PRICES), "summary")
    assert found.title == "Summary"
    assert found.rows == (
        {
            "series": "A",
            "begin": "2024-01-31",
            "end": "2024-04-30",
            "returns": 3,
            "total_return": 0.21,
            "annualised_return": pytest.approx(1.21**4 - 1),
            "volatility": pytest.approx(stdev(RETURNS) * sqrt(12)),
            "sharpe": pytest.approx(sum(RETURNS) / 3 / stdev(RETURNS) * sqrt(12)),
            "max_drawdown": -0.1,
            "peak": "2024-02-29",
            "trough": "2024-03-31",
            "recovery": "2024-04-30",
        },
    )
    assert found.lines == (
        "A: begin 2024-01-31, end 2024-04-30, returns 3, total return 21.00%, annualised return"
        " 114.36%, volatility 56.35%, sharpe 1.5774, max drawdown -10.00%, peak 2024-02-29, trough"
        " 2024-03-31, recovery 2024-04-30",
    )
    assert found.notes == (
        "A year has 12 periods of 'A'.",
        "'A' covers 0.25 years: a return made annual from less than a year is no forecast.",
        "The Sharpe ratio is over a risk-free rate of 0.00% a year.",
    )


def test_several_series_have_a_row_or_a_column_each():
    dated = [
        {"date": "2024-01-02", "A": 1, "B": 4},
        {"date": "2024-01-03", "A": 2, "B": None},
        {"date": "2024-01-04", "A": 3, "B": 2},
    ]
    assert measure_series(dated, "total_return").rows == (
        {"series": "A", "total_return": 2.0},
        {"series": "B", "total_return": -0.5},
    )
    found = measure_series(dated, "returns")
    assert found.rows == (
        {"date": "2024-01-03", "A": 1.0, "B": None},
        {"date": "2024-01-04", "A": 0.5, "B": -0.5},
    )
    assert found.lines == (
        "A: 2 values from 2024-01-03 to 2024-01-04, lowest 50.00% (2024-01-04),"
        " highest 100.00% (2024-01-03)",
        "B: 1 values from 2024-01-04 to 2024-01-04, lowest -50.00% (2024-01-04),"
        " highest -50.00% (2024-01-04)",
        "A: 2024-01-03 100.00%, 2024-01-04 50.00%",
        "B: 2024-01-04 -50.00%",
    )
    assert found.notes == ("Missing values of 'B' left out: 1.",)


def test_a_column_of_points_keeps_clear_of_the_names_of_series():
    found = measure_series({"point": [1, 2], "point_": [1, 3]}, "returns")
    assert found.rows == ({"point__": 2, "point": 1.0, "point_": 2.0},)
    matrix = measure_series({"series": [1, 2, 4.5], "B": [1, 3, 2]}, "correlation")
    assert list(matrix.rows[0]) == ["series_", "series", "B"]


def test_a_long_series_is_told_by_its_latest_values():
    (gist, latest) = measure_series(list(range(1, 300)), "returns").lines
    assert gist.startswith("series: 298 values from point 2 to point 299, lowest 0.34%")
    assert latest.startswith("series, the last 20: point 280 0.36%, point 281")


# Between series


def test_correlations_make_a_matrix_over_the_common_points():
    given = {
        "A": [{"date": f"2024-01-0{day}", "value": one} for day, one in enumerate(PRICES, 2)],
        "B": {"2024-01-05": 3, "2024-01-02": 2, "2024-01-04": 1, "2024-01-09": 7},
        "flat": {f"2024-01-0{day}": 5 for day in range(1, 7)},
    }
    a, b = [-0.01, 2 / 9], [-0.5, 2.0]
    found = measure_series(given, "correlation")
    expected = pytest.approx(correlation(a, b))
    assert found.rows == (
        {"series": "A", "A": 1.0, "B": expected, "flat": None},
        {"series": "B", "A": expected, "B": 1.0, "flat": None},
        {"series": "flat", "A": None, "B": None, "flat": None},
    )
    assert found.lines == ("A and B: 1", "A and flat: none", "B and flat: none")
    assert found.notes == (
        "'B' was put in the order of its dates.",
        "Compared at the 3 points that all series have.",
        "Common returns: 2.",
        "No correlation with 'flat': its returns do not vary.",
    )


@pytest.mark.parametrize("benchmark", [None, "", " b ", "B"])
def test_beta_is_to_the_benchmark_or_else_to_the_last(benchmark):
    given = {
        "values": {"A": PRICES, "C": [1, 2, 3, 4], "B": [10, 12, 9, 11]},
        "benchmark": benchmark,
    }
    b = [0.2, -0.25, 2 / 9]
    found = measure_series(given, "beta")
    assert found.rows[0] == {
        "series": "A",
        "beta": pytest.approx(covariance(RETURNS, b) / variance(b)),
        "benchmark": "B",
    }
    assert [one["series"] for one in found.rows] == ["A", "C"]
    assert found.lines[0] == f"A: beta {format_number(found.rows[0]['beta'])} to B"
    default = "No benchmark was named: it is 'B', the last series."
    assert found.notes == (
        "Common returns: 3.",
        *([] if benchmark and benchmark.strip() else [default]),
    )


def test_there_is_no_beta_to_a_benchmark_that_does_not_move():
    found = measure_series({"A": [1, 2, 3], "cash": [1, 1, 1]}, "beta")
    assert found.rows == ({"series": "A", "beta": None, "benchmark": "cash"},)
    assert found.lines == ("A: beta none to cash",)
    assert found.notes == (
        "Common returns: 2.",
        "No benchmark was named: it is 'cash', the last series.",
        "No beta: the returns of 'cash' do not vary.",
    )


# What is too little or does not vary


def test_one_return_has_no_volatility_and_no_sharpe_ratio():
    assert measure_series([1, 2], "volatility").rows == ({"series": "series", "volatility": None},)
    found = measure_series([1, 2], "sharpe")
    assert found.lines == ("series: sharpe none",)
    assert found.notes == (
        "Without dates, 252 periods a year are assumed (trading days).",
        "No Sharpe ratio of 'series': it needs two returns that differ.",
        "The Sharpe ratio is over a risk-free rate of 0.00% a year.",
    )
    assert measure_series([1, 2], "volatility").notes[1] == (
        "No volatility of 'series': it needs two returns."
    )


def test_steady_growth_has_no_volatility_whatever_rounding_leaves():
    steady = [100 * 1.1**power for power in range(30)]
    assert value(steady, "volatility") == 0.0
    assert value(steady, "sharpe") is None


def test_a_series_that_never_falls_has_no_drawdown():
    assert row([1, 1, 2], "max_drawdown") == {
        "series": "series",
        "max_drawdown": 0.0,
        "peak": None,
        "trough": None,
        "recovery": None,
    }


@pytest.mark.parametrize(
    ("levels", "depth", "peak", "trough", "recovery"),
    [
        ([2, 1], -0.5, 1, 2, None),
        ([2, 1, 2], -0.5, 1, 2, 3),
        ([2, 2, 1, 1, 3], -0.5, 2, 3, 5),
        ([4, 3, 4, 2, 8, 4, 1], -0.875, 5, 7, None),
        ([4, 2, 4, 2], -0.5, 1, 2, 3),
    ],
)
def test_the_deepest_fall_has_a_peak_a_trough_and_perhaps_a_recovery(
    levels, depth, peak, trough, recovery
):
    assert row(levels, "max_drawdown") == {
        "series": "series",
        "max_drawdown": depth,
        "peak": f"point {peak}",
        "trough": f"point {trough}",
        "recovery": recovery and f"point {recovery}",
    }


def test_a_total_loss_is_a_return_but_has_no_logarithm_and_no_return_after_it():
    lost = {"values": [0.5, -1, 0.1, 0.1], "kind": "returns", "window": 2}
    assert measure_series(lost, "total_return").rows[0]["total_return"] == -1.0
    assert measure_series(lost, "annualised_return").rows[0]["annualised_return"] == -1.0
    assert [one["series"] for one in measure_series(lost, "drawdown").rows] == [0, -1, -1, -1]
    for measure in ("log_returns", "rolling_return"):
        with pytest.raises(ValueError, match="'series' loses everything at point 2"):
            measure_series(lost, measure)


@pytest.mark.parametrize(
    ("series", "measure", "sentence"),
    [
        ([5], "returns", "'series' has 1 prices, after what is missing was left out; at least 2"),
        ([None, "n/a"], "summary", "'series' has 0 prices"),
        ({"values": [None], "kind": "returns"}, "returns", "'series' has 0 returns"),
        ([1, 0], "returns", "'series' is 0 at point 2, but a price must be above zero"),
        ([-3, 1], "returns", "'series' is -3 at point 1"),
        ({"values": [-1.5], "kind": "returns"}, "returns", "cannot be below -1, a total loss"),
        ([1, 2], "correlation", "Give at least two series"),
        ({"A": [1, 2, 3], "B": [1, 2]}, "beta", "equally many values: A has 3, B has 2"),
        (
            {"A": {"2024-01-02": 1, "2024-01-03": 2}, "B": {"2025-01-02": 1, "2025-01-03": 2}},
            "correlation",
            "no date in common",
        ),
        (
            {"values": {"A": [1, 2], "B": [1, 2]}, "benchmark": "C"},
            "beta",
            "There is no series 'C' for the benchmark. The series are: A, B",
        ),
        ([1, 2, 3], "rolling_return", "has 2 returns, fewer than the window of 21"),
        ([1e-150, 1e150, 1e-150], "volatility", "too large"),
        ({"values": [1e149] * 3, "kind": "returns"}, "returns", "The result is too large"),
        ({"values": [1e149, 1e140], "kind": "returns"}, "annualised_return", "too large"),
        ({"2024-01-02T10:00": 1, "2024-01-02T11:00": 2}, "volatility", "less than a day apart"),
        (
            {"values": {"2024-01-02": 0.1}, "kind": "returns"},
            "cagr",
            "too short to tell how long a period is",
        ),
    ],
)
def test_what_cannot_be_measured_is_an_error_that_says_what_to_do(series, measure, sentence):
    with pytest.raises(ValueError, match=sentence):
        measure_series(series, measure)


@pytest.mark.parametrize("series", [[1e-160, 1e149], [1e-160, 1.0, 1e149]])
def test_a_result_beyond_all_numbers_is_an_error(series):
    with pytest.raises(ValueError, match="too large for a number"):
        measure_series(series, "total_return")


# Options


def test_an_object_is_options_only_if_all_of_it_is():
    assert split_options([1], {}) == ([1], Options())
    assert split_options({"values": [1]}, {"window": 9}) == ([1], Options(window=9))
    full = {
        "values": "x",
        "kind": "returns",
        "periods_per_year": 52,
        "risk_free_rate": 0.03,
        "benchmark": "SPY",
        "window": 2,
    }
    assert split_options(full, {"window": 9, "other": 1}) == (
        "x",
        Options(
            kind=SeriesKind.RETURNS,
            periods_per_year=52,
            risk_free_rate=0.03,
            benchmark="SPY",
            window=2,
        ),
    )
    for series in (
        {"values": [1], "A": [2]},
        {"values": [1], "window": [2]},
        {"values": 1, "window": 2},
        {"window": 2},
    ):
        assert split_options(series, {}) == (series, Options())
    assert split_options({"values": [1], "window": None}, {}) == ([1], Options())


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        (
            {"kind": "volumes"},
            "kind must be 'prices', 'returns' or 'values', not 'volumes'",
        ),
        ({"unit": "bp"}, "unit must be 'fraction' or 'percent', not 'bp'"),
        ({"unit": "percent"}, 'say "kind": "returns" as well'),
        (
            {"confidence": 95},
            "confidence must be from 0.5 to below 1, such as 0.95 for 95%, not 95",
        ),
        ({"confidence": 1}, "confidence must be"),
        ({"day_first": "yes"}, "day_first must be true or false, not 'yes'"),
        ({"target": 52}, "target must be a number such as 0.04 for 4%, not 52"),
        ({"target": 10**400}, "target must be a number such as 0.04 for 4%, not 1000"),
        ({"periods_per_year": 0}, "periods_per_year must be a number such as 252, 52 or 12, not 0"),
        ({"periods_per_year": -12}, "periods_per_year must be"),
        ({"periods_per_year": 2_000_000}, "periods_per_year must be"),
        ({"periods_per_year": "daily"}, "periods_per_year must be"),
        ({"periods_per_year": True}, "periods_per_year must be"),
        ({"periods_per_year": float("nan")}, "periods_per_year must be"),
        ({"risk_free_rate": -1}, "risk_free_rate must be a number such as 0.04 for 4%, not -1"),
        ({"risk_free_rate": 11}, "risk_free_rate must be"),
        ({"risk_free_rate": "4,5"}, "decimals with a point, as in 4.5"),
        ({"risk_free_rate": "low"}, "risk_free_rate must be"),
        ({"window": 1}, "window must be a whole number from 2 to 1000, not 1"),
        ({"window": 1001}, "window must be"),
        ({"window": 2.5}, "window must be"),
    ],
)
def test_an_option_out_of_bounds_is_an_error(option, sentence):
    for series, settings in (({"values": [1, 2], **option}, {}), ([1, 2], option)):
        with pytest.raises(ValueError, match=sentence):
            measure_series(series, "returns", settings=settings)


# Dates


@pytest.mark.parametrize(
    ("days", "periods"),
    [
        ([0, 1, 2, 3, 4, 7, 8, 9, 10, 11, 14], 252),
        (range(20), 365),
        (range(0, 70, 7), 52),
        (range(0, 140, 14), 26),
        ([0, 31, 59, 90, 120], 12),
        ([0, 91, 182, 274, 366], 4),
        ([0, 182, 365], 2),
        ([0, 366, 731], 1),
        ([0, 731], 365.25 / 731),
        ([0, 3, 6], 365.25 / 3),
        ([0, 0.5, 1], None),
        ([0, 0.89], None),
    ],
)
def test_the_usual_gap_says_how_many_periods_a_year_has(days, periods):
    monday = at("2024-01-01")
    assert periods_per_year([monday + day * DAY for day in days]) == periods


@pytest.mark.parametrize(
    ("fraction", "words"),
    [(1, "100.00%"), (-0.0005, "-0.05%"), (1e-9, "1e-07%"), (1e9, "1e+11%"), (-1e7, "-1e+09%")],
)
def test_fractions_are_told_in_percent(fraction, words):
    assert format_percent(fraction) == words


# Laws


@given(st.lists(st.tuples(st.floats(-0.9, 5), st.floats(-0.9, 5)), min_size=3, max_size=40))
def test_correlation_beta_and_deviation_are_those_of_the_statistics_module(pairs):
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    given = {"values": {"A": one, "B": other}, "kind": "returns"}
    (_, found), (mirrored, _) = (
        [line[name] for name in "AB"] for line in measure_series(given, "correlation").rows
    )
    assert mirrored == found
    assert found is None or -1 <= found <= 1
    if min(stdev(one), stdev(other)) > 1e-6:
        assert found == pytest.approx(correlation(one, other), abs=1e-9)
        beta = measure_series(given, "beta").rows[0]["beta"]
        assert beta == pytest.approx(covariance(one, other) / variance(other), rel=1e-6, abs=1e-9)
    deviation = measure_series({"values": one, "kind": "values"}, "standard_deviation")
    assert deviation.rows[0]["deviation_of_values"] == pytest.approx(
        stdev(one), rel=1e-9, abs=1e-12
    )


@given(prices, st.integers(-8, 8))
def test_the_unit_of_prices_does_not_matter(levels, power):
    scaled = [level * 2.0**power for level in levels]
    for measure in ("total_return", "volatility", "max_drawdown"):
        assert value(scaled, measure) == value(levels, measure)
    assert values(scaled, "returns") == values(levels, "returns")
