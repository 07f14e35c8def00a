"""Accounts that the firm's log-in vouches for: found by issuer and subject, with the roles it says.

Neither a name nor an e-mail address ever leads to an account: anybody may claim them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
import re
import unicodedata

from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.audit.changes import snapshot
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.config.sso import RoleMap
from copilot_admin.errors import Forbidden
from copilot_admin.models import Action, ExternalAccount
from copilot_admin.models.access import MAX_EXTERNAL_SUBJECT_LENGTH

LONGEST_NAME = 150  # of Django's user names, first and last names
LONGEST_EMAIL = 254
LONGEST_GROUP = 300  # characters; an LDAP name of a group is some 150
MOST_GROUPS = 20_000  # what is said beyond gives no rights
UNSAID = "person"  # the user name of somebody whose name is none
_NO_NAME = re.compile(r"[^\w.@+-]")  # what Django takes no user name with


@dataclass(frozen=True, slots=True, kw_only=True)
class Vouched:
    """Somebody, as the firm's log-in knows him.

    Attributes:
        email: Only if the log-in has verified it.
    """

    issuer: str
    subject: str
    username: str = ""
    full_name: str = ""
    email: str = ""
    groups: Sequence[str] = field(default=(), repr=False)


def groups_in(said: object) -> tuple[str, ...]:
    """The groups in a claim: a list of names, or one name; everything else is none."""
    listed = [said] if isinstance(said, str) else said
    if not isinstance(listed, list | tuple):
        return ()
    return tuple(
        one.strip()
        for one in listed[:MOST_GROUPS]
        if isinstance(one, str) and one.strip() and len(one) <= LONGEST_GROUP
    )


def plain_name(said: object, *, longest: int = LONGEST_NAME) -> str:
    """A name without what turns or hides other letters."""
    if not isinstance(said, str):
        return ""
    seen = (one for one in said[: 4 * longest] if unicodedata.category(one)[0] != "C")
    return " ".join("".join(seen).split())[:longest].strip()


def account_of(vouched: Vouched, allowed: RoleMap) -> User:
    """The account of somebody, made at his first log-in, with exactly the roles that his groups have.

    Raises:
        Forbidden: No group of his may work here, or the account is switched off.
    """
    try:
        return _account_of(vouched, allowed)
    except IntegrityError:  # his first two requests came at once, and the other one made it
        return _account_of(vouched, allowed)


def _account_of(vouched: Vouched, allowed: RoleMap) -> User:
    if not _is_subject(vouched.subject):
        raise Forbidden(_("Your firm's log-in does not say who you are. Ask an administrator."))
    with transaction.atomic():
        found = (
            ExternalAccount.objects.select_for_update(of=("self",))
            .select_related("user")
            .filter(issuer=vouched.issuer, subject=vouched.subject)
            .first()
        )
        may_work = _may_work(vouched, allowed)
        user = found.user if found else (_new(vouched) if may_work else None)
        if user is not None:
            before = snapshot(user) if found else {}
            _give(user, vouched, allowed)
            after = snapshot(user)
            if before != after:
                action = Action.CHANGED if found else Action.ADDED
                by, on = Actor.server(), Subject.of(user)
                record(action, by=by, on=on, before=before, after=after)
    if user is None or not may_work:
        raise Forbidden(
            _("Your account is not in any group that may work here. Ask an administrator.")
        )
    if not user.is_active:
        raise Forbidden(_("Your account is switched off here. Ask an administrator."))
    return user


def is_external(user: object) -> bool:
    """Whether roles of an account come from outside."""
    return isinstance(user, User) and hasattr(user, "external")


def _is_subject(text: str) -> bool:
    """Whether somebody can be known by a text: databases keep neither NUL nor halves of letters."""
    is_text = all(unicodedata.category(one) not in ("Cc", "Cs") for one in text)
    return 0 < len(text) <= MAX_EXTERNAL_SUBJECT_LENGTH and is_text


def _may_work(vouched: Vouched, allowed: RoleMap) -> bool:
    return bool(allowed.roles_of(vouched.groups)) or allowed.makes_superuser(vouched.groups)


def _new(vouched: Vouched) -> User:
    user = User(username=_free_username(vouched.username or vouched.full_name), is_staff=True)
    user.set_unusable_password()
    user.save()
    ExternalAccount.objects.create(
        user=user, issuer=vouched.issuer, subject=vouched.subject, seen_at=timezone.now()
    )
    return user


def _give(user: User, vouched: Vouched, allowed: RoleMap) -> None:
    roles = allowed.roles_of(vouched.groups)
    user.is_superuser = allowed.makes_superuser(vouched.groups)
    user.is_staff = bool(roles) or user.is_superuser
    first, _, last = plain_name(vouched.full_name).partition(" ")
    user.first_name, user.last_name = first, last
    user.email = vouched.email[:LONGEST_EMAIL]
    user.save(update_fields=["is_superuser", "is_staff", "first_name", "last_name", "email"])
    user.groups.set(Group.objects.filter(name__in=[role.value for role in roles]))
    ExternalAccount.objects.filter(user=user).update(seen_at=timezone.now())


def _free_username(wanted: str) -> str:
    """A user name that nobody has; whoever has one already keeps it."""
    longest = LONGEST_NAME - len("-999999")
    name = _NO_NAME.sub("-", plain_name(wanted, longest=longest)).strip("-") or UNSAID
    taken = set(User.objects.filter(username__istartswith=name).values_list("username", flat=True))
    lower = {one.lower() for one in taken}
    if name.lower() not in lower:
        return name
    number = 2
    while f"{name}-{number}".lower() in lower:
        number += 1
    return f"{name}-{number}"
