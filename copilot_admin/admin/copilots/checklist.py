"""Findings of the checks for pages, with links to their fields."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from copilot_admin.admin.copilots.fields import LIVE_COLUMNS, anchor_of
from copilot_admin.copilots.checklist.checklist import FAILED_TESTS
from copilot_admin.copilots.checklist.findings import Finding
from copilot_admin.copilots.comparison import label_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A finding on a page.

    Attributes:
        label: What the form calls the field.
        anchor: Id of its input.
        url_name: Name of the page with the input.
    """

    sentence: str
    label: str
    anchor: str
    url_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """Errors that block publishing, and warnings."""

    errors: tuple[Item, ...]
    warnings: tuple[Item, ...]


def checklist_of(findings: Iterable[Finding]) -> Checklist:
    """Return findings for a page, in the same order."""
    found = tuple(findings)
    return Checklist(
        errors=tuple(_item(one) for one in found if one.is_error),
        warnings=tuple(_item(one) for one in found if not one.is_error),
    )


def _item(finding: Finding) -> Item:
    if finding.code == FAILED_TESTS:
        return Item(
            sentence=finding.sentence,
            label=_("Test"),
            anchor="tests",
            url_name="admin:copilot_admin_copilot_tests",
        )
    page = "settings" if finding.input in LIVE_COLUMNS else "change"
    return Item(
        sentence=finding.sentence,
        label=label_of(finding.field),
        anchor=anchor_of(finding.input),
        url_name=f"admin:copilot_admin_copilot_{page}",
    )
