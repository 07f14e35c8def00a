"""Users of the admin as users of a copilot, and how others are told of a user."""

from django.contrib.auth.models import AnonymousUser, User
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.copilots.callers import Caller, check_user, switched_off
from copilot_admin.copilots.end_users import (
    AskingUser,
    ProxyWords,
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


def test_an_address_is_an_id_in_whatever_letters():
    words = ProxyWords(emails=(b" Ada@B.example ",), names=("Zoë \u202eX".encode(),))
    assert user_of_headers(words) == AskingUser(
        id="ada@b.example", email="Ada@B.example", name="Zoë X", source=UserSource.PROXY
    )
    assert user_of_headers(ProxyWords(ids=(b"Ada",), emails=(b"",))) == AskingUser(
        id="Ada", source=UserSource.PROXY
    )


def test_a_proxy_that_names_nobody():
    for words in (ProxyWords(), ProxyWords(ids=(b"",)), ProxyWords(names=(b"Ada",))):
        assert user_of_headers(words) is None


def test_names_in_other_encodings_are_read():
    words = ProxyWords(ids=("é".encode("latin-1"),), names=("李".encode(),))
    assert user_of_headers(words) == AskingUser(id="é", name="李", source=UserSource.PROXY)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ProxyWords(ids=(b"ada", b"eve")),
            "A header that names the user came more than once. Ask an operator.",
        ),
        (
            ProxyWords(ids=(b"ada",), names=(b"Ada", b"Ada")),
            "A header that names the user came more than once. Ask an operator.",
        ),
        (
            ProxyWords(ids=("a\u2066b".encode(),)),
            "The proxy names its user with characters that cannot be seen.",
        ),
        (
            ProxyWords(ids=(b"a" * 255,)),
            "The proxy names its user in more than 254 characters.",
        ),
    ],
)
def test_what_a_proxy_says_has_to_be_one_user(words, said):
    with pytest.raises(UnknownUser) as caught:
        user_of_headers(words)
    assert caught.value.public == said


def test_of_those_who_try_who_was_switched_off_is_told_apart(db):
    active, off = make_user(Role.BUILDERS), make_user(Role.BUILDERS, is_active=False)
    trying = {f"playground:{user.pk}" for user in (active, off)} | {"playground:0"}
    assert switched_off(trying) == {f"playground:{off.pk}"}


def test_a_command_that_tries_is_no_builder(db):
    off = make_user(Role.BUILDERS, is_active=False)
    assert switched_off({f"playground:{off.pk}", "playground:command"}) == {f"playground:{off.pk}"}
