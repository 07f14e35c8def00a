"""The command that tries the mail server says in a line what came of it."""

from io import StringIO
from smtplib import SMTPAuthenticationError, SMTPServerDisconnected
import socket

from django.core import mail
from django.core.management import CommandError, call_command
from django.core.management.commands import sendtestemail
import pytest

from copilot_admin.config.env import Environment
from copilot_admin.config.mail import mail_server

NAMED = {"EMAIL_HOST": "mail.example.com", "EMAIL_FROM": "copilots@example.com"}


@pytest.fixture
def named(settings):
    """A mail server that the environment names."""
    settings.MAIL = mail_server(Environment(NAMED))


def test_without_a_server_nothing_is_sent_as_if_it_were(settings):
    settings.MAIL = mail_server(Environment({}))
    with pytest.raises(CommandError, match=r"^No mail is sent from here\. Set EMAIL_HOST and"):
        call_command("sendtestemail", "ada@example.com")
    assert mail.outbox == []


@pytest.mark.usefixtures("named")
def test_what_was_sent_is_told():
    said = StringIO()
    call_command("sendtestemail", "ada@example.com", stdout=said)
    assert said.getvalue() == "Sent by mail.example.com port 587.\n"
    assert [one.to for one in mail.outbox] == [["ada@example.com"]]


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "Connection refused"),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (TimeoutError(), "TimeoutError"),
        (SMTPAuthenticationError(535, b"\x1b[2J no"), "SMTPAuthenticationError 535"),
        (SMTPServerDisconnected("gone"), "SMTPServerDisconnected"),
    ],
)
def test_a_server_that_takes_none_is_told_in_a_line(error, reason, monkeypatch):
    def refuse(**_: object) -> None:
        raise error

    monkeypatch.setattr(sendtestemail, "send_mail", refuse)
    with pytest.raises(CommandError) as refused:
        call_command("sendtestemail", "ada@example.com")
    assert str(refused.value) == f"mail.example.com port 587 takes no mail: {reason}."
