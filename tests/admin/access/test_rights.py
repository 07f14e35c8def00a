"""Single rights on the pages of people and groups: by the thing, in words, and only what is of use."""

import re
from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.admin.access.rights import RightsField
from copilot_admin.config.roles import ROLES, Role
from tests.factories import make_user

pytestmark = pytest.mark.django_db

_TAGS = re.compile(r"<[^>]+>")


@pytest.fixture
def superuser(client: Client) -> Client:
    client.force_login(make_user(is_superuser=True))
    return client


def shown(client: Client, page: str, pk: int) -> str:
    return client.get(reverse(f"admin:{page}_change", args=[pk])).content.decode()


def offered(holder: User | Group) -> dict[str, list[str]]:
    field = RightsField(queryset=Permission.objects.all())
    field.offer(holder)
    choices: Any = field.choices
    return {thing: [label for _pk, label in rights] for thing, rights in choices}


def test_rights_stand_by_the_thing_in_words():
    rights = offered(Group())
    assert rights["Prices"] == ["See", "Add", "Change", "Delete"]
    assert rights["Audit trail"] == ["See"]
    assert rights["Copilots"][4:] == [
        "Publish copilots and switch them on",
        "Work on copilots of which others are members",
    ]
    assert list(rights)[-1] == "Others"
    assert rights["Others"] == [
        "Erase conversations, users, callers and periods",
        "Place and release legal holds, and see what is removed",
        "See and stop what runs in the background",
    ]


def test_every_right_of_a_role_can_be_given():
    field = RightsField(queryset=Permission.objects.all())
    field.offer(Group())
    kept = {
        f"{app}.{name}"
        for app, name in field.queryset.values_list("content_type__app_label", "codename")
    }
    assert {name for role in ROLES.values() for name in role.permissions} <= kept


def test_a_right_of_no_use_is_not_offered_but_kept_where_it_is_given():
    useless = Permission.objects.get(codename="add_session")
    assert "Sessions" not in offered(Group())
    group = Group.objects.create(name="Old")
    group.permissions.add(useless)
    assert offered(group)["Sessions"] == ["Add"]
    somebody = make_user()
    somebody.user_permissions.add(useless)
    assert offered(somebody)["Sessions"] == ["Add"]


def test_a_right_of_a_table_that_is_gone_is_not_offered():
    right = Permission.objects.get(codename="view_copilot")
    right.content_type.model = "gone"
    right.content_type.save()
    assert all("Gone" not in thing for thing in offered(Group()))


def test_the_page_of_a_group_changes_its_rights(superuser: Client):
    group = Group.objects.create(name="Desk")
    right = Permission.objects.get(codename="view_modelprice")
    address = reverse("admin:auth_group_change", args=[group.pk])
    page = shown(superuser, "auth_group", group.pk)
    assert '<div class="ca-rights-row" role="group" aria-label="Prices">' in page
    assert "Hold down" not in page
    superuser.post(address, {"name": "Desk", "permissions": [right.pk]})
    assert list(group.permissions.all()) == [right]


def test_each_role_has_its_sentence(superuser: Client):
    assert set(ROLES) == set(Role)
    page = shown(superuser, "auth_user", make_user().pk)
    assert all(str(role.description) in page for role in ROLES.values())


@pytest.mark.parametrize(
    ("password", "words"),
    [
        ("correct horse", "There is one; nobody can read it. Set another…"),
        (None, "There is none. Set one…"),
    ],
)
def test_the_page_of_a_person_says_whether_there_is_a_password(superuser, password, words):
    somebody = make_user()
    somebody.set_password(password)
    somebody.save()
    page = shown(superuser, "auth_user", somebody.pk)
    assert words in " ".join(_TAGS.sub(" ", page).split())
    assert "argon2" not in page
    assert "salt" not in page
