"""The models that a provider offers, asked when somebody wants to know, and kept for a while."""

import asyncio
from collections.abc import Iterable, Mapping

from asgiref.sync import async_to_sync
from django.core.cache import cache
from django.utils.translation import gettext as _

from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.copilots.providers import provider_spec
from copilot_admin.errors import ConfigurationError, RunError
from copilot_admin.models import Provider

PATIENCE_S = 10.0  # of a page that asks by itself; lists come within a second
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


def ask_all(rows: Mapping[str, Provider]) -> Mapping[str, str]:
    """Asks several providers at once, with little patience, and keeps what they say.

    Args:
        rows: The providers, under names.

    Returns:
        Why those that did not say it did not, under the same names.
    """
    answers = async_to_sync(_ask_all)(rows)
    for name, answer in answers.items():
        if not isinstance(answer, str):
            keep_models(rows[name].pk, answer)
    return {name: answer for name, answer in answers.items() if isinstance(answer, str)}


async def _ask_all(rows: Mapping[str, Provider]) -> Mapping[str, tuple[str, ...] | str]:
    answers = await asyncio.gather(*map(_models_or_why_not, rows.values()))
    return dict(zip(rows, answers, strict=True))


async def _models_or_why_not(row: Provider) -> tuple[str, ...] | str:
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await make_provider(provider_spec(row)).models()
    except TimeoutError:
        return _("It did not answer within %(seconds)d seconds.") % {"seconds": PATIENCE_S}
    except (RunError, ConfigurationError) as error:
        return error.public


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
