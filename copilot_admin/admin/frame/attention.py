"""What needs attention at the moment: open alerts, and limits that are nearly reached."""

from collections.abc import Iterator

from django.contrib.auth.models import AbstractUser
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.admin.frame.next_steps import NextStep
from copilot_admin.admin.limits.near import near_limits
from copilot_admin.admin.limits.views import CHANGE
from copilot_admin.alerts.audience import alerts_for
from copilot_admin.models import Alert

MOST_NAMED = 3


def attention(user: object) -> list[NextStep]:
    """What is wrong now, for those who may see it."""
    return list(_steps(user)) if isinstance(user, AbstractUser) else []


def _steps(user: AbstractUser) -> Iterator[NextStep]:
    if user.has_perm("copilot_admin.view_alert"):
        yield from _alerts(user)
    if user.has_perm(CHANGE):
        yield from _limits()


def _alerts(user: AbstractUser) -> Iterator[NextStep]:
    found = alerts_for(user, Alert.objects.filter(closed_at=None)).order_by("-opened_at")
    number = found.count()
    if number:
        newest = found[0]
        one = reverse("admin:copilot_admin_alert_change", args=[newest.pk])
        several = f"{reverse('admin:copilot_admin_alert_changelist')}?state=open"
        yield NextStep(
            title=ngettext("An alert is open", "%(n)d alerts are open", number) % {"n": number},
            sentence=newest.sentence,
            url=one if number == 1 else several,
            button=_("Look at it") if number == 1 else _("Show them"),
        )


def _limits() -> Iterator[NextStep]:
    found = near_limits()
    if found:
        names = ", ".join(
            _("%(name)s (%(number)d %%)") % {"name": one.name, "number": one.per_cent}
            for one in found[:MOST_NAMED]
        )
        title = ngettext("A limit is nearly reached", "%(n)d limits are nearly reached", len(found))
        yield NextStep(
            title=title % {"n": len(found)},
            sentence=names,
            url=reverse("admin:limits"),
            button=_("Look at it") if len(found) == 1 else _("Show them"),
        )
