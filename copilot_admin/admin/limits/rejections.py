"""Recent rejections for the page of limits, and advice on how to avoid them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, Min, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.admin.limits.subjects import get_names
from copilot_admin.limits.cache import has_trusted_proxies, is_private
from copilot_admin.limits.rejections import RETENTION
from copilot_admin.limits.rules import KINDS, LimitSubject
from copilot_admin.models import LimitRejection, LimitScope

MAX_SHOWN = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectionRow:
    """Requests of one subject that one limit has rejected."""

    subject: LimitSubject
    name: str
    limit: str
    number: int
    first_at: datetime
    last_at: datetime


def load_rejections() -> list[RejectionRow]:
    """Load the rejections of the last days by subject and limit, the newest first."""
    found = (
        LimitRejection.objects.filter(minute__gte=timezone.now() - RETENTION)
        .values_list("scope", "subject", "kind")
        .annotate(total=Sum("number"), first=Min("minute"), last=Max("last_at"))
        .order_by("-last")[:MAX_SHOWN]
    )
    rows = [(LimitSubject(LimitScope(scope), id), *rest) for scope, id, *rest in found]
    names = get_names({subject for subject, *_ in rows if subject.id})
    return [
        RejectionRow(
            subject=subject,
            name=names.get(subject, _("Unknown") if subject.id else ""),
            limit=KINDS[kind].label if kind in KINDS else kind,
            number=number,
            first_at=first_at,
            last_at=last_at,
        )
        for subject, kind, number, first_at, last_at in rows
    ]


def get_advice(rejections: Collection[RejectionRow]) -> str:
    """Return what to do about a reverse proxy whose address is limited; "" if there is none."""
    proxy = next((row.subject for row in rejections if _may_be_proxy(row.subject)), None)
    if proxy is None or has_trusted_proxies():
        return ""
    return _(
        "Requests from the private IP address %(address)s were rejected, and no trusted proxies are "
        "configured. If it is your reverse proxy, all its users share one limit: set "
        "FORWARDED_ALLOW_IPS to the address of the proxy and restart the server."
    ) % {"address": proxy.id}


def _may_be_proxy(subject: LimitSubject) -> bool:
    return subject.scope is LimitScope.ADDRESS and bool(subject.id) and is_private(subject.id)
