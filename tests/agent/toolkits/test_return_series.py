"""The forms in which series come."""

from datetime import datetime
import json

import pytest

from copilot_admin.agent.toolkits.returns.series import MAX_POINTS, MAX_TEXT, read_series

FIRST, SECOND, THIRD = map(datetime.fromisoformat, ("2024-01-02", "2024-01-03", "2024-01-04"))


def dated(*values, name="value"):
    return {name: dict(zip((FIRST, SECOND, THIRD), values, strict=False))}


def placed(*values, name="series"):
    return {name: dict(enumerate(values, 1))}


def points(found):
    """The points of each series by its name."""
    return {one.name: one.to_dict() for one in found.series}


def rows(*values, **more):
    return [
        {"date": f"2024-01-0{day}", "value": value, **more} for day, value in enumerate(values, 2)
    ]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ([1, 2.5], placed(1.0, 2.5)),
        ((1, 2), placed(1.0, 2.0)),
        (
            ["1,200", "$5", "12%"],
            placed(1200.0, 5.0, 0.12),
        ),
        (rows(1, 2), dated(1.0, 2.0)),
        ([{"Date": "2024-01-02", "AAPL": 1}], dated(1.0, name="AAPL")),
        ([{"AAPL": 1}, {"AAPL": 2}], placed(1.0, 2.0, name="AAPL")),
        (
            [{"date": "2024-01-02", "A": 1, "B": 2}],
            dated(1.0, name="A") | dated(2.0, name="B"),
        ),
        (
            {"A": [1, 2], "B": [3]},
            placed(1.0, 2.0, name="A") | placed(3.0, name="B"),
        ),
        ({"A": rows(1, 2)}, dated(1.0, 2.0, name="A")),
        ({"A": {"2024-01-02": 1}}, dated(1.0, name="A")),
        (
            {"A": [{"date": "2024-01-02", "x": 1, "y": 2}]},
            dated(1.0, name="A x") | dated(2.0, name="A y"),
        ),
        (
            {"2024-01-02": 1, "2024-01-03": 2},
            dated(1.0, 2.0, name="series"),
        ),
        (
            {"date": ["2024-01-02", "2024-01-03"], "A": [1, 2], "unit": "USD"},
            dated(1.0, 2.0, name="A"),
        ),
        ({"date": "none", "A": [1]}, None),
        (
            [
                {"date": "2024-01-02", "symbol": "A", "close": 1},
                {"date": "2024-01-02", "symbol": "B", "close": 3},
                {"date": "2024-01-03", "symbol": "A", "close": 2},
            ],
            dated(1.0, 2.0, name="A") | dated(3.0, name="B"),
        ),
        (
            [{"date": "2024-01-02", "ticker": "A", "bid": 1, "ask": 2}],
            dated(1.0, name="A bid") | dated(2.0, name="A ask"),
        ),
        (
            [{"year": 2023, "name": 5}],
            {"name": {datetime.fromisoformat("2023-01-01"): 5.0}},
        ),
        ("date,A\n2024-01-02,1\n2024-01-03,2", dated(1.0, 2.0, name="A")),
        (" [1, 2]", placed(1.0, 2.0)),
        ("\ufeff" + json.dumps({"A": [1]}), placed(1.0, name="A")),
    ],
)
def test_series_are_read_in_every_form(given, read):
    if read is None:
        with pytest.raises(ValueError, match="There is no series that can be read"):
            read_series(given)
    else:
        assert points(read_series(given)) == read


@pytest.mark.parametrize("close", ["close", "Adj_Close"])
def test_of_prices_of_a_day_only_the_close_counts(close):
    day = {"date": "2024-01-02", "Open": 1, "High": 4, "Low": 1, "close": 9, "volume": 0}
    found = read_series([{**day, close: 3}])
    assert points(found) == dated(3.0, name=close)
    assert found.notes[0].startswith("Columns left out: Open, High, Low, ")


def test_columns_without_numbers_are_left_out_and_named():
    found = read_series(rows(1, 2, currency="USD", note=None))
    assert points(found) == dated(1.0, 2.0)
    assert found.notes == ("Columns left out: currency, note.",)


@pytest.mark.parametrize("nothing", [None, "", " - ", "n/a", float("nan"), float("inf"), "NaN"])
def test_what_is_missing_is_left_out_and_counted(nothing):
    found = read_series([1, nothing, 3])
    assert points(found) == {"series": {1: 1.0, 3: 3.0}}
    assert found.notes == ("Missing values of 'series' left out: 1.",)
    assert points(read_series("[1, NaN, 3]")) == points(found)


def test_points_are_put_in_the_order_of_their_dates():
    found = read_series(rows(1, 2)[::-1])
    assert points(found) == dated(1.0, 2.0)
    assert found.notes == ("'value' was put in the order of its dates.",)


def test_the_same_point_twice_counts_once():
    found = read_series([*rows(1, 2), *rows(1)])
    assert points(found) == dated(1.0, 2.0)
    assert found.notes == (
        "'value' was put in the order of its dates.",
        "Points of 'value' that stood there twice count once.",
    )


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([], "There is no series that can be read"),
        ({}, "There is no series that can be read"),
        (None, "There is no series that can be read"),
        (5, "There is no series that can be read"),
        ([1, [2]], "There is no series that can be read"),
        ([1, {"a": 2}], "There is no series that can be read"),
        ({"A": 1}, "There is no series that can be read"),
        ({"A": [1], "B": 2}, "There is no series that can be read"),
        ({"A": []}, "There is no series that can be read"),
        ({"A": "[1]", "B": [1]}, "There is no series that can be read"),
        ({"A": {"B": [1]}}, "The series are nested too deeply"),
        (DEEP, "The series are JSON that is nested too deeply"),
        (f"[{'0,' * 750_000}0]", "The series have more than 750,000 JSON values. Send fewer."),
        ("[1,", "The series look like JSON but are none"),
        ("x" * (MAX_TEXT + 1), "longer than 5,000,000 characters"),
        ("1, 2, 3", "There are no rows"),
        ([{"date": "2024-01-02", "A": "x"}], "There is no column with numbers"),
        ([{"date": "2024-01-02"}], "There is no column with numbers"),
        ({"date": ["2024-01-02"], "A": [1, 2]}, "The columns have different lengths"),
        ([1, "x"], "'x' in 'series' .point 2. is no number"),
        ([1, True], "'True' in 'series' .point 2. is no number"),
        ([10**400], "is no number"),
        (rows(1, "x"), r"'x' in 'value' \(2024-01-03\) is no number"),
        ([{"date": "1.2.", "A": 1}], "'1.2.' in 'A' is no date. Write dates as 2024-01-31"),
        ([{"date": None, "A": 1}], "'' in 'A' is no date"),
        (
            [*rows(1), *rows(2)],
            "'value' has two values for 2024-01-02: 1 and 2. Give each date one",
        ),
        ({"A": [1], "B": {"2024-01-02": 1}}, "Some values have dates and some have none"),
        ({1: [1], "1": [2]}, "Two series have the same name"),
        ({str(number): [1] for number in range(51)}, "There are 51 series; at most 50"),
        ([1] * (MAX_POINTS + 1), "more than 100,000 values"),
    ],
)
def test_what_is_no_series_is_an_error_that_says_what_to_do(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_series(given)


def test_as_many_values_as_are_allowed_are_read():
    assert len(read_series([1] * MAX_POINTS).series[0]) == MAX_POINTS
    assert len(read_series({str(number): [1] for number in range(50)}).series) == 50
