"""Accounts of the identity provider: matched by issuer and subject, with roles from its groups.

They are never matched by name or e-mail address: anybody may claim these.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, count
import re
import unicodedata

from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.audit.recording import Actor, Subject, record, snapshot
from copilot_admin.config.sso import RoleMap
from copilot_admin.errors import Forbidden
from copilot_admin.models import Action, ExternalAccount
from copilot_admin.models.access import MAX_EXTERNAL_SUBJECT_LENGTH

MAX_NAME_LENGTH = 150  # of Django's user names, first and last names
MAX_EMAIL_LENGTH = 254
MAX_GROUP_LENGTH = 300  # LDAP names of groups have about 150 characters
MAX_GROUPS = 20_000  # further ones grant nothing
_INVALID_IN_USERNAME = re.compile(r"[^\w.@+-]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Person according to the identity provider; `email` only if it is verified."""

    issuer: str
    subject: str
    username: str = ""
    full_name: str = ""
    email: str = ""
    groups: Sequence[str] = field(default=(), repr=False)


def parse_groups(said: object) -> tuple[str, ...]:
    """Parse a claim of groups: a list of names or one name; anything else is empty."""
    listed = [said] if isinstance(said, str) else said
    if not isinstance(listed, list | tuple):
        return ()
    return tuple(
        one.strip()
        for one in listed[:MAX_GROUPS]
        if isinstance(one, str) and one.strip() and len(one) <= MAX_GROUP_LENGTH
    )


def sanitize_name(said: object, *, max_length: int = MAX_NAME_LENGTH) -> str:
    """Return a name without control and format characters."""
    if not isinstance(said, str):
        return ""
    seen = (one for one in said[: 4 * max_length] if unicodedata.category(one)[0] != "C")
    return " ".join("".join(seen).split())[:max_length].strip()


def get_or_create_account(identity: Identity, allowed: RoleMap) -> User:
    """Return the account of an identity with exactly the roles of its groups; create it at first."""
    try:
        return _get_or_create_account(identity, allowed)
    except IntegrityError:  # a simultaneous request created it
        return _get_or_create_account(identity, allowed)


def _get_or_create_account(identity: Identity, allowed: RoleMap) -> User:
    subject = identity.subject
    is_text = all(unicodedata.category(one) not in ("Cc", "Cs") for one in subject)
    if not (subject and is_text and len(subject) <= MAX_EXTERNAL_SUBJECT_LENGTH):
        raise Forbidden(_("The identity provider did not say who you are. Ask an administrator."))
    with transaction.atomic():
        rows = ExternalAccount.objects.select_for_update(of=("self",)).select_related("user")
        found = rows.filter(issuer=identity.issuer, subject=subject).first()
        groups = identity.groups
        is_allowed = bool(allowed.roles_of(groups)) or allowed.makes_superuser(groups)
        user = found.user if found else (_create(identity) if is_allowed else None)
        if user is not None:
            before = snapshot(user) if found else {}
            _update(user, identity, allowed)
            after = snapshot(user)
            if before != after:
                action = Action.CHANGED if found else Action.ADDED
                by, on = Actor.server(), Subject.of(user)
                record(action, by=by, on=on, before=before, after=after)
    if user is None or not is_allowed:
        text = _("Your account is not in any group that may work here. Ask an administrator.")
        raise Forbidden(text)
    if not user.is_active:
        raise Forbidden(_("Your account is disabled. Ask an administrator."))
    return user


def is_external(user: object) -> bool:
    """Return whether the identity provider decides the roles of an account."""
    return isinstance(user, User) and hasattr(user, "external")


def _create(identity: Identity) -> User:
    user = User(username=_free_username(identity.username or identity.full_name), is_staff=True)
    user.set_unusable_password()
    user.save()
    ExternalAccount.objects.create(
        user=user, issuer=identity.issuer, subject=identity.subject, seen_at=timezone.now()
    )
    return user


def _update(user: User, identity: Identity, allowed: RoleMap) -> None:
    roles = allowed.roles_of(identity.groups)
    user.is_superuser = allowed.makes_superuser(identity.groups)
    user.is_staff = bool(roles) or user.is_superuser
    first, _, last = sanitize_name(identity.full_name).partition(" ")
    user.first_name, user.last_name = first, last
    user.email = identity.email[:MAX_EMAIL_LENGTH]
    user.save(update_fields=["is_superuser", "is_staff", "first_name", "last_name", "email"])
    user.groups.set(Group.objects.filter(name__in=[role.value for role in roles]))
    ExternalAccount.objects.filter(user=user).update(seen_at=timezone.now())


def _free_username(wanted: str) -> str:
    name = sanitize_name(wanted, max_length=MAX_NAME_LENGTH - len("-999999"))
    name = _INVALID_IN_USERNAME.sub("-", name).strip("-") or "person"
    rows = User.objects.filter(username__istartswith=name)
    taken = {one.lower() for one in rows.values_list("username", flat=True)}
    numbered = (f"{name}-{number}" for number in count(2))
    return next(one for one in chain((name,), numbered) if one.lower() not in taken)
