"""Accounts created and changed by Django's commands are in the audit trail."""

import sys

from django.contrib.auth.management.commands import changepassword
from django.contrib.auth.models import User
from django.core.management import call_command
import pytest

from copilot_admin.models import AuditEntry
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str, **options: object) -> None:
    monkeypatch.setattr(sys, "argv", ["manage.py", *arguments])
    call_command(*arguments, **options)


def test_a_superuser_is_recorded_without_their_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "right horse 17")
    options = {"username": "boss", "email": "boss@example.com", "interactive": False}
    run(monkeypatch, "createsuperuser", verbosity=0, **options)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.actor_kind, entry.subject_name) == ("added", "command", "boss")
    assert '"is_superuser":true' in entry.after
    assert "argon2" not in entry.after
    assert User.objects.get().check_password("right horse 17")


def test_a_new_password_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changepassword.Command, "_get_pass", lambda *_: "right horse 17")
    make_user(username="ann")
    run(monkeypatch, "changepassword", "ann", verbosity=0)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.subject_name) == ("password_changed", "ann")


def test_other_saves_are_not_recorded() -> None:
    make_user(username="ann").save()
    assert not AuditEntry.objects.exists()
