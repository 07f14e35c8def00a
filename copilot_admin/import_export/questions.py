"""Test cases in a copilot file."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from pydantic import ValidationError

from copilot_admin.copilots.test_cases import MAX_TEST_CASES, TestCaseEntry, fill_case
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export.errors import BadCopilotFile, read_errors
from copilot_admin.models import Copilot, TestCase


def parse_case(row: object) -> TestCaseEntry:
    """Parse a test case of plain values; raises `BadCopilotFile` with every error."""
    try:
        return TestCaseEntry.model_validate(row)
    except ValidationError as error:
        raise BadCopilotFile(read_errors(error)) from error


def replace_cases(
    copilot: Copilot, rows: Sequence[Mapping[str, Any]], origins: Mapping[str, int | None]
) -> None:
    """Replace the test cases of a copilot; unchanged ones keep their results.

    `origins` are source conversations of this server's test cases, by digest: an imported copy of one
    is erased with its conversation, too.
    """
    before = list(TestCase.objects.filter(copilot=copilot).defer("test_data"))
    own = {one.digest: one.origin for one in before if one.origin is not None}
    for position, row in enumerate(rows):
        case = TestCase(copilot=copilot, position=position)
        fill_case(case, row)
        case.origin = own.get(case.digest, origins.get(case.digest))
        content = (case.digest, case.assertions, case.label)
        same = next(
            (one for one in before if (one.digest, one.assertions, one.label) == content), None
        )
        if same is None:
            case.save()
        else:
            before.remove(same)
            # Not saved: its results would be older than the case.
            TestCase.objects.filter(pk=same.pk).update(position=position)
    for case in before:
        case.delete()


def add_case(copilot: Copilot, entry: TestCaseEntry, *, origin: int | None = None) -> TestCase:
    """Add a test case after the others, with its source conversation if it has one."""
    case = TestCase(copilot=copilot, origin=origin)
    fill_case(case, entry.row())
    return save_last(case)


def save_last(case: TestCase) -> TestCase:
    """Save a new test case after the others of its copilot."""
    rows = TestCase.objects.filter(copilot=case.copilot_id)
    if rows.count() >= MAX_TEST_CASES:
        sentence = _("A copilot can have %(most)d test cases. Delete one first.")
        raise ConfigurationError(sentence % {"most": MAX_TEST_CASES})
    last = rows.order_by("position").values_list("position", flat=True).last()
    case.position = 0 if last is None else last + 1
    case.save()
    return case
