"""Turns the draft of a copilot into a version that answers."""

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, cast

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from copilot_admin.copilots.fields.table import VERSIONED
from copilot_admin.copilots.providers import provider_spec
from copilot_admin.copilots.switched_providers import keep, missing, up_to_date
from copilot_admin.engine.components.registry import registry
from copilot_admin.engine.llm.parameters import RESERVED_PARAMETERS
from copilot_admin.engine.prompt.placeholders import unknown_placeholders
from copilot_admin.engine.providers.registry import make_provider
from copilot_admin.engine.server_tools import taken_names
from copilot_admin.engine.tools.registry import tool_names
from copilot_admin.engine.values.document import spec_from_document
from copilot_admin.engine.values.spec import CopilotSpec, ProviderSpec
from copilot_admin.errors import ConfigurationError, KeyVariableUnset, RunError
from copilot_admin.models import Copilot, CopilotVersion, Provider
from copilot_admin.models.copilots import LONGEST_NOTE
from protocol.features import FEATURES
from protocol.json import Json


@dataclass(frozen=True, slots=True)
class Problem:
    """What keeps a draft from being published.

    Attributes:
        field: Its key in a copilot file.
        sentence: What is wrong, and what to do.
        only_here: It lies in the environment of this process. That of a command need not be the
            server's, so a command publishes nevertheless.
    """

    field: str
    sentence: str
    only_here: bool = False


class NotPublishable(ConfigurationError):
    """A draft has problems; the text is all of them."""

    def __init__(self, copilot: Copilot, problems: tuple[Problem, ...]) -> None:
        sentences = " ".join(problem.sentence for problem in problems)
        super().__init__(f"Copilot '{copilot.slug}' cannot be published. {sentences}")
        self.problems = problems


def document_of(copilot: Copilot) -> dict[str, Json]:
    """The versioned part of a draft, with the keys of a copilot file.

    An uploaded image stands in it by its name in the storage; such a file is never changed.
    """
    return {field.key: field.value_of(copilot) for field in VERSIONED}


def apply_document(copilot: Copilot, document: Mapping[str, Any], *, provider: Provider) -> None:
    """Makes a draft equal to a document; `document_of` gives it back. Does not save.

    Args:
        copilot: The draft.
        document: Complete and checked.
        provider: The provider that the document names.
    """
    values = {**document, "provider": provider}
    for field in VERSIONED:
        field.give(copilot, values[field.key])


def has_changes(copilot: Copilot) -> bool:
    """Whether publishing would make a new version. A renamed provider is no change."""
    if copilot.live is None or copilot.live.provider_id != copilot.provider_id:
        return True
    return document_of(copilot) != document_today(copilot.live)


def document_today(version: CopilotVersion) -> dict[str, Json]:
    """The document of a version as it would be written now.

    What came with a later release is at its default, and a provider has the name it has now.
    """
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
        "custom_features": cast("Json", list(up_to_date(version))),
    }


def problems(copilot: Copilot) -> tuple[Problem, ...]:
    """All that keeps a draft from being published."""
    try:
        spec = spec_from_document(
            copilot.slug, document_of(copilot), provider_spec(copilot.provider)
        )
        make_provider(spec.provider)
    except (ConfigurationError, RunError) as error:
        only_here = isinstance(error, KeyVariableUnset)
        problem = Problem("provider", error.public, only_here=only_here)
        return (problem, *_problems_without_provider(copilot))
    return tuple(_problems(spec))


