"""Accounts that are made and changed at a terminal are in the audit trail."""

from io import StringIO
from typing import Any

from django.contrib.auth.management.commands import changepassword
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import DatabaseError
import pytest

from copilot_admin.models import AuditEntry
from copilot_admin.terminal import told_saves
from tests.factories import make_user

pytestmark = pytest.mark.django_db
NEW = {"username": "boss", "email": "boss@example.com", "interactive": False, "verbosity": 0}


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changepassword.Command, "_get_pass", lambda *_: "right horse 17")


def entries() -> list[tuple[Any, ...]]:
    told = AuditEntry.objects.order_by("sequence")
    return list(told.values_list("action", "actor_kind", "subject_kind", "subject_name"))


def broken(*_: Any, **__: Any) -> None:
    raise DatabaseError("the trail cannot be written")


def test_a_superuser_is_told_without_his_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "right horse 17")
    call_command("createsuperuser", **NEW)
    assert entries() == [("added", "command", "user", "boss")]
    after = AuditEntry.objects.get().after
    assert '"is_superuser":true' in after
    assert "argon2" not in after
    assert User.objects.get().check_password("right horse 17")


def test_where_nobody_can_be_asked_no_superuser_is_made_and_that_is_no_success() -> None:
    with pytest.raises(CommandError, match=r"^Nobody can be asked for a password here\. "):
        call_command("createsuperuser", **NEW | {"interactive": True, "stdin": StringIO()})
    assert not User.objects.exists()


def test_where_no_password_comes_a_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(*_: object) -> None:
        raise EOFError

    monkeypatch.setattr(changepassword.Command, "_get_pass", ends)
    make_user(username="ann")
    with pytest.raises(CommandError, match=r"^No password came\. "):
        call_command("changepassword", "ann")
    assert entries() == []


@pytest.mark.usefixtures("typed")
def test_a_new_password_is_told() -> None:
    make_user(username="ann")
    call_command("changepassword", "ann", verbosity=0)
    assert entries() == [("password_changed", "command", "user", "ann")]
    assert User.objects.get().check_password("right horse 17")


@pytest.mark.usefixtures("typed")
def test_where_the_trail_cannot_be_written_nothing_is_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_user(username="ann")
    monkeypatch.setattr(told_saves, "record", broken)
    with pytest.raises(DatabaseError):
        call_command("createsuperuser", **NEW)
    with pytest.raises(DatabaseError):
        call_command("changepassword", "ann")
    assert list(User.objects.values_list("username", flat=True)) == ["ann"]
    assert not User.objects.get().check_password("right horse 17")


def test_what_changes_nothing_is_not_told() -> None:
    with pytest.raises(CommandError):
        call_command("changepassword", "nobody")
    make_user(username="ann").save()
    assert entries() == []
