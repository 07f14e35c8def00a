"""The models that a provider offers, asked when somebody presses a button, and kept for a while."""

from asgiref.sync import async_to_sync
from django.core.cache import cache

from copilot_admin.copilots.providers import provider_spec
from copilot_admin.engine.providers.registry import make_provider
from copilot_admin.models import Provider

KEPT_S = 3600  # a provider's list changes once in weeks; the button asks again at any time


def known_models(provider_id: object) -> tuple[str, ...]:
    """The models of a provider as they were when last asked; empty when nobody has."""
    if not provider_id:
        return ()
    kept = cache.get(_cache_key(provider_id))
    return tuple(map(str, kept)) if isinstance(kept, list | tuple) else ()


def fetch_models(provider: Provider) -> tuple[str, ...]:
    """Asks the provider for its models.

    Raises:
        RunError: It did not answer; the text says why.
        ConfigurationError: Its key cannot be read.
    """
    found = async_to_sync(make_provider(provider_spec(provider)).models)()
    cache.set(_cache_key(provider.pk), found, KEPT_S)
    return found


def _cache_key(provider_id: object) -> str:
    return f"provider-models-{provider_id}"
