"""Columns of dates: US and European ones, names of months, epochs, counts."""

from datetime import datetime

import pytest

from copilot_admin.agent.toolkits.returns.dates import is_count, parse_dates, periods_per_year
from copilot_admin.agent.toolkits.returns.series import read_series

at = datetime.fromisoformat
US = (
    "Dates such as 01/02/2024 were read as month/day/year, as in the US. If the day comes first,"
    ' say {"values": ..., "day_first": true}.'
)


def read(*values, day_first=None):
    notes: list[str] = []
    return parse_dates(values, notes, day_first=day_first), notes


@pytest.mark.parametrize(
    "written",
    [
        "1/31/2024",
        "01/31/24",
        "01-31-2024",
        "31.01.2024",
        "31.1.24",
        "31/01/2024",
        "Jan 31, 2024",
        "January 31 2024",
        "Jan. 31st, 2024",
        "31 Jan 2024",
        "31-JAN-24",
        "2024/01/31",
        "2024-01-31T00:00:00Z",
        "2024-01-31 02:00:00+02:00",
        "2024-01-31",
        "20240131",
        20240131,
        1706659200,
        "1706659200",
        1706659200.0,
        1706659200000,
        "1706659200000",
        1706659200000000,
        1706659200000000000,
    ],
)
def test_the_last_of_january_is_read_however_it_is_written(written):
    assert read(written)[0] == [at("2024-01-31")]


@pytest.mark.parametrize(
    ("written", "time"),
    [
        ("1/31/2024 16:30", "16:30"),
        ("1/31/2024, 4:30 PM", "16:30"),
        ("Jan 31, 2024 12:05:09 a.m.", "00:05:09"),
        ("31.01.2024 09:00:01.250", "09:00:01.250"),
        (1706659200 + 3600, "01:00"),
    ],
)
def test_a_time_of_day_may_stand_behind_a_date(written, time):
    assert read(written)[0] == [at(f"2024-01-31T{time}")]


def test_quarters_and_columns_have_the_names_that_people_give_them():
    assert read("Q2 2024", "Q3/2024")[0] == [at("2024-04-01"), at("2024-07-01")]
    found = read_series([{"trade_date": "01/31/2024", "close": 1}])
    assert (found.is_dated, found.notes) == (True, ())


def test_ambiguous_dates_are_american_and_it_is_said():
    assert read("01/02/2024", "02/02/2024") == ([at("2024-01-02"), at("2024-02-02")], [US])


def test_one_date_that_can_only_be_european_decides_for_the_column():
    assert read("03/04/2024", "13/04/2024") == ([at("2024-04-03"), at("2024-04-13")], [])


def test_one_date_that_can_only_be_american_decides_for_the_column():
    assert read("03/04/2024", "04/13/2024") == ([at("2024-03-04"), at("2024-04-13")], [])


def test_the_caller_decides_where_the_column_does_not():
    assert read("03/04/2024", day_first=True) == ([at("2024-04-03")], [])
    assert read("03/04/2024", day_first=False) == ([at("2024-03-04")], [])


def test_dates_with_dots_have_the_day_first():
    assert read("03.04.2024") == ([at("2024-04-03")], [])


def test_a_column_in_two_orders_is_an_error_that_names_both():
    with pytest.raises(ValueError, match="13/04/2024 has the day first, 04/13/2024 the month"):
        read("13/04/2024", "04/13/2024")


def test_epochs_are_said_with_their_unit():
    assert read(1706659200, 1706745600) == (
        [at("2024-01-31"), at("2024-02-01")],
        ["Dates were read as seconds since 1970, in UTC."],
    )
    assert read(1706659200000)[1] == ["Dates were read as milliseconds since 1970, in UTC."]


@pytest.mark.parametrize(
    "written",
    [
        "02/30/2024",
        "00/00/2024",
        "1/31/2024 25:00",
        "1/31/2024 noon: no",
        "13/13/2024",
        "Smarch 3, 2024",
        "soon",
        "",
        True,
        None,
        45322,
        float("inf"),
        1e30,
        "9" * 30,
        "1" * 10_000,
        "1/" * 5_000,
    ],
)
def test_what_is_no_date_is_none(written):
    assert read(written)[0] == [None]


def test_a_small_index_is_no_epoch_but_an_order():
    assert is_count([3, 1, 2])
    assert not is_count([2023, 2024])
    assert not is_count([1.5])
    assert not is_count([])
    rows = [{"day": 2, "close": 11}, {"day": 1, "close": 10}]
    found = read_series(rows)
    assert (found.is_dated, list(found.series[0])) == (False, [10.0, 11.0])
    assert found.notes == ("The column 'day' counts the rows; it has no dates.",)


@pytest.mark.parametrize(
    ("dates", "periods"),
    [
        ("2024-01-05 2024-01-08 2024-01-09", 252),  # Friday, Monday, Tuesday
        ("2024-01-04 2024-01-05 2024-01-08", 252),
        ("2024-01-05 2024-01-08", 252),
        ("2024-03-28 2024-04-02", 252),  # over Easter
        ("2024-01-12 2024-01-16 2024-01-17", 252),  # a Monday off
        ("2024-01-05 2024-01-06 2024-01-07", 365),  # open at weekends
        ("2024-01-02 2024-01-05 2024-01-09 2024-01-12", 365.25 / 3),  # Tuesdays and Fridays
        ("2024-01-05 2024-01-12 2024-01-19", 52),
        ("2024-01-05 2024-01-12", 52),
        ("2023-12-29 2024-01-31 2024-02-29", 12),
        ("2024-06-28 2024-07-31", 12),
        ("2024-03-28 2024-06-28 2024-09-30", 4),
        ("2024-01-05T09:00 2024-01-05T10:00", None),
    ],
)
def test_a_weekend_between_two_days_is_no_gap(dates, periods):
    assert periods_per_year(list(map(at, dates.split()))) == periods
