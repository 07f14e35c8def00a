"""Published copilots, ready to answer, and their cards for Workspace."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
import json
from typing import Any

from copilot_admin.agent.llm.model_choice import switched_provider
from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.agent.values.model_call import ModelProvider, ModelTarget
from copilot_admin.agent.values.spec import CopilotSpec, ProviderSpec, spec_from_document
from copilot_admin.copilots.callers import Caller, check_user, identify
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.copilots.images import copy_of, is_url
from copilot_admin.copilots.other_providers import providers_of_version
from copilot_admin.copilots.providers import key_file_times, provider_spec
from copilot_admin.errors import ConfigurationError, NotFound, RunError
from copilot_admin.models import Copilot, CopilotVersion, Logging, Provider
from copilot_admin.redaction.rules import NO_RULES, Rules, rules_for
from copilot_admin.storage.sql import fetch_row, read_time
from protocol.features import CopilotCard, ModelChoice
from protocol.json import Json
from protocol.models import Query

_READ_LIVE = """
SELECT copilot.id, copilot.access, copilot.logging, copilot.redaction, copilot.redacted_expressions,
    version.id AS version_id, version.number AS version_number, provider.updated_at AS changed_at
FROM copilot_admin_copilot copilot
JOIN copilot_admin_copilotversion version ON version.id = copilot.live_id
JOIN copilot_admin_provider provider ON provider.id = version.provider_id
WHERE copilot.slug = %(slug)s AND copilot.enabled
"""
# What a card depends on; versions never change, so documents needn't be read.
_STAMP = (
    "slug",
    "live_id",
    "live__published_at",
    "live__provider__name",
    "live__provider__kind",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    spec: CopilotSpec
    provider: ModelProvider
    # The same with other providers, by name, for options that switch to them.
    others: "Mapping[str, Answerer]" = field(default_factory=dict)
    fallbacks: tuple[ModelTarget, ...] = ()  # if the chosen model fails before its first token

    def for_query(self, query: Query) -> "Answerer":
        return self.others.get(switched_provider(self.spec, query), self) if self.others else self


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCopilot:
    """A copilot that answers, as of one moment."""

    id: int
    slug: str
    version_id: int | None  # None for a draft that its builder tests
    version_number: int  # 0 for a draft
    logging: Logging
    redaction: Rules = NO_RULES  # for stored texts
    answerer: Answerer | None = None  # None if the configuration doesn't work
    problem: str = ""  # the reason, for the person who asked


def admit(
    slug: str, *, key: str | None, user: AskingUser | None = None
) -> tuple[LiveCopilot, Caller]:
    """Return the live copilot that a caller may ask; reads the database.

    Raises:
        Unauthorized: The key is not valid, or missing where one is needed; or a user is required.
        NotFound: No enabled, published copilot has this slug.
        Forbidden: The key is valid, but not for this copilot.
    """
    caller = identify(key, user)
    check_user(caller)
    row = fetch_row(_READ_LIVE, slug=slug)
    if row is None:
        raise NotFound(
            f"No published copilot is named '{slug}'. /agents.json lists those there are."
        )
    caller.check_may_ask(row["id"], access=row["access"])
    live = _make_live(
        id=row["id"],
        slug=slug,
        # A test question is the builder's own, and they need to read why it failed.
        logging=Logging.EVERYTHING if caller.is_trying else row["logging"],
        redaction=rules_for(json.loads(row["redaction"]), json.loads(row["redacted_expressions"])),
        version_id=row["version_id"],
        version_number=row["version_number"],
        changed_at=read_time(row["changed_at"]),
    )
    return live, caller


def live_copilots(ids: Collection[int]) -> tuple[LiveCopilot, ...]:
    """Return those of some copilots that answer, ordered by slug; reads the database."""
    rows = Copilot.objects.published().filter(pk__in=ids).order_by("slug")
    return tuple(
        _make_live(
            id=row.pk,
            slug=row.slug,
            logging=row.logging,
            redaction=rules_for(row.redaction, row.redacted_expressions),
            version_id=row.live_id,
            version_number=row.live.number,
            changed_at=row.live.provider.updated_at,
        )
        for row in rows.select_related("live__provider").defer("live__document")
        if row.live
    )


def being_deleted(ids: Collection[int]) -> frozenset[int]:
    """Return those of some copilots that are deleted or being deleted; reads the database."""
    staying = Copilot.objects.filter(pk__in=ids, deletion_requested_at=None)
    return frozenset(ids) - set(staying.values_list("pk", flat=True))


def _make_live(*, logging: str, changed_at: datetime | None, **values: Any) -> LiveCopilot:
    version_id, slug = values["version_id"], values["slug"]
    times = Provider.objects.values_list("updated_at", flat=True)
    others = [times.filter(pk=pk).first() for pk in _other_ids(version_id)]
    changed = (changed_at, *others, *key_file_times())
    answerer, problem = None, ""
    try:
        answerer = _answerer(version_id, slug, changed)
    except (ConfigurationError, RunError) as error:
        problem = error.public
    return LiveCopilot(logging=Logging(logging), answerer=answerer, problem=problem, **values)


@lru_cache(maxsize=1024)
def _other_ids(version_id: int) -> tuple[int, ...]:
    return tuple(provider.pk for provider in providers_of_version(version_id).values())


@lru_cache(maxsize=256)
def _answerer(version_id: int, slug: str, changed: tuple[datetime | float | None, ...]) -> Answerer:
    version = CopilotVersion.objects.select_related("provider").get(pk=version_id)
    return answerer_of(
        slug, version.document, version.provider, others=providers_of_version(version_id)
    )


def answerer_of(
    slug: str, document: Mapping[str, Json], provider: Provider, *, others: Mapping[str, Provider]
) -> Answerer:
    """Return the answerer of a document; `others` are other providers, by their names in it.

    Raises:
        ConfigurationError: The configuration doesn't work.
        RunError: The provider doesn't.
    """
    spec = spec_from_document(slug, document, provider_spec(provider))
    own = make_provider(spec.provider)
    specs = {name: provider_spec(other) for name, other in others.items()}
    providers = {name: make_provider(one) for name, one in specs.items()}
    fallbacks = tuple(
        ModelTarget(
            model=one.model,
            spec=specs.get(one.provider, spec.provider),
            provider=providers.get(one.provider, own),
        )
        for one in spec.fallbacks
        if not one.provider or one.provider in providers
    )
    answerers = {
        name: Answerer(spec=replace(spec, provider=specs[name]), provider=one, fallbacks=fallbacks)
        for name, one in providers.items()
    }
    return Answerer(spec=spec, provider=own, others=answerers, fallbacks=fallbacks)


def visible_cards(
    *, key: str | None, user: AskingUser | None = None, base_url: str
) -> tuple[CopilotCard, ...]:
    """Return the cards that a caller may see, without broken copilots."""
    caller = identify(key, user)
    rows = Copilot.objects.published().order_by("slug").values_list("pk", "access", *_STAMP)
    found = [_read_card(*stamp) for pk, access, *stamp in rows if caller.may_ask(pk, access=access)]
    return tuple(
        replace(
            card,
            query_url=f"{base_url}{card.query_url}",
            feedback_url=f"{base_url}{card.feedback_url}",
            image_url=_image_url(card, base_url=base_url),
        )
        for card in found
        if card is not None
    )


@lru_cache(maxsize=2048)
def _read_card(
    slug: str, version_id: int, published_at: datetime, provider: str, kind: str
) -> CopilotCard | None:
    """Return the card of a version with paths instead of URLs, None if it can't be read.

    `image_url` is the image of the document: a file name or a URL. The provider needn't work.
    """
    document = CopilotVersion.objects.values_list("document", flat=True).get(pk=version_id)
    try:
        spec = spec_from_document(slug, document, ProviderSpec(name=provider, kind=kind))
    except ConfigurationError:
        return None
    endpoint = f"/v1/copilots/{slug}"
    return CopilotCard(
        slug=slug,
        name=spec.name,
        description=spec.description,
        query_url=f"{endpoint}/query",
        feedback_url=f"{endpoint}/feedback",
        models=tuple(ModelChoice(id, name) for id, name in spec.models),
        features=spec.features,
        custom_features=spec.custom_features,
        image_url=str(document.get("image", "")),
    )


def _image_url(card: CopilotCard, *, base_url: str) -> str | None:
    image = card.image_url
    if image and is_url(image) and not copy_of(image):
        return image
    return f"{base_url}/v1/copilots/{card.slug}/image" if image else None
