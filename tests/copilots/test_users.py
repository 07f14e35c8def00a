"""Users of the admin as users of a copilot, and how others are told of a user."""

from django.contrib.auth.models import AnonymousUser, User
import pytest

from copilot_admin.config.asking_users import Naming
from copilot_admin.copilots.callers import Caller, check_user
from copilot_admin.copilots.user_words import hashed, named
from copilot_admin.copilots.users import AskingUser, UserSource, user_of_admin
from copilot_admin.errors import UnknownUser

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
    assert [named(ADA, naming) for naming in Naming] == ["", hashed("ada"), "ada"]
    assert [named(None, naming) for naming in Naming] == ["", "", ""]
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
