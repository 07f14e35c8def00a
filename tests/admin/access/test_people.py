"""Looking after people: nobody hands out more than they have, or touches who may do more."""

from itertools import product
from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags
import pytest

from copilot_admin.admin.access.forms import ADMINISTRATOR
from copilot_admin.config.roles import Role
from tests.factories import make_user, sign_in

pytestmark = pytest.mark.django_db

SUPERUSER = "superuser"
# Somebody who looks after people and groups, with no other right.
CLERK = "Clerks"
CLERK_MAY = ("add_user", "change_user", "delete_user", "view_user", "change_group", "view_group")
ACTORS = (
    Role.OPERATORS,
    *(pytest.param(actor, marks=pytest.mark.nightly) for actor in (CLERK, SUPERUSER)),
)
TARGETS: dict[str, dict[str, Any]] = {
    "nobody": {},
    Role.BUILDERS: {},
    Role.OPERATORS: {},
    Role.REVIEWERS: {},
    CLERK: {},
    "inactive reviewer": {"is_active": False},
    "direct permission": {},
    SUPERUSER: {"is_superuser": True},
}
REACHED = {
    Role.OPERATORS: {"nobody", Role.OPERATORS},
    CLERK: {"nobody", CLERK},
    SUPERUSER: set(TARGETS),
}
ROLES = (Role.AUDITORS, Role.BUILDERS, Role.OPERATORS, Role.PUBLISHERS, Role.REVIEWERS)
GRANTED = {
    Role.OPERATORS: {Role.OPERATORS, "Empty"},
    CLERK: {CLERK, "Empty"},
    SUPERUSER: {*ROLES, CLERK, "Empty"},
}


@pytest.fixture(autouse=True)
def _groups(db: None) -> None:
    """Besides the roles one that looks after people alone, and one that may do nothing."""
    clerks = Group.objects.create(name=CLERK)
    clerks.permissions.set(Permission.objects.filter(codename__in=CLERK_MAY))
    Group.objects.create(name="Empty")


def person(kind: str) -> User:
    groups = {"inactive reviewer": [Role.REVIEWERS]}.get(kind, [])
    if Group.objects.filter(name=kind).exists():
        groups = [kind]
    user = make_user(*groups, **TARGETS[kind])
    if kind == "direct permission":
        user.user_permissions.add(Permission.objects.get(codename="view_conversation"))
    return user


def form(user: User, *groups: str, **changes: str) -> dict[str, Any]:
    """What the page of a person sends."""
    pks = list(Group.objects.filter(name__in=groups).values_list("pk", flat=True))
    roles = [*pks, *([ADMINISTRATOR] if user.is_superuser else [])]
    return {"username": user.username, "roles": roles, "is_active": "on", **changes}


def rename(client: Client, user: User) -> bool:
    url = reverse("admin:auth_user_change", args=[user.pk])
    client.post(url, form(user, *user.groups.values_list("name", flat=True), first_name="Taken"))
    return User.objects.filter(pk=user.pk, first_name="Taken").exists()


def make_link(client: Client, user: User) -> bool:
    """A link that sets a password is as good as the account; a disabled one gets none."""
    url = reverse("admin:auth_user_password_link", args=[user.pk])
    return client.post(url).status_code == (200 if user.is_active else 403)


def reset_second_factor(client: Client, user: User) -> bool:
    return client.post(reverse("admin:auth_user_reset_mfa", args=[user.pk])).status_code == 302


def end_sessions(client: Client, user: User) -> bool:
    url = reverse("admin:auth_user_sessions", args=[user.pk])
    return client.post(url, {"end": "others"}).status_code == 302


def delete(client: Client, user: User) -> bool:
    client.post(reverse("admin:auth_user_delete", args=[user.pk]), {"post": "yes"})
    return not User.objects.filter(pk=user.pk).exists()


def delete_from_the_list(client: Client, user: User) -> bool:
    chosen = {"action": "delete_selected", "_selected_action": [user.pk], "post": "yes"}
    client.post(reverse("admin:auth_user_changelist"), chosen)
    return not User.objects.filter(pk=user.pk).exists()


ACTIONS = (rename, make_link, reset_second_factor, end_sessions, delete_from_the_list, delete)
REFUSED_ALIKE = ("inactive reviewer", "make_link")


@pytest.mark.parametrize("actor", ACTORS)
def test_who_may_do_more_is_out_of_reach_whatever_is_tried(actor: str) -> None:
    client = sign_in(person(actor))
    for kind, action in product(TARGETS, ACTIONS):
        tried = (kind, action.__name__)
        expected = kind in REACHED[actor] or tried == REFUSED_ALIKE
        assert action(client, person(kind)) is expected, tried


