"""Manifests of published copilots for Workspace."""

from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from copilot_admin.agent.values.document import spec_from_document
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.copilots.callers import identify
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.copilots.images import copy_of, is_url
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Copilot, CopilotVersion
from protocol.manifest import CopilotCard, ModelChoice


def visible_cards(
    *, key: str | None, user: AskingUser | None = None, base_url: str
) -> tuple[CopilotCard, ...]:
    """Return the cards that a caller may see, without broken copilots.

    Raises:
        Unauthorized: The key is unknown, expired or revoked.
    """
    caller = identify(key, user)
    rows = Copilot.objects.published().order_by("slug").values_list("pk", "access", *_STAMP)
    faces = (_face(*stamp) for pk, access, *stamp in rows if caller.may_ask(pk, access=access))
    return tuple(_card(face, base_url=base_url) for face in faces if face is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Face:
    """Manifest fields of a version that don't depend on the URL.

    Attributes:
        card: With URLs that begin with a slash.
        image: Of the document: a file name or a URL.
    """

    card: CopilotCard
    image: str


# What a face depends on; versions never change, so documents needn't be read.
_STAMP = (
    "slug",
    "live_id",
    "live__published_at",
    "live__provider__name",
    "live__provider__kind",
)


@lru_cache(maxsize=2048)
def _face(
    slug: str, version_id: int, published_at: datetime, provider: str, kind: str
) -> _Face | None:
    """Return the face of a version, None if it can't be read; its provider needn't work."""
    document = CopilotVersion.objects.values_list("document", flat=True).get(pk=version_id)
    try:
        spec = spec_from_document(slug, document, ProviderSpec(name=provider, kind=kind))
    except ConfigurationError:
        return None
    endpoint = f"/v1/copilots/{slug}"
    card = CopilotCard(
        slug=slug,
        name=spec.name,
        description=spec.description,
        query_url=f"{endpoint}/query",
        feedback_url=f"{endpoint}/feedback",
        models=tuple(ModelChoice(id, name) for id, name in spec.models),
        features=spec.features,
        custom_features=spec.custom_features,
    )
    return _Face(card=card, image=str(document.get("image", "")))


def _card(face: _Face, *, base_url: str) -> CopilotCard:
    image = face.image
    own_image = f"{base_url}/v1/copilots/{face.card.slug}/image"
    only_linked = is_url(image) and not copy_of(image)
    return replace(
        face.card,
        query_url=f"{base_url}{face.card.query_url}",
        feedback_url=f"{base_url}{face.card.feedback_url}",
        image_url=(image if only_linked else own_image) if image else None,
    )
