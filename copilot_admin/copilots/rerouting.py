"""Changes of a provider's server that live copilots follow at once: confirmed, or approved."""

from collections.abc import Mapping
from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q, QuerySet
from django.utils import timezone

from copilot_admin.copilots.providers import get_destination
from copilot_admin.models import Copilot, Provider, RerouteApproval
from protocol.json import Json

APPROVAL_LIFETIME = timedelta(days=1)


def find_live_copilots(provider: Provider) -> list[Copilot]:
    """Return the enabled copilots whose live version can call a provider."""
    uses = Q(live__provider=provider) | Q(live__other_providers__provider=provider)
    return list(Copilot.objects.in_use().filter(uses, enabled=True).distinct().by_name())


def is_rerouted(before: Provider, base_url: str, options: Mapping[str, Json]) -> bool:
    """Return whether new settings send requests to another server or path."""
    moved = get_destination(before.base_url, before.options) != get_destination(base_url, options)
    return moved or before.base_url != base_url


def is_approved(provider: Provider, base_url: str, user: AbstractBaseUser) -> bool:
    """Return whether another person approved that a user changes a provider's URL to this one."""
    return _valid(provider, base_url, user).exclude(approved_by=None).exists()


def request_approval(provider: Provider, base_url: str, user: AbstractBaseUser) -> RerouteApproval:
    """Return the open request of a user for a change of URL, made if there is none."""
    found = _valid(provider, base_url, user).first()
    return found or RerouteApproval.objects.create(
        provider=provider, base_url=base_url, requested_by_id=user.pk
    )


def _valid(provider: Provider, base_url: str, user: AbstractBaseUser) -> QuerySet[RerouteApproval]:
    since = timezone.now() - APPROVAL_LIFETIME
    return RerouteApproval.objects.filter(
        provider=provider, base_url=base_url, requested_by=user.pk, requested_at__gte=since
    )
