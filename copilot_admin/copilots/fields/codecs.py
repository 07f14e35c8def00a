"""The fields of a draft that are more than one column as it is: image, provider, features, limits."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from copilot_admin.agent.client_functions.registry import labels
from copilot_admin.copilots.fields.options import LIMITS
from copilot_admin.models import Copilot
from protocol.features import FEATURES


def image_of(copilot: Copilot) -> str:
    """The image of a draft: the name of an uploaded one in the storage, or an address."""
    return str(copilot.image.name) if copilot.image else copilot.image_url


def give_image(copilot: Copilot, image: str) -> None:
    """Puts an address or the name of a stored image where it belongs."""
    is_address = image.startswith(("https://", "http://"))
    copilot.image_url = image if is_address else ""
    copilot.image = "" if is_address else image


def image_in_words(image: str | None) -> str:
    """The address; the name of a stored image tells nobody anything."""
    if image and "://" not in image:
        return _("an uploaded image")
    return image or ""


def provider_name(copilot: Copilot) -> str:
    """The name by which a file knows the provider."""
    return copilot.provider.name


def features_of(copilot: Copilot) -> dict[str, bool]:
    """Every feature, of which a draft stores those that differ from their default."""
    return {
        feature.key: copilot.features.get(feature.key, feature.default) is True
        for feature in FEATURES
    }


def give_features(copilot: Copilot, features: Mapping[str, Any]) -> None:
    """Stores what differs from the defaults."""
    copilot.features = {
        feature.key: features[feature.key]
        for feature in FEATURES
        if features.get(feature.key, feature.default) != feature.default
    }


def features_in_words(features: Mapping[str, Any] | None) -> str:
    """The names of those that are on, a line each."""
    on = features or {}
    return "\n".join(_(feature.label) for feature in FEATURES if on.get(feature.key) is True)


def limits_in_words(limits: Mapping[str, Any] | None) -> str:
    """How much may be asked, a line for each limit."""
    return "\n".join(
        f"{LIMITS.get(key, key)}: {number_format(most, use_l10n=True, force_grouping=True)}"
        for key, most in (limits or {}).items()
    )


def call_limits_in_words(limits: Sequence[Mapping[str, Any]] | None) -> str:
    """What is limited and how often it may be, a line each."""
    named = labels()
    return "\n".join(
        f"{_(named.get(limit['function'], limit['function']))}: {limit['most']}"
        for limit in limits or ()
    )
