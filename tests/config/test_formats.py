"""Every page writes dates in one way."""

from datetime import UTC, datetime

from django.utils.formats import date_format
import pytest

AT = datetime(2026, 3, 7, 16, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("DATE_FORMAT", "7 Mar 2026"),
        ("DATETIME_FORMAT", "7 Mar 2026 16:05"),
        ("SHORT_DATETIME_FORMAT", "7 Mar 2026 16:05"),
        ("TIME_FORMAT", "16:05"),
    ],
)
def test_dates_are_written_in_one_way(name: str, written: str) -> None:
    assert date_format(AT, name) == written
