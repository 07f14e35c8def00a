"""Second factors: the users who need one, and the step that a session still lacks."""

from enum import StrEnum

from allauth.account.internal.flows.login import get_authentication_records, record_authentication
from allauth.core import context
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authentication_failed
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef
from django.db.models.signals import post_delete, post_save
from django.http import HttpRequest

from copilot_admin.accounts.sessions import end_sessions, get_sso_source
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.config.encryption import SecretLocation
from copilot_admin.config.sso import SecondFactorRule
from copilot_admin.models import Action, RoleSecurity

SECOND_FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
# Of all secrets of second factors: they are encrypted before their row exists.
SECRETS = SecretLocation(table="authenticator", row="", field="secret")


class Step(StrEnum):
    """Steps that a session must complete before other pages open."""

    NONE = "none"
    SET_UP = "set_up"
    CONFIRM = "confirm"


def missing_step(request: HttpRequest, user: User) -> Step:
    """Return the step that the session of a request still lacks.

    It doesn't depend on how the session began, so no way in goes past the second factor.
    """
    if get_sso_source(request.session) and settings.SSO.has_second_factor:
        return Step.NONE
    if not Authenticator.objects.filter(user=user, type__in=SECOND_FACTORS).exists():
        return Step.SET_UP if is_second_factor_required(user) else Step.NONE
    records = get_authentication_records(request, user)
    is_confirmed = any(one.get("method") == "mfa" for one in records)
    return Step.NONE if is_confirmed else Step.CONFIRM


def is_second_factor_required(user: User) -> bool:
    rule: SecondFactorRule = settings.SECOND_FACTOR
    if rule is SecondFactorRule.ADMINISTRATORS and user.is_superuser:
        return True
    required = RoleSecurity.objects.filter(group__user=user.pk, requires_second_factor=True)
    return rule is SecondFactorRule.EVERYONE or required.exists()


def has_second_factor() -> Exists:
    """Return an expression for a query of users: whether they have set up a second factor."""
    return Exists(Authenticator.objects.filter(user=OuterRef("pk"), type__in=SECOND_FACTORS))


def reset_second_factor(user: User) -> None:
    """Remove all second factors of a user who has lost them, and end their sessions."""
    end_sessions(user)
    Authenticator.objects.filter(user=user).delete()


def _record_added(instance: Authenticator, created: bool, **_: object) -> None:
    """Count a new factor as confirmed in this session: its code was checked."""
    if not created:
        return
    request: HttpRequest | None = context.request
    is_own = request is not None and request.user.pk == instance.user_id
    if is_own and instance.type in SECOND_FACTORS:
        facts = {"id": instance.pk, "type": str(instance.type)}
        record_authentication(request, instance.user, "mfa", **facts)
    _record_change(instance, "added")


def _record_removed(instance: Authenticator, origin: object, **_: object) -> None:
    if getattr(origin, "model", type(origin)) is Authenticator:  # not with its user
        _record_change(instance, "removed")


def _record_change(factor: Authenticator, change: str) -> None:
    request: HttpRequest | None = context.request
    by = Actor.of(request) if request is not None else Actor.command()
    facts = {"second_factor": f"{factor.type} {change}"}
    record(Action.CHANGED, by=by, on=Subject.of(factor.user), after=facts)


def _record_wrong_code(
    request: HttpRequest, user: User, authenticator: Authenticator, **_: object
) -> None:
    by, on = Actor.of(request, user), Subject.of(user)
    record(Action.LOGIN_FAILED, by=by, on=on, after={"second_factor": str(authenticator.type)})


post_save.connect(_record_added, sender=Authenticator)
post_delete.connect(_record_removed, sender=Authenticator)
authentication_failed.connect(_record_wrong_code)
