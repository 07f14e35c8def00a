"""Tests that the draft has to pass before it is published."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from copilot_admin.copilots.checklist.check import Check
from copilot_admin.copilots.checklist.finding import TESTS, Finding, error, warning
from copilot_admin.copilots.checklist.subject import DraftContent, DraftFacts


@Check
def tests_not_passed(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report that the draft passes fewer tests than required."""
    tests = facts.tests
    if tests is None or tests.is_reached:
        return
    sentence = _(
        "%(passed)d of %(total)d tests passed on the current draft; %(percent)d%% are required. "
        "Run the tests and fix what fails."
    ) % {"passed": tests.passed, "total": tests.total, "percent": tests.min_percent}
    report = error if tests.is_blocking else warning
    yield report("system_prompt", sentence, code=TESTS)
