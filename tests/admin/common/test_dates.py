"""People read one form of date and time on all pages."""

from pathlib import Path
import re

from django.conf import settings

FORMS = {
    "DATE_FORMAT",
    "DATETIME_FORMAT",
    "j M Y H:i:s",  # the same, with seconds
    "H:i",  # beside a date
    "H:i:s",
    "H:i:s.u",
}
FOR_MACHINES = {"c", "U.u"}
_DATE = re.compile(r'\|date:"([^"]*)"')
_INPUT = re.compile(r"<input[^>]*>")


def test_every_date_is_written_in_one_form():
    folder = Path(settings.BASE_DIR) / "templates"
    shown = "".join(_INPUT.sub("", path.read_text()) for path in folder.rglob("*.html"))
    assert set(_DATE.findall(shown)) == FORMS | FOR_MACHINES
