"""Manifests of published copilots for Workspace."""

from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from copilot_admin.agent.values.spec import ProviderSpec, spec_from_document
from copilot_admin.copilots.callers import identify
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.copilots.images import copy_of, is_url
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Copilot, CopilotVersion
from protocol.manifest import CopilotCard, ModelChoice


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


# What a card depends on; versions never change, so documents needn't be read.
_STAMP = (
    "slug",
    "live_id",
    "live__published_at",
    "live__provider__name",
    "live__provider__kind",
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
