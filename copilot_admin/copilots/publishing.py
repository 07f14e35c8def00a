"""Versions of copilots: publish, roll back, restore."""

from collections.abc import Mapping
from copy import copy
from typing import Any, cast

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from copilot_admin.agent.values.document import spec_from_document
from copilot_admin.copilots.checklist.checklist import FAILED_TESTS, check_document, facts_of
from copilot_admin.copilots.checklist.findings import DraftFacts, Finding, error
from copilot_admin.copilots.config import VERSIONED_FIELDS
from copilot_admin.copilots.other_providers import current_rows, link_providers
from copilot_admin.copilots.providers import provider_spec
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Copilot, CopilotVersion, Provider
from copilot_admin.models.copilots import MAX_VERSION_NOTE_LENGTH
from protocol.json import Json


class NotPublishable(ConfigurationError):
    """A draft has problems, which are listed in the text."""

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
    blank = document_of(Copilot(provider=version.provider))
    features = {**cast("dict[str, Json]", blank["features"])}
    published = version.document.get("features")
    if isinstance(published, Mapping):
        features |= published
    return {
        **blank,
        **version.document,
        "features": features,
        "provider": version.provider.name,
        **cast("dict[str, Json]", current_rows(version)),
    }


def check_known(version: CopilotVersion) -> None:
    """Check that this release can read a version.

    Raises:
        ConfigurationError: A newer release made it.
    """
    known = {field.key for field in VERSIONED_FIELDS}
    unknown = ", ".join(sorted(version.document.keys() - known))
    sentence = _("Version %(number)d was made by another release.") % {"number": version.number}
    if unknown:
        more = _("This one does not know: %(names)s. Nothing was changed.") % {"names": unknown}
        raise ConfigurationError(f"{sentence} {more}")
    try:
        spec_from_document("version", version.document, provider_spec(version.provider))
    except ConfigurationError as error:
        more = _("This one cannot read all that it says. Nothing was changed.")
        raise ConfigurationError(f"{sentence} {more}") from error


def checklist(copilot: Copilot, facts: DraftFacts | None = None) -> tuple[Finding, ...]:
    """Return the findings about a draft, errors first; `facts` may have been read for several."""
    if facts is None:
        (facts,) = facts_of([copilot])
    return check_document(copilot, document_of(copilot), facts)


def problems(copilot: Copilot) -> tuple[Finding, ...]:
    """Return the errors that stop publishing a draft."""
    return tuple(one for one in checklist(copilot) if one.is_error)


def publish(
    copilot: Copilot, *, user: AbstractBaseUser | None, note: str = ""
) -> CopilotVersion | None:
    """Publish the saved draft as a new version; None if it is live already.

    Args:
        copilot: Its draft in the database is published.
        user: None for a command.
        note: Of the version.

    Raises:
        NotPublishable: The draft has problems.
    """
    with transaction.atomic():
        draft = _locked(copilot.pk)
        version = _release(draft, draft, user=user, note=note) if has_changes(draft) else None
    copilot.live = draft.live
    return version


def publish_again(
    version: CopilotVersion, *, user: AbstractBaseUser | None
) -> CopilotVersion | None:
    """Publish an earlier version as a new one; None if it is live already. The draft stays.

    Raises:
        NotPublishable: It has problems by now, for example a tool is gone.
        ConfigurationError: A newer release made it.
    """
    with transaction.atomic():
        copilot = _locked(version.copilot_id)
        again = draft_like(version, copilot)
        if not has_changes(again):
            return None
        note = _("Version %(number)d again") % {"number": version.number}
        return _release(copilot, again, user=user, note=note)


def draft_like(version: CopilotVersion, copilot: Copilot | None = None) -> Copilot:
    """Return a copy of the draft with the content of a version, not saved.

    Raises:
        ConfigurationError: Another release made the version, and this one can't read it.
    """
    check_known(version)
    draft = copy(copilot or version.copilot)
    apply_document(draft, document_today(version), provider=version.provider)
    return draft


def restore(version: CopilotVersion) -> None:
    """Replace the draft of a copilot by a version; publishes nothing.

    Raises:
        NotPublishable: The copilot is archived or being deleted.
        ConfigurationError: A newer release made the version.
    """
    with transaction.atomic():
        draft = _locked(version.copilot_id)
        check_known(version)
        apply_document(draft, document_today(version), provider=version.provider)
        draft.save()


def _locked(copilot_id: int) -> Copilot:
    copilot = Copilot.objects.select_for_update(of=("self",), no_key=True).get(pk=copilot_id)
    if copilot.is_being_deleted:
        raise NotPublishable(copilot, (error("name", _("This copilot is being deleted.")),))
    if copilot.is_archived:
        sentence = _("This copilot is in the archive. Restore it first.")
        raise NotPublishable(copilot, (error("name", sentence),))
    return copilot


def _release(
    copilot: Copilot, content: Copilot, *, user: AbstractBaseUser | None, note: str
) -> CopilotVersion:
    found = tuple(one for one in problems(content) if user is not None or not one.only_for_people)
    if content is not copilot:  # an earlier version: the tests of the draft say nothing about it
        found = tuple(one for one in found if one.code != FAILED_TESTS)
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
