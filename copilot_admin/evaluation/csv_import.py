"""Test cases from a CSV file: either all of them, or a list of errors."""

import csv
import io
import re

from django.utils.translation import gettext as _

from copilot_admin.copilots.test_cases import (
    MAX_EXPECTED_LENGTH,
    MAX_QUESTION_LENGTH,
    MAX_TEST_CASES,
    TestCaseEntry,
)
from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.numbers import find_numbers
from copilot_admin.import_export.questions import parse_case

MAX_CSV_BYTES = 2 * 1024 * 1024
MAX_ERRORS = 50  # errors that are reported
_WRITTEN = re.compile(r"\(?[-\u2212+]?[$€£¥]?\d[\d.,'\u2019\u00a0\u202f]*\s?%?\)?")
COLUMNS = ("question", "expected", "number", "tolerance", "label")


def parse_csv(data: bytes) -> list[TestCaseEntry]:
    """Parse the test cases of a CSV file with a header; columns may be missing.

    Raises:
        ConfigurationError: Each line of the text has the number of a line, from 1, and its error.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigurationError("1: " + _("Save the file as CSV in UTF-8.")) from None
    header = text.partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, restkey="")
    names = [(name or "").strip().lower() for name in reader.fieldnames or ()]
    reader.fieldnames = names
    if "question" not in names:
        sentence = _("There is no column “question”. The first line must name the columns: %s.")
        raise ConfigurationError("1: " + sentence % ", ".join(COLUMNS))
    if unknown := [name for name in names if name and name not in COLUMNS]:
        sentence = _("Unknown column “%(name)s”. Possible columns: %(known)s.")
        about = {"name": unknown[0], "known": ", ".join(COLUMNS)}
        raise ConfigurationError("1: " + sentence % about)
    return _parse_lines(reader)


def _parse_lines(reader: "csv.DictReader[str]") -> list[TestCaseEntry]:
    entries: list[TestCaseEntry] = []
    errors: list[str] = []
    try:
        for row in reader:
            cells = {key: (value or "").strip() for key, value in row.items() if key}
            if not any(cells.values()):
                continue
            try:
                entries.append(_parse_row(cells))
            except ConfigurationError as error:
                errors.append(f"{reader.line_num}: {error.public}")
    except csv.Error as error:
        errors.append(f"{reader.line_num}: {error}")
    if not entries and not errors:
        errors.append("1: " + _("The file has no test cases."))
    if len(entries) > MAX_TEST_CASES:
        sentence = _("The file has more than %d test cases. Split it.")
        errors.append(f"{MAX_TEST_CASES + 2}: {sentence % MAX_TEST_CASES}")
    if errors:
        raise ConfigurationError("\n".join(errors[:MAX_ERRORS]))
    return entries


def _parse_row(cells: dict[str, str]) -> TestCaseEntry:
    if not cells.get("question"):
        raise ConfigurationError(_("The question is missing."))
    for name, most in (("question", MAX_QUESTION_LENGTH), ("expected", MAX_EXPECTED_LENGTH)):
        if len(cells.get(name, "")) > most:
            sentence = _("“%(name)s” has more than %(most)d characters.")
            raise ConfigurationError(sentence % {"name": name, "most": most})
    expect: list[dict[str, object]] = []
    if cells.get("expected"):
        expect.append({"contains": cells["expected"]})
    if cells.get("number"):
        number: dict[str, object] = {"number": parse_number(cells["number"])}
        if cells.get("tolerance"):
            number["tolerance"] = abs(parse_number(cells["tolerance"]))
        expect.append(number)
    elif cells.get("tolerance"):
        raise ConfigurationError(_("There is a tolerance but no number."))
    row = {"question": cells["question"], "expect": expect, "label": cells.get("label", "")}
    return parse_case(row)


def parse_number(text: str) -> float:
    """Parse a number that a person typed; `106.5`, `1,234`, `(3.2)`, `12 %`.

    Raises:
        ConfigurationError: It isn't a number, or is ambiguous.
    """
    try:
        number = float(text)
    except ValueError:
        pass
    else:
        if abs(number) < float("inf"):
            return number
    found = list(find_numbers(text)) if _WRITTEN.fullmatch(text.strip()) else []
    if len(found) != 1:
        raise ConfigurationError(_("“%s” is not a number. Enter one such as 106.5.") % text)
    values = sorted(found[0].values)
    if len(values) > 1:
        readings = _(" or ").join(f"{one:.15g}" for one in values)
        sentence = _("“%(text)s” is ambiguous. Enter %(readings)s.")
        raise ConfigurationError(sentence % {"text": text, "readings": readings})
    return values[0]
