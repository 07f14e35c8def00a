"""Users of the admin as users of a copilot, and how others are told of a user."""

from django.contrib.auth.models import AnonymousUser, User
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.copilots.callers import Caller, check_user, switched_off
from copilot_admin.copilots.end_users import (
    AskingUser,
    ProxyHeaders,
    UserSource,
    hashed,
    named,
    user_of_admin,
    user_of_headers,
)
from copilot_admin.copilots.user_tokens import UserIdDisclosure
from copilot_admin.errors import UnknownUser
from tests.factories import make_user

ADA = AskingUser(id="ada", email="a@b.example", name="Ada")


def test_a_builder_is_a_user_by_his_log_in():
    builder = User(username="ada", email="a@b.example", first_name="Ada", last_name="L. \u202e")
    assert user_of_admin(builder) == AskingUser(
        id="ada", email="a@b.example", name="Ada L.", source=UserSource.ADMIN
    )
    assert user_of_admin(AnonymousUser()) is None
    assert user_of_admin(User(username="a\u202eb")) is None


def test_a_user_is_told_of_as_the_setting_says(settings):
    settings.SECRET_KEY = "a secret of 2026"
    assert [named(ADA, naming) for naming in UserIdDisclosure] == ["", hashed("ada"), "ada"]
    assert [named(None, naming) for naming in UserIdDisclosure] == ["", "", ""]
    assert hashed("ada") == "30dd94c6507476d2f3323645506b0092"
    settings.SECRET_KEY = "another"
    assert hashed("ada") != "30dd94c6507476d2f3323645506b0092"


def test_who_tries_a_copilot_needs_no_name(settings):
    settings.USER_REQUIRED = True
    check_user(Caller(principal="playground:command"))
    check_user(Caller(user=ADA))
    with pytest.raises(UnknownUser) as caught:
        check_user(Caller(principal="key:1", key_id=1))
    assert caught.value.code == "user-required"
    settings.USER_REQUIRED = False
    check_user(Caller())


@pytest.mark.parametrize(
    ("headers", "user"),
    [
        (
            {"emails": (b" Ada@B.example ",), "names": ("Zoë \u202eX".encode(),)},
            {"id": "ada@b.example", "email": "Ada@B.example", "name": "Zoë X"},
        ),
        ({"ids": (b"Ada",), "emails": (b"",)}, {"id": "Ada"}),
        ({"ids": ("é".encode("latin-1"),), "names": ("李".encode(),)}, {"id": "é", "name": "李"}),
        ({}, None),
        ({"ids": (b"",)}, None),
        ({"names": (b"Ada",)}, None),
    ],
)
def test_a_user_is_read_from_headers_of_a_proxy(headers, user):
    expected = user and AskingUser(**user, source=UserSource.PROXY)
    assert user_of_headers(ProxyHeaders(**headers)) == expected


@pytest.mark.parametrize(
    "headers",
    [
        {"ids": (b"ada", b"eve")},
        {"ids": (b"ada",), "names": (b"Ada", b"Ada")},
        {"ids": ("a\u2066b".encode(),)},
        {"ids": (b"a" * 255,)},
    ],
)
def test_headers_that_name_no_single_user_are_refused(headers):
    with pytest.raises(UnknownUser):
        user_of_headers(ProxyHeaders(**headers))


@pytest.mark.django_db
def test_builders_who_were_switched_off_are_found_among_those_who_try():
    active, off = make_user(Role.BUILDERS), make_user(Role.BUILDERS, is_active=False)
    trying = {f"playground:{pk}" for pk in (active.pk, off.pk, 0, "command")}
    assert switched_off(trying) == {f"playground:{off.pk}"}