def publish(
    copilot: Copilot, *, user: AbstractBaseUser | None, note: str = ""
) -> CopilotVersion | None:
    """Makes the draft the version that answers from the next request on.

    Args:
        copilot: Saved; what is published is what the database holds.
        user: Who publishes; None for a command.
        note: Why, in the words of who publishes.

    Returns:
        The new version, or None when the draft is what is live already.

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
    """Makes an earlier version answer again, as a new one. The draft stays as it is.

    Args:
        version: Of any age.
        user: Who publishes.

    Returns:
        The new version, or None when that is live already.

    Raises:
        NotPublishable: It has problems by now: a tool or a provider is gone.
    """
    with transaction.atomic():
        copilot = _locked(version.copilot_id)
        again = copy(copilot)
        apply_document(again, document_today(version), provider=version.provider)
        if not has_changes(again):
            return None
        note = _("Version %(number)d again") % {"number": version.number}
        return _release(copilot, again, user=user, note=note)


def restore(version: CopilotVersion) -> None:
    """Makes the draft of a copilot what a version says; nothing is published.

    Raises:
        NotPublishable: The copilot is being deleted.
    """
    with transaction.atomic():
        draft = _locked(version.copilot_id)
        apply_document(draft, document_today(version), provider=version.provider)
        draft.save()


def _locked(copilot_id: int) -> Copilot:
    """A copilot that nobody else changes until the transaction ends."""
    copilot = Copilot.objects.select_for_update(of=("self",)).get(pk=copilot_id)
    if copilot.is_being_deleted:
        raise NotPublishable(copilot, (Problem("name", _("This copilot is being deleted.")),))
    return copilot


def _release(
    copilot: Copilot, content: Copilot, *, user: AbstractBaseUser | None, note: str
) -> CopilotVersion:
    """Makes a version of what a draft would be, and the live one of the copilot."""
    found = tuple(one for one in problems(content) if user is not None or not one.only_here)
    if found:
        raise NotPublishable(copilot, found)
    last = copilot.versions.aggregate(last=Max("number"))["last"] or 0
    version = CopilotVersion.objects.create(
        copilot=copilot,
        number=last + 1,
        document=document_of(content),
        provider=content.provider,
        note=note[:LONGEST_NOTE],
        published_by_id=user.pk if user else None,
    )
    keep(version, content.custom_features)
    copilot.live = version
    copilot.save(update_fields=["live"])
    return version


def _problems_without_provider(copilot: Copilot) -> tuple[Problem, ...]:
    try:
        bare = ProviderSpec(name=copilot.provider.name, kind=copilot.provider.kind)
        return tuple(_problems(spec_from_document(copilot.slug, document_of(copilot), bare)))
    except ConfigurationError:
        return ()


def _problems(spec: CopilotSpec) -> Iterator[Problem]:
    if not spec.model.strip():
        yield Problem("model", _("Choose a model."))
    for name in unknown_placeholders(spec.system_prompt, spec.custom_features):
        sentence = _("The prompt has the unknown placeholder {{ %(name)s }}.")
        yield Problem("system_prompt", sentence % {"name": name})
    for name in sorted(set(spec.tools) - set(tool_names())):
        sentence = _("There is no tool named '%(name)s'. Switch it off.")
        yield Problem("tools", sentence % {"name": name})
    for use in spec.components:
        if not registry().find(use.name, use.version):
            sentence = _("There is no component '%(name)s'. Switch it off.")
            yield Problem("components", sentence % {"name": use.pin})
        elif use.name in taken_names(spec):
            sentence = _("The component '%(name)s' has the name of a tool. Switch one of them off.")
            yield Problem("components", sentence % {"name": use.name})
    for name in missing(feature.provider for feature in spec.custom_features if feature.provider):
        sentence = _("There is no provider named '%(name)s', which a control lets answer.")
        yield Problem("custom_features", sentence % {"name": name})
    for key in _clashing_keys(spec):
        sentence = _("The key '%(key)s' is taken. Give the control another.")
        yield Problem("custom_features", sentence % {"key": key})
    for name in sorted(RESERVED_PARAMETERS & spec.parameters.keys()):
        sentence = _("The parameter '%(name)s' is set by the server. Take it out.")
        yield Problem("parameters", sentence % {"name": name})


def _clashing_keys(spec: CopilotSpec) -> list[str]:
    taken = {"streaming", *(feature.key for feature in FEATURES)}
    clashing = []
    for feature in spec.custom_features:
        if feature.key in taken:
            clashing.append(feature.key)
        taken.add(feature.key)
    return clashing
