"""Models of providers: fetched on demand and stored with the result of the last check."""

import asyncio
from collections.abc import Iterable, Mapping

from asgiref.sync import async_to_sync
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.copilots.providers import provider_spec
from copilot_admin.errors import ConfigurationError, RunError
from copilot_admin.models import Provider

TIMEOUT_SECONDS = 10.0  # a page waits; lists take less than a second


def known_models(provider_id: int | None) -> tuple[str, ...]:
    """Return the models of a provider as last fetched; empty if they never were."""
    return known_models_of([provider_id]).get(provider_id, ()) if provider_id else ()


def known_models_of(provider_ids: Iterable[int]) -> Mapping[int, tuple[str, ...]]:
    """Return the models of several providers, of those whose list was fetched."""
    rows = Provider.objects.filter(pk__in=list(provider_ids)).values_list("pk", "model_ids")
    return {pk: tuple(models) for pk, models in rows if models}


def fetch_models(provider: Provider) -> tuple[str, ...]:
    """Fetch the models of a provider and store them.

    Raises:
        RunError: The provider failed; the text says why.
        ConfigurationError: Its key can't be read.
    """
    found = tuple(async_to_sync(make_provider(provider_spec(provider)).models)())
    keep_models(provider.pk, found)
    provider.model_ids = list(found)
    return found


def ask_all(rows: Mapping[str, Provider]) -> Mapping[str, str]:
    """Fetch and store the models of several providers at once; return errors by name."""

    async def ask(row: Provider) -> tuple[str, ...] | str:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                return await make_provider(provider_spec(row)).models()
        except TimeoutError:
            return _("No answer within %(seconds)d seconds.") % {"seconds": TIMEOUT_SECONDS}
        except (RunError, ConfigurationError) as error:
            return error.public

    async def ask_each() -> list[tuple[str, ...] | str]:
        return await asyncio.gather(*map(ask, rows.values()))

    errors = {}
    for name, answer in zip(rows, async_to_sync(ask_each)(), strict=True):
        if isinstance(answer, str):
            errors[name] = answer
        else:
            keep_models(rows[name].pk, answer)
    return errors


def keep_models(provider_id: int, models: tuple[str, ...]) -> None:
    """Store the models of a provider that passed its check."""
    record_error(provider_id, "", model_ids=list(models))


def record_error(provider_id: int, error: str, **values: object) -> None:
    """Store why the last check of a provider failed."""
    values |= {"checked_at": timezone.now(), "check_error": error}
    Provider.objects.filter(pk=provider_id).update(**values)
