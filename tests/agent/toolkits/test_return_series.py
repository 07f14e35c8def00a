"""The forms in which series and their dates come."""

from datetime import datetime
import json

import pandas as pd
import pytest

from copilot_admin.agent.toolkits.returns.options import Options
from copilot_admin.agent.toolkits.returns.series import (
    parse_dates,
    periods_per_year,
    read_series,
)

at = datetime.fromisoformat
FIRST, SECOND = at("2024-01-02"), at("2024-01-03")
US = (
    "Dates such as 01/02/2024 were read as month/day/year, as in the US. If the day comes first,"
    ' say {"values": ..., "day_first": true}.'
)


def read(given, **options):
    notes = []
    found = read_series(given, Options(**options), notes)
    return {one.name: one.dropna().to_dict() for one in found}, notes


def rows(*values, **more):
    days = enumerate(values, 2)
    return [{"date": f"2024-01-0{day}", "value": value, **more} for day, value in days]


@pytest.mark.parametrize(
    ("given", "series"),
    [
        ([1, 2.5], {"series": {1: 1.0, 2: 2.5}}),
        (["1,200", "$5", "12%"], {"series": {1: 1200.0, 2: 5.0, 3: 0.12}}),
        (rows(1, 2), {"value": {FIRST: 1.0, SECOND: 2.0}}),
        ("trade_date,A,B\n01/02/2024,1,2", {"A": {FIRST: 1.0}, "B": {FIRST: 2.0}}),
        ({"A": [1, 2], "B": [3]}, {"A": {1: 1.0, 2: 2.0}, "B": {1: 3.0}}),
        ({"A": rows(1, 2)}, {"A": {FIRST: 1.0, SECOND: 2.0}}),
        ({"A": {"2024-01-02": 1}}, {"A": {FIRST: 1.0}}),
        ({"2024-01-02": 1, "2024-01-03": 2}, {"series": {FIRST: 1.0, SECOND: 2.0}}),
        ({"date": ["2024-01-02"], "A": [1], "unit": "USD"}, {"A": {FIRST: 1.0}}),
        ("date,symbol,x\n2024-01-02,A,1\n2024-01-02,B,3", {"A": {FIRST: 1.0}, "B": {FIRST: 3.0}}),
        ("date,ticker,x,y\n2024-01-02,A,1,2", {"A x": {FIRST: 1.0}, "A y": {FIRST: 2.0}}),
        ("date,A\n2024-01-02,1\n2024-01-03,2", {"A": {FIRST: 1.0, SECOND: 2.0}}),
        ("\ufeff" + json.dumps({"A": [1]}), {"A": {1: 1.0}}),
        (rows(1, 2)[::-1], {"value": {FIRST: 1.0, SECOND: 2.0}}),
        ([*rows(1, 2), *rows(1)], {"value": {FIRST: 1.0, SECOND: 2.0}}),
        ([1, None, "n/a", float("nan"), 3], {"series": {1: 1.0, 5: 3.0}}),
        ([{"day": 2, "close": 11}, {"day": 1, "close": 10}], {"close": {1: 10.0, 2: 11.0}}),
    ],
)
def test_series_are_read_in_every_form(given, series):
    assert read(given)[0] == series


@pytest.mark.parametrize(
    ("given", "note"),
    [
        (rows(1, 2)[::-1], "'value' was put in the order of its dates."),
        ([*rows(1), *rows(1)], "Points of 'value' that stood there twice count once."),
        ([1, None, 3], "Missing values of 'series' left out: 1."),
        (rows(1, currency="USD", note=None), "Columns left out: currency, note."),
        ([{"day": 1, "close": 10}], "The column of dates counts the rows; it has no dates."),
        ([{"date": 1706659200, "A": 1}], "Dates were read as s since 1970, in UTC."),
        ([{"date": "01/02/2024", "A": 1}], US),
    ],
)
def test_what_was_left_out_or_assumed_is_noted(given, note):
    assert read(given)[1] == [note]


@pytest.mark.parametrize("close", ["close", "Adj_Close"])
def test_of_prices_of_a_day_only_the_close_counts(close):
    day = {"date": "2024-01-02", "Open": 1, "High": 4, "Low": 1, "close": 9, "volume": 0}
    series, notes = read([{**day, close: 3}])
    assert series == {close: {FIRST: 3.0}}
    assert notes[0].startswith("Columns left out: Open, High, Low, ")


