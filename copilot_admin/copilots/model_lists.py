"""The models that a provider offers, asked when somebody presses a button, and kept for a while."""

from collections.abc import Iterable, Mapping

from asgiref.sync import async_to_sync
from django.core.cache import cache

from copilot_admin.copilots.providers import provider_spec
from copilot_admin.engine.providers.registry import make_provider
from copilot_admin.engine.values.spec import ProviderSpec
from copilot_admin.models import Provider

KEPT_S = 3600  # a provider's list changes once in weeks; the button asks again at any time


def known_models(provider_id: object) -> tuple[str, ...]:
    """The models of a provider as they were when last asked; empty when nobody has."""
    if not provider_id:
        return ()
    return _read(cache.get(_cache_key(provider_id)))


def known_models_of(provider_ids: Iterable[int]) -> Mapping[int, tuple[str, ...]]:
    """The models of several providers, of those that somebody asked lately."""
    keys = {_cache_key(id): id for id in provider_ids}
    return {keys[key]: _read(kept) for key, kept in cache.get_many(keys).items()}


def fetch_models(provider: Provider) -> tuple[str, ...]:
    """Asks the provider for its models, and keeps them.

    Raises:
        RunError: It did not answer; the text says why.
        ConfigurationError: Its key cannot be read.
    """
    found = models_of(provider_spec(provider))
    keep_models(provider.pk, found)
    return found


def models_of(provider: ProviderSpec) -> tuple[str, ...]:
    """Asks a provider for its models.

    Raises:
        RunError: It did not answer; the text says why.
    """
    return tuple(async_to_sync(make_provider(provider).models)())


def keep_models(provider_id: int, models: tuple[str, ...]) -> None:
    """Keeps a provider's models for those who will choose one."""
    cache.set(_cache_key(provider_id), models, KEPT_S)


def _read(kept: object) -> tuple[str, ...]:
    return tuple(map(str, kept)) if isinstance(kept, list | tuple) else ()


def _cache_key(provider_id: object) -> str:
    return f"provider-models-{provider_id}"
