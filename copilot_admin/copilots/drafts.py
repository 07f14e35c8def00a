"""Changes that publishing a draft would make, and its obstacles."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from copilot_admin.copilots.checklist.checklist import facts_of
from copilot_admin.copilots.checklist.findings import DraftFacts, Finding
from copilot_admin.copilots.comparison import FieldChange, find_changes
from copilot_admin.copilots.publish_gate import digest_of_draft
from copilot_admin.copilots.publishing import checklist, document_of, document_today
from copilot_admin.models import Copilot


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A draft before it is published.

    Attributes:
        findings: Errors first.
        unasked: Names of its providers whose models are unknown.
        digest: Of the draft, to notice changes after it was shown.
    """

    copilot: Copilot
    is_first: bool
    changes: tuple[FieldChange, ...]
    findings: tuple[Finding, ...]
    unasked: tuple[str, ...]
    digest: str

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that stop publishing."""
        return tuple(one for one in self.findings if one.is_error)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that don't stop publishing."""
        return tuple(one for one in self.findings if not one.is_error)

    @property
    def may_go_live(self) -> bool:
        return bool(self.changes) and not self.errors


def drafts_of(copilots: Sequence[Copilot]) -> list[Draft]:
    """Compare drafts with their live versions, in a few queries for all."""
    known = zip(copilots, facts_of(copilots), strict=True)
    return [_draft_of(copilot, facts) for copilot, facts in known]


def _draft_of(copilot: Copilot, facts: DraftFacts) -> Draft:
    document = document_of(copilot)
    return Draft(
        copilot=copilot,
        is_first=copilot.live is None,
        changes=(
            find_changes(document_today(copilot.live), document)
            if copilot.live
            else _chosen(document, document_of(Copilot(provider=copilot.provider)))
        ),
        findings=checklist(copilot, facts),
        unasked=facts.unasked,
        digest=digest_of_draft(copilot),
    )


def _chosen(document: Mapping[str, Any], blank: Mapping[str, Any]) -> tuple[FieldChange, ...]:
    """Return provider and model of a first version, and what differs from the defaults."""
    always = ("provider", "model")
    told = {key: value for key, value in document.items() if key in always or value != blank[key]}
    return find_changes({}, told)


def by_input(findings: Iterable[Finding]) -> Mapping[str, tuple[str, ...]]:
    """Return the sentences of findings by the name of their input."""
    found: dict[str, tuple[str, ...]] = {}
    for one in findings:
        found[one.input] = (*found.get(one.input, ()), one.sentence)
    return found