NO_SERIES: tuple[object, ...] = ([], {}, None, [1, [2]], {"A": [1], "B": 2}, {"A": {"B": [1]}})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        *((one, "There is no series") for one in NO_SERIES),
        ({"A": 1}, "'A' in 'series' is no date. Write dates as 2024-01-31"),
        ("[" * 100_000, "The series are JSON that is nested too deeply"),
        ("x" * 5_000_001, "longer than 5,000,000 characters"),
        ("1, 2, 3", "There are no rows"),
        ([{"date": "2024-01-02", "A": "x"}], "There is no column with numbers"),
        ({"date": ["2024-01-02"], "A": [1, 2]}, "The columns have different lengths"),
        ([1, "x"], "'x' in 'series' .point 2. is no number"),
        ([1, True], "'True' in 'series' .point 2. is no number"),
        ([1, "5,2"], "decimals with a point, as in 5.2"),
        ("date;A;B\n2024-01-02;10,5;3", "column 'A' .* as in 10.5"),
        (rows(1, "x"), r"'x' in 'value' \(2024-01-03\) is no number"),
        ([{"date": None, "A": 1}], "'' in 'A' is no date"),
        ([*rows(1), *rows(2)], "'value' has two values for 2024-01-02: 1 and 2"),
        ({"A": [1], "B": {"2024-01-02": 1}}, "Some values have dates and some have none"),
        ("date,A\n13/04/2024,1\n04/13/2024,1", "has the day first, 04/13/2024 the month"),
    ],
)
def test_what_is_no_series_is_an_error_that_says_what_to_do(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        read(given)


def parsed(*values, day_first=None):
    dates = parse_dates(pd.Series(values, dtype=object), [], day_first=day_first)
    return [None if pd.isna(one) else one for one in dates]


@pytest.mark.parametrize(
    "written",
    [
        *("1/31/2024", "01/31/24", "01-31-2024", "31.01.2024", "31/01/2024", "Jan 31, 2024"),
        *("31-JAN-24", "2024/01/31", "2024-01-31T00:00:00Z", "2024-01-31 02:00:00+02:00"),
        *("20240131", 20240131, 1706659200, "1706659200", 1706659200000, 1706659200000000000),
    ],
)
def test_the_last_of_january_is_read_however_it_is_written(written):
    assert parsed(written) == [at("2024-01-31")]


@pytest.mark.parametrize(
    ("values", "dates"),
    [
        (("Q2 2024", "2024Q3"), ("2024-04-01", "2024-07-01")),
        ((2023, "2024"), ("2023-01-01", "2024-01-01")),
        (("1/31/2024 4:30 PM",), ("2024-01-31T16:30",)),
        (("01/02/2024", "02/02/2024"), ("2024-01-02", "2024-02-02")),
        (("03/04/2024", "13/04/2024"), ("2024-04-03", "2024-04-13")),
        (("03/04/2024", "04/13/2024", "2024-05-06"), ("2024-03-04", "2024-04-13", "2024-05-06")),
        (("03.04.2024",), ("2024-04-03",)),
    ],
)
def test_a_column_of_dates_is_read_in_one_way(values, dates):
    assert parsed(*values) == [*map(at, dates)]


def test_the_caller_decides_where_the_column_does_not():
    assert parsed("03/04/2024", day_first=True) == [at("2024-04-03")]


@pytest.mark.parametrize(
    "written",
    ["02/30/2024", "1/31/2024 25:00", "13/13/2024", "soon", "", True, None, 45322, 1e30, "1/" * 50],
)
def test_what_is_no_date_is_none(written):
    assert parsed(written) == [None]


@pytest.mark.parametrize(
    ("dates", "periods"),
    [
        ("2024-01-05 2024-01-08 2024-01-09", 252),  # Friday, Monday, Tuesday
        ("2024-01-11 2024-01-12 2024-01-16 2024-01-17 2024-01-18", 252),  # a Monday off
        ("2024-01-05 2024-01-06 2024-01-07", 365),  # open at weekends
        ("2024-01-02 2024-01-05 2024-01-09 2024-01-12", 365.25 / 3),  # Tuesdays and Fridays
        ("2024-01-05 2024-01-12 2024-01-19", 52),
        ("2024-01-01 2024-01-15 2024-01-29", 26),
        ("2023-12-29 2024-01-31 2024-02-29", 12),
        ("2024-03-28 2024-06-28 2024-09-30", 4),
        ("2024-01-01 2024-07-01 2025-01-01", 2),
        ("2023-01-01 2024-01-01", 1),
        ("2022-01-01 2024-01-01", 0.5),
        ("2024-01-05T09:00 2024-01-05T10:00", None),
    ],
)
def test_the_usual_gap_says_how_many_periods_a_year_has(dates, periods):
    found = periods_per_year(pd.DatetimeIndex([*map(at, dates.split())]))
    assert found == (periods and pytest.approx(periods, rel=0.01))
