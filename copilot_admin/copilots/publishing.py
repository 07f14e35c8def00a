"""Drafts and versions of copilots: compare, publish, roll back, restore."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from copilot_admin.copilots.checklist.checklist import check_document, facts_of
from copilot_admin.copilots.checklist.findings import (
    FAILED_TESTS,
    DraftFacts,
    Finding,
    Findings,
    digest_of_draft,
    error,
)
from copilot_admin.copilots.comparison import FieldChange, find_changes
from copilot_admin.copilots.config import VERSIONED_FIELDS
from copilot_admin.copilots.other_providers import current_rows, link_providers
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Copilot, CopilotVersion, Provider
from copilot_admin.models.copilots import MAX_VERSION_NOTE_LENGTH
from protocol.json import Json


class NotPublishable(ConfigurationError):
    def __init__(self, copilot: Copilot, problems: tuple[Finding, ...]) -> None:
        sentences = " ".join(problem.sentence for problem in problems)
        super().__init__(f"Copilot '{copilot.slug}' cannot be published. {sentences}")
        self.problems = problems


def document_of(copilot: Copilot) -> dict[str, Json]:
    """Return the versioned part of a draft, with the keys of a copilot file.

    An uploaded image is its name in the storage; such a file is never changed.
    """
    return {field.key: field.value_of(copilot) for field in VERSIONED_FIELDS}


def apply_document(copilot: Copilot, document: Mapping[str, Any], *, provider: Provider) -> None:
    """Set a draft to a complete document and its provider; doesn't save."""
    copilot.provider = provider
    for field in VERSIONED_FIELDS:
        if field.key != "provider":
            field.set_value(copilot, document[field.key])


def has_changes(copilot: Copilot) -> bool:
    if copilot.live is None or copilot.live.provider_id != copilot.provider_id:
        return True
    return document_of(copilot) != document_today(copilot.live)


def document_today(version: CopilotVersion) -> dict[str, Json]:
    """Return the document of a version with keys of later releases and current provider names."""
    blank: dict[str, Any] = document_of(Copilot(provider=version.provider))
    document: Mapping[str, Any] = version.document
    return {
        **blank,
        **document,
        "features": {**blank["features"], **(document.get("features") or {})},
        "provider": version.provider.name,
        **current_rows(version),
    }


def checklist(copilot: Copilot, facts: DraftFacts | None = None) -> Findings:
    """Return the findings about a draft; `facts` may have been read for several."""
    return check_document(copilot, document_of(copilot), facts or facts_of([copilot])[0])


def publish(
    copilot: Copilot, *, user: AbstractBaseUser | None, note: str = ""
) -> CopilotVersion | None:
    """Publish the draft in the database as a new version; None if it is live already.

    `user` is None for a command. Raises `NotPublishable` if the draft has problems.
    """
    with transaction.atomic():
        draft = _locked(copilot.pk)
        version = _release(draft, draft, user=user, note=note) if has_changes(draft) else None
    copilot.live = draft.live
    return version


def republish(version: CopilotVersion, *, user: AbstractBaseUser | None) -> CopilotVersion | None:
    """Publish an earlier version as a new one; None if it is live already. The draft stays."""
    with transaction.atomic():
        copilot = _locked(version.copilot_id)
        again = draft_like(version, copilot)
        if not has_changes(again):
            return None
        note = _("Version %(number)d again") % {"number": version.number}
        return _release(copilot, again, user=user, note=note)


def draft_like(version: CopilotVersion, copilot: Copilot | None = None) -> Copilot:
    """Return a copy of the draft with the content of a version, not saved."""
    draft = copy(copilot or version.copilot)
    apply_document(draft, document_today(version), provider=version.provider)
    return draft


def restore(version: CopilotVersion) -> None:
    """Replace the draft of a copilot by a version; publishes nothing."""
    with transaction.atomic():
        draft = _locked(version.copilot_id)
        apply_document(draft, document_today(version), provider=version.provider)
        draft.save()


def _locked(copilot_id: int) -> Copilot:
    copilot = Copilot.objects.select_for_update(of=("self",), no_key=True).get(pk=copilot_id)
    if copilot.is_being_deleted:
        sentence = _("This copilot is being deleted.")
        raise NotPublishable(copilot, (error("deleted", "name", sentence),))
    if copilot.is_archived:
        sentence = _("This copilot is in the archive. Restore it first.")
        raise NotPublishable(copilot, (error("archived", "name", sentence),))
    return copilot


def _release(
    copilot: Copilot, content: Copilot, *, user: AbstractBaseUser | None, note: str
) -> CopilotVersion:
    is_earlier = content is not copilot  # the tests of the draft say nothing about it
    found = tuple(
        one
        for one in checklist(content).errors
        if not (user is None and one.only_for_people)
        and not (is_earlier and one.code == FAILED_TESTS)
    )
    if found:
        raise NotPublishable(copilot, found)
    last = copilot.versions.aggregate(last=Max("number"))["last"] or 0
    version = CopilotVersion.objects.create(
        copilot=copilot,
        number=last + 1,
        document=document_of(content),
        provider=content.provider,
        note=note[:MAX_VERSION_NOTE_LENGTH],
        published_by_id=user.pk if user else None,
    )
    link_providers(version)
    copilot.live = version
    copilot.save(update_fields=["live"])
    return version


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    copilot: Copilot
    changes: tuple[FieldChange, ...]
    findings: Findings
    unasked: tuple[str, ...]  # names of its providers whose models are unknown
    digest: str  # to notice changes after it was shown

    @property
    def is_first(self) -> bool:
        return self.copilot.live is None

    @property
    def may_go_live(self) -> bool:
        return bool(self.changes) and not self.findings.errors


def drafts_of(copilots: Sequence[Copilot]) -> list[Draft]:
    """Compare drafts with their live versions, in a few queries for all."""
    return [
        Draft(
            copilot=copilot,
            changes=_changes_of(copilot),
            findings=checklist(copilot, facts),
            unasked=facts.unasked,
            digest=digest_of_draft(copilot),
        )
        for copilot, facts in zip(copilots, facts_of(copilots), strict=True)
    ]


def _changes_of(copilot: Copilot) -> tuple[FieldChange, ...]:
    """Return the changes; of a first version provider, model and what isn't the default."""
    document = document_of(copilot)
    if copilot.live:
        return find_changes(document_today(copilot.live), document)
    blank = document_of(Copilot(provider=copilot.provider)) | {"provider": None, "model": None}
    return find_changes({}, {key: one for key, one in document.items() if one != blank[key]})
