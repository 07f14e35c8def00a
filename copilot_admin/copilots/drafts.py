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
    """A draft on its way to be published.

    Attributes:
        findings: What there is to say of it, the gravest first.
        unasked: Names of its providers of which is not known which models they have.
        digest: Of the draft's document, to notice that it changed after it was shown.
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
        """What is told, and stops nothing."""
        return tuple(one for one in self.findings if not one.is_error)

    @property
    def may_go_live(self) -> bool:
        return bool(self.changes) and not self.errors


def drafts_of(copilots: Sequence[Copilot]) -> list[Draft]:
    """Compares drafts with what is live; what is known about them is asked for once."""
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
    """Content of a first version that differs from the defaults.

    Of whom it asks, it says both: a provider and its model, whatever they are.
    """
    always = ("provider", "model")
    told = {key: value for key, value in document.items() if key in always or value != blank[key]}
    return find_changes({}, told)


def by_input(findings: Iterable[Finding]) -> Mapping[str, tuple[str, ...]]:
    """The sentences of findings, under the name of the input they are about."""
    found: dict[str, tuple[str, ...]] = {}
    for one in findings:
        found[one.input] = (*found.get(one.input, ()), one.sentence)
    return found
