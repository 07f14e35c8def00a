"""Obstacles to deleting a provider."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.models import (
    Copilot,
    CopilotVersion,
    ModelPrice,
    Provider,
    VersionProvider,
)

MOST_NAMED = 10


def deletion_of(
    providers: Iterable[Provider],
) -> tuple[list[Any], dict[str, int], set[str], list[str]]:
    """Objects, counts, missing permissions and obstacles for Django's confirmation page."""
    found = list(providers)
    obstacles = [sentence for provider in found if (sentence := _obstacle(provider))]
    counts = {str(Provider._meta.verbose_name_plural): len(found)}
    prices = ModelPrice.objects.filter(provider__in=found).count()
    if prices:
        counts[str(ModelPrice._meta.verbose_name_plural)] = prices
    return [_with_prices(provider) for provider in found], counts, set(), obstacles


def _with_prices(provider: Provider) -> str:
    number = provider.prices.count()
    if not number:
        return str(provider)
    words = ngettext("%(provider)s, with %(n)d price", "%(provider)s, with %(n)d prices", number)
    return words % {"provider": provider, "n": number}


def _obstacle(provider: Provider) -> str:
    drafts = Copilot.objects.filter(provider=provider)
    versions = CopilotVersion.objects.filter(provider=provider)
    switched = VersionProvider.objects.filter(provider=provider)
    names = sorted(
        {
            *drafts.values_list("name", flat=True),
            *versions.values_list("copilot__name", flat=True),
            *switched.values_list("version__copilot__name", flat=True),
        }
    )
    if not names:
        return ""
    shown = ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")
    return _(
        "“%(provider)s” is used by drafts or versions of: %(copilots)s. Choose another provider for "
        "them first."
    ) % {"provider": provider, "copilots": shown}