@pytest.mark.parametrize("actor", ACTORS)
def test_what_is_handed_out_is_what_one_has(actor: str) -> None:
    client = sign_in(person(actor))
    given, right = set(), Permission.objects.get(codename="view_conversation").pk
    for group in (*ROLES, CLERK, "Empty"):
        someone = person("nobody")
        url = reverse("admin:auth_user_change", args=[someone.pk])
        client.post(url, form(someone, group, user_permissions=right))
        given |= set(someone.groups.values_list("name", flat=True))
        client.post(url, {**form(someone), "roles": [ADMINISTRATOR]})
        someone.refresh_from_db()
        assert someone.is_superuser is (actor == SUPERUSER)
        assert not someone.user_permissions.exists()
    assert given == GRANTED[actor]


@pytest.mark.parametrize("actor", [Role.OPERATORS, CLERK])
def test_nobody_changes_his_own_rights(actor: str) -> None:
    own = person(actor)
    client = sign_in(own)
    url = reverse("admin:auth_user_change", args=[own.pk])
    assert client.post(url, form(own, "Empty", first_name="Ann")).status_code == 302
    own.refresh_from_db()
    assert own.first_name == "Ann"
    assert [group.name for group in own.groups.all()] == [actor]


@pytest.mark.parametrize("page", ["change", "delete"])
def test_a_role_that_may_do_more_is_out_of_reach(page: str) -> None:
    clerks = Group.objects.get(name=CLERK)
    clerks.permissions.add(Permission.objects.get(codename="delete_group"))
    reviewers = Group.objects.get(name=Role.REVIEWERS)
    before = list(reviewers.permissions.all())
    url = reverse(f"admin:auth_group_{page}", args=[reviewers.pk])
    typed = {"name": "Mine", "permissions": [], "post": "yes"}
    assert sign_in(person(CLERK)).post(url, typed).status_code == 403
    assert list(Group.objects.get(name=Role.REVIEWERS).permissions.all()) == before


def test_the_page_of_who_may_do_more_can_be_read_and_has_no_form() -> None:
    reviewer = person(Role.REVIEWERS)
    url = reverse("admin:auth_user_change", args=[reviewer.pk])
    page = sign_in(person(Role.OPERATORS)).get(url).content.decode()
    assert reviewer.username in page
    assert 'name="username"' not in page
    assert f"{reviewer.pk}/sessions/" not in page
    assert "password_link" not in page


OWN = "“lee” is your own account."
LAST = "This is the last administrator."


@pytest.mark.parametrize("has_other", [True, False])
@pytest.mark.parametrize("page", ["delete", "changelist"])
def test_ones_own_account_is_kept_and_the_page_says_why(client, page, has_other):
    make_user(username="other", is_superuser=True, is_active=has_other)
    lee = make_user(username="lee", is_superuser=True)
    client.force_login(lee)
    address = reverse(f"admin:auth_user_{page}", args=[lee.pk] if page == "delete" else [])
    chosen = {"action": "delete_selected", "_selected_action": [lee.pk], "post": "yes"}
    answer = client.post(address, chosen).text
    assert (OWN in answer, LAST in answer) == (True, not has_other)
    assert User.objects.filter(pk=lee.pk).exists()


@pytest.mark.parametrize("taken", ["roles", "is_active"])
def test_the_last_superuser_stays_one(client, taken):
    make_user(username="gone", is_superuser=True, is_active=False)
    make_user(username="outside", is_superuser=True, is_staff=False)
    lee = make_user(username="lee", is_superuser=True)
    client.force_login(lee)
    page, typed = reverse("admin:auth_user_change", args=[lee.pk]), form(lee, first_name="Lee")
    assert LAST in client.post(page, {k: v for k, v in typed.items() if k != taken}).text
    lee.refresh_from_db()
    assert (lee.is_superuser, lee.is_active) == (True, True)
    assert client.post(page, typed).status_code == 302
    other = make_user(username="other", is_superuser=True)
    typed = {k: v for k, v in form(other).items() if k != taken}
    page = reverse("admin:auth_user_change", args=[other.pk])
    assert client.post(page, typed).status_code == 302
    other.refresh_from_db()
    assert not (other.is_superuser and other.is_active)


def test_the_list_shows_roles_and_second_factors(client) -> None:
    make_user(Role.BUILDERS, Role.REVIEWERS, username="maria")
    client.force_login(make_user(is_superuser=True))
    page = client.get(reverse("admin:auth_user_changelist")).text
    assert "Builders, Reviewers" in page
    assert "Administrator" in page


@pytest.mark.parametrize("page", ["add", "change", "delete", "history"])
def test_pages_of_a_role_call_it_a_role(client, page: str) -> None:
    client.force_login(make_user(is_superuser=True))
    ids = [] if page == "add" else [Group.objects.get(name=Role.REVIEWERS).pk]
    text = client.get(reverse(f"admin:auth_group_{page}", args=ids)).text
    assert "group" not in strip_tags(text).lower()
