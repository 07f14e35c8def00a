"""What somebody without copilots looks after, each with how it stands: keys, limits, people."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.contrib.auth.models import PermissionsMixin, User
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from copilot_admin.models import Alert, AlertRule, Copilot, EndpointKey, Provider, SubjectLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminPlace:
    """A place of the admin, with a sentence of how it stands there."""

    title: str | Promise
    sentence: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A place, for those with a permission."""

    permission: str
    title: str | Promise
    url: str
    sentence: Callable[[], str]


def looked_after(user: object) -> list[AdminPlace]:
    """The places of those who keep the server in order; a query or two each."""
    return list(_places(user)) if isinstance(user, PermissionsMixin) else []


def _places(user: PermissionsMixin) -> Iterator[AdminPlace]:
    for kind in _KINDS:
        if user.has_perm(kind.permission):
            yield AdminPlace(title=kind.title, sentence=kind.sentence(), url=reverse(kind.url))


def _providers() -> str:
    number = Provider.objects.count()
    used = Copilot.objects.in_use().values("provider").distinct().count()
    there = ngettext("%(n)d provider", "%(n)d providers", number) % {"n": number}
    return _("%(there)s; copilots use %(used)d.") % {"there": there, "used": used}


def _keys() -> str:
    number = EndpointKey.objects.valid(at=timezone.now()).count()
    return ngettext("%(n)d valid key.", "%(n)d valid keys.", number) % {"n": number}


def _limits() -> str:
    number = SubjectLimits.objects.exclude(limits={}).count()
    number += Copilot.objects.in_use().exclude(limits={}).count()
    sentence = ngettext("Set for %(n)d subject.", "Set for %(n)d subjects.", number)
    return sentence % {"n": number} if number else _("None is set.")


def _alerts() -> str:
    number = AlertRule.objects.filter(enabled=True).count()
    if not number:
        return _("No rule is on: nobody is told when something is wrong.")
    still = Alert.objects.filter(closed_at=None).count()
    rules = ngettext("%(n)d rule is on", "%(n)d rules are on", number) % {"n": number}
    return _("%(rules)s, and %(open)d open.") % {"rules": rules, "open": still}


def _people() -> str:
    number = User.objects.filter(is_active=True, is_staff=True).count()
    return ngettext("%(n)d person may log in.", "%(n)d people may log in.", number) % {"n": number}


_KINDS = (
    _Kind(
        permission="copilot_admin.view_provider",
        title=gettext_lazy("Providers"),
        url="admin:copilot_admin_provider_changelist",
        sentence=_providers,
    ),
    _Kind(
        permission="copilot_admin.view_endpointkey",
        title=gettext_lazy("Endpoint keys"),
        url="admin:copilot_admin_endpointkey_changelist",
        sentence=_keys,
    ),
    _Kind(
        permission="copilot_admin.view_subjectlimits",
        title=gettext_lazy("Limits"),
        url="admin:limits",
        sentence=_limits,
    ),
    _Kind(
        permission="copilot_admin.view_alertrule",
        title=gettext_lazy("Alerts"),
        url="admin:copilot_admin_alertrule_changelist",
        sentence=_alerts,
    ),
    _Kind(
        permission="auth.view_user",
        title=gettext_lazy("People"),
        url="admin:auth_user_changelist",
        sentence=_people,
    ),
)
