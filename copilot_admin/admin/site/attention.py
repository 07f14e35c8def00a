"""What needs attention at the moment: alerts, limits nearly reached, keys that end or are missing."""

from collections.abc import Iterator
from datetime import timedelta

from django.contrib.auth.models import AbstractUser
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.admin.limits.usage import find_near_limits
from copilot_admin.admin.site.next_steps import NextStep
from copilot_admin.alerts.rules import filter_visible
from copilot_admin.copilots.providers import unset_keys
from copilot_admin.models import Alert, EndpointKey

MOST_NAMED = 3
SOON = timedelta(days=14)  # time enough to make another key, and to bring it to those who use it


def attention(user: object) -> list[NextStep]:
    """What is wrong now, for those who may see it."""
    return list(_steps(user)) if isinstance(user, AbstractUser) else []


def _steps(user: AbstractUser) -> Iterator[NextStep]:
    if user.has_perm("copilot_admin.view_alert"):
        yield from _alerts(user)
    if user.has_perm("copilot_admin.change_subjectlimits"):
        yield from _limits()
    if user.has_perm("copilot_admin.change_provider"):
        yield from _unset_keys()
    if user.has_perm("copilot_admin.add_endpointkey"):
        yield from _ending_keys()


def _alerts(user: AbstractUser) -> Iterator[NextStep]:
    found = filter_visible(user, Alert.objects.filter(closed_at=None)).order_by("-opened_at", "-pk")
    newest = found.first()
    if newest is not None:
        number = max(found.count(), 1)  # it may just have been closed
        one = reverse("admin:copilot_admin_alert_change", args=[newest.pk])
        several = f"{reverse('admin:copilot_admin_alert_changelist')}?state=open"
        yield NextStep(
            title=ngettext("An alert is open", "%(n)d alerts are open", number) % {"n": number},
            sentence=newest.sentence,
            url=one if number == 1 else several,
            button=_("Look at it") if number == 1 else _("Show them"),
        )


def _limits() -> Iterator[NextStep]:
    found = find_near_limits()
    if found:
        names = ", ".join(
            _("%(name)s (%(number)d %%)") % {"name": one.name, "number": one.percent}
            for one in found[:MOST_NAMED]
        )
        title = ngettext("A limit is nearly reached", "%(n)d limits are nearly reached", len(found))
        yield NextStep(
            title=title % {"n": len(found)},
            sentence=names,
            url=reverse("admin:limits"),
            button=_("Look at it") if len(found) == 1 else _("Show them"),
        )


def _unset_keys() -> Iterator[NextStep]:
    if found := unset_keys():
        title = ngettext(
            "A provider has no key", "%(n)d providers have no key", len(found)
        )  # so no copilot of it answers
        yield NextStep(
            title=title % {"n": len(found)},
            sentence=" ".join(found[:MOST_NAMED]),
            url=reverse("admin:copilot_admin_provider_changelist"),
            button=_("Show them"),
        )


def _ending_keys() -> Iterator[NextStep]:
    now = timezone.now()
    found = EndpointKey.objects.valid(at=now).filter(expires_at__lt=now + SOON)
    names = list(found.order_by("expires_at").values_list("name", flat=True))
    if names:
        title = ngettext("An endpoint key ends soon", "%(n)d endpoint keys end soon", len(names))
        yield NextStep(
            title=title % {"n": len(names)},
            sentence=_("%(names)s. Make others before, and give them to those who use these.")
            % {"names": ", ".join(names[:MOST_NAMED])},
            url=reverse("admin:copilot_admin_endpointkey_changelist"),
            button=_("Show them"),
        )
