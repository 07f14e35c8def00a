"""People read one form of date and time on all pages."""

from datetime import timedelta
from pathlib import Path
import re

from django.conf import settings
from django.utils import timezone
import pytest

from copilot_admin.templatetags.ages import ago

FORMS = {"DATE_FORMAT", "H:i"}  # times with a date are drawn by `ca_time`
_DATE = re.compile(r'\|date:"([^"]*)"')
_INPUT = re.compile(r"<input[^>]*>")


def templates() -> str:
    folder = Path(settings.BASE_DIR) / "templates"
    return "".join(_INPUT.sub("", path.read_text()) for path in folder.rglob("*.html"))


def test_every_date_is_written_in_one_form():
    assert set(_DATE.findall(templates())) == FORMS


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-5, "just now"), (0, "just now"), (59, "just now"), (61, "1\xa0minute ago")],
)
def test_an_age_below_a_minute_is_just_now(seconds, words):
    assert ago(timezone.now() - timedelta(seconds=seconds)) == words


def test_every_age_is_written_in_one_form():
    assert "|timesince" not in templates()
