"""How published copilots present themselves to Workspace."""

from copilot_admin.copilots.callers import identify
from copilot_admin.copilots.remote_images import copy_of, is_address
from copilot_admin.copilots.users import AskingUser
from copilot_admin.engine.values.document import spec_from_document
from copilot_admin.engine.values.spec import CopilotSpec, ProviderSpec
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Copilot
from protocol.manifest import CopilotCard, ModelChoice


def visible_cards(
    *, key: str | None, user: AskingUser | None = None, base_url: str
) -> tuple[CopilotCard, ...]:
    """The cards that a caller may see; one broken copilot is left out and breaks no other.

    Args:
        key: The endpoint key of the request, if it carries one.
        user: Who asks, as a token or a proxy says.
        base_url: Scheme and host under which this server is reached.

    Raises:
        Unauthorized: The key is unknown, expired or revoked.
    """
    caller = identify(key, user)
    cards = (
        card_of(copilot, base_url=base_url)
        for copilot in Copilot.objects.published().order_by("slug")
        if caller.may_ask(copilot.pk, access=copilot.access)
    )
    return tuple(card for card in cards if card is not None)


def card_of(copilot: Copilot, *, base_url: str) -> CopilotCard | None:
    """The card of a published copilot; None when its live version cannot be shown.

    Its provider may be unusable today: the copilot is shown all the same, and says so when asked.
    """
    if copilot.live is None:
        return None
    provider = ProviderSpec(name=copilot.live.provider.name, kind=copilot.live.provider.kind)
    try:
        spec = spec_from_document(copilot.slug, copilot.live.document, provider)
    except ConfigurationError:
        return None
    return _card(spec, image=str(copilot.live.document.get("image", "")), base_url=base_url)


def _card(spec: CopilotSpec, *, image: str, base_url: str) -> CopilotCard:
    endpoint = f"{base_url}/v1/copilots/{spec.slug}"
    only_linked = is_address(image) and not copy_of(image)
    return CopilotCard(
        slug=spec.slug,
        name=spec.name,
        description=spec.description,
        query_url=f"{endpoint}/query",
        feedback_url=f"{endpoint}/feedback",
        image_url=(image if only_linked else f"{endpoint}/image") if image else None,
        models=tuple(ModelChoice(id, name) for id, name in spec.models),
        features=spec.features,
        custom_features=spec.custom_features,
    )
